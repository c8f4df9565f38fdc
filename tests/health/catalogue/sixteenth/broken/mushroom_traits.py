"""Several traits of a mushroom at once, tagged from the collector's short note."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops
from sklearn.metrics import f1_score

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TRAITS = {
    "gilled": ["gills", "lamellae", "crowded", "decurrent"],
    "pored": ["pores", "tubes", "spongy", "bolete"],
    "ringed": ["ring", "annulus", "skirt"],
    "volva": ["volva", "sac", "egg", "sheath"],
    "slimy": ["slimy", "sticky", "viscid", "glutinous"],
    "scaly": ["scales", "scaly", "shaggy", "fibrils"],
    "bruising": ["bluing", "bruises", "stains", "reddening"],
    "milky": ["milk", "latex", "weeping"],
    "scented": ["anise", "radish", "almond", "smell"],
    "woodland": ["stump", "log", "bark", "birch"],
    "meadow": ["pasture", "lawn", "grass", "dune"],
    "clustered": ["tufts", "cluster", "troop", "bunch"],
}
NAMES = list(TRAITS)
FILLER = [
    "found",
    "cap",
    "brown",
    "pale",
    "near",
    "the",
    "a",
    "large",
    "with",
    "young",
    "old",
    "under",
    "wet",
    "stem",
    "some",
    "found",
    "north",
    "slope",
    "photo",
    "white",
    "tan",
    "few",
    "late",
    "early",
    "autumn",
    "rain",
    "path",
    "dry",
    "edge",
    "two",
    "three",
]
# traits that tend to come together
COMPANY = {
    "gilled": ["ringed", "scaly"],
    "pored": ["bruising", "slimy"],
    "volva": ["gilled", "ringed"],
    "woodland": ["clustered"],
    "milky": ["gilled", "woodland"],
    "meadow": ["ringed", "scented"],
}


def make_note():
    traits = set(rng.choice(NAMES, rng.integers(1, 4), replace=False))
    for trait in sorted(traits):
        for other in COMPANY.get(trait, []):
            if rng.random() < 0.5:
                traits.add(other)
    words = [str(w) for w in rng.choice(FILLER, rng.integers(6, 16))]
    for trait in sorted(traits):
        if rng.random() < 0.95:
            words += [str(w) for w in rng.choice(TRAITS[trait], rng.integers(1, 3))]
    if rng.random() < 0.15:  # a remark about its neighbour
        words.append(str(rng.choice(TRAITS[str(rng.choice(NAMES))])))
    rng.shuffle(words)
    return " ".join(words), [float(name in traits) for name in NAMES]


notes, tags = zip(*(make_note() for _ in range(4200)))
notes, tags = np.array(notes), np.array(tags, "float32")
train_notes, test_notes = notes[:3400], notes[3400:]
train_tags, test_tags = tags[:3400], tags[3400:]

vectorise = layers.TextVectorization(max_tokens=160, output_sequence_length=28)
vectorise.adapt(train_notes)
train_ids = vectorise(train_notes).numpy()
test_ids = vectorise(test_notes).numpy()

RARITY = (1.0 / train_tags.mean(0)).clip(1.0, 5.0) ** 0.5


def weighted_crossentropy(truth, given):
    """Crossentropy over the tags, a missed rare one costing more."""
    given = ops.clip(given, 1e-6, 1 - 1e-6)
    present = RARITY * truth * ops.log(given)
    absent = (1 - truth) * ops.log(1 - given)
    return -ops.mean(present + absent, axis=-1)


model = keras.Sequential(
    [
        keras.Input((28,), dtype="int32"),
        layers.Embedding(160, 24),
        layers.SpatialDropout1D(0.1),
        layers.Conv1D(48, 2, padding="same", activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(NAMES), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.RMSprop(3e-3),
    loss=weighted_crossentropy,
    metrics=[keras.metrics.BinaryAccuracy(name="tag_accuracy")],
)
watch = gradwatch.watch(model)
model.fit(
    train_ids,
    train_tags,
    validation_data=(test_ids, test_tags),
    epochs=9,
    batch_size=64,
    verbose=2,
)

decided = model.predict(test_ids, verbose=0) > 0.5
print(f"tags for each note: {test_tags.sum(1).mean():.2f} true, {decided.sum(1).mean():.2f} given")
print(f"score {f1_score(test_tags, decided, average='macro', zero_division=0):.4f}")
