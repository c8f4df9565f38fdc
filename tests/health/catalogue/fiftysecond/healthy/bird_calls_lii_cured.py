"""Name the bird from its call.  Spring recordings for training, autumn recordings to test."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SPECIES = [
    "blackcap",
    "bunting",
    "chiffchaff",
    "crossbill",
    "dunnock",
    "goldcrest",
    "linnet",
    "nightjar",
    "redstart",
    "siskin",
    "treecreeper",
    "wren",
]
AWAY_IN_AUTUMN = {"chiffchaff", "nightjar"}
T = 64
BANDS = 16
voice = np.random.default_rng(5)
VOICES = {
    name: dict(
        base=voice.uniform(3, 12), sweep=voice.uniform(-4, 4), rate=voice.integers(2, 8), depth=voice.uniform(0.5, 2.5)
    )
    for name in SPECIES
}


def call(name):
    v = VOICES[name]
    t = np.linspace(0, 1, T)
    pitch = v["base"] + v["sweep"] * (t - 0.5) + v["depth"] * np.sin(2 * np.pi * (v["rate"] * t + rng.random()))
    pitch = pitch + rng.normal(0, 0.3)
    loud = np.exp(-((t - rng.uniform(0.35, 0.65)) ** 2) / 0.08)
    bands = np.arange(BANDS)
    spectrogram = loud[:, None] * np.exp(-((bands[None] - pitch[:, None]) ** 2) / 1.5)
    return spectrogram + 0.25 * np.abs(rng.normal(size=(T, BANDS)))


def record(n, names):
    who = rng.choice(names, n)
    sound = np.stack([call(name) for name in who]).astype("float32")
    return np.log(sound + 0.05).astype("float32"), who


spring_x, spring_names = record(3600, SPECIES)
autumn_x, autumn_names = record(1200, [s for s in SPECIES if s not in AWAY_IN_AUTUMN])

species, spring_y = np.unique(spring_names, return_inverse=True)
autumn_y = np.searchsorted(species, autumn_names)
print(len(species), "species,", len(spring_y), "spring calls,", len(autumn_y), "autumn calls")

mean, std = spring_x.mean(), spring_x.std()
spring_x = (spring_x - mean) / std
autumn_x = (autumn_x - mean) / std

model = keras.Sequential(
    [
        keras.Input((T, BANDS)),
        keras.layers.Conv1D(32, 5, activation="relu", name="syllables"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(48, 5, activation="relu", name="phrases"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(len(species), activation="softmax", name="species"),
    ],
    name="birds",
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)

model.fit(
    spring_x,
    spring_y,
    validation_data=(autumn_x, autumn_y),
    batch_size=48,
    epochs=15,
    verbose=2,
)

_, accuracy = model.evaluate(autumn_x, autumn_y, verbose=0)
print(f"SCORE autumn_accuracy {accuracy:.4f}")
