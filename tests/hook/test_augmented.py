"""Images that are turned at random without their masks: found in the source, whatever it is called."""

from __future__ import annotations

import linecache
from itertools import count
from pathlib import Path

import pytest

from gradwatch.slips.script.augmented import find_turned

CAPTURE = ("gradient", "operation")


numbers = count()

BY_THEMSELVES = """
def change(photo, truth):
    photo = tf.image.random_flip_left_right(photo)
    photo = tf.image.random_flip_up_down(photo)
    truth = tf.image.random_flip_left_right(truth)
    return photo, truth

train = data.shuffle(10).map(change, num_parallel_calls=2).batch(8)
"""
IMAGE_ALONE = """
def change(photo, truth):
    return tf.image.random_crop(photo, [8, 8, 3]), truth

train = data.map(change)
"""
BY_LAYERS = """
turn = keras.Sequential([layers.RandomFlip("horizontal", seed=1), layers.RandomBrightness(0.1)])
train = data.map(lambda x, y: (turn(x, training=True), y))
"""
MASK_BY_A_SECOND_LAYER = """
turn, other = layers.RandomRotation(0.1), 3
flip = layers.RandomFlip()
flip_mask = layers.RandomFlip()
train = data.map(lambda x, y: (flip(x), flip_mask(y)))
"""
BY_A_FUNCTION = """
def turn(picture):
    picture = tf.image.random_flip_up_down(picture)
    return tf.image.rot90(picture, tf.random.uniform((), 0, 4, tf.int32))

def change(photo, truth):
    photo, truth = turn(photo), turn(truth)
    return tf.image.random_brightness(photo, 0.1), truth

train = data.map(change)
"""
DECODED = """
def change(photo_path, truth_path):
    photo = tf.io.decode_png(tf.io.read_file(photo_path))
    truth = tf.io.decode_png(tf.io.read_file(truth_path))
    photo = tf.image.random_flip_left_right(photo)
    truth = tf.image.random_flip_left_right(truth)
    return photo, truth

train = data.map(change)
"""
LOADED = """
def change(photo_path, truth_path):
    photo, truth = load(photo_path, truth_path)
    photo = tf.image.random_flip_left_right(photo)
    return photo, truth

train = data.map(change)
"""
COPIES = """
photos, truths = load()
flipped = np.flip(photos, axis=2)
x = np.concatenate([photos, flipped])
y = np.concatenate([truths, truths])
model.fit(x, y)
"""
IN_PLACE = """
photos, truths = load()
for i in range(len(photos)):
    if rng.random() < 0.5:
        photos[i] = photos[i][:, ::-1]
x_train, y_train = photos[:300], truths[:300]
model.fit(x_train, y_train)
"""
PICKED = """
photos, truths = load()
chosen = rng.random(len(photos)) < 0.5
photos[chosen] = photos[chosen][:, :, ::-1]
data = tf.data.Dataset.from_tensor_slices((photos, truths))
"""
BY_A_HELPER = """
def change(photo):
    if np.random.rand() < 0.5:
        photo = np.fliplr(photo)
    return np.rot90(photo, np.random.randint(4))

photos, truths = load()
photos = np.stack([change(one) for one in photos])
model.fit(photos, truths)
"""
GENERATED = """
def batches():
    while True:
        xs, ys = [], []
        for i in rng.integers(0, 100, 8):
            photo, truth = photos[i], truths[i]
            if rng.random() < 0.5:
                photo = photo[:, ::-1, :]
            xs.append(photo)
            ys.append(truth)
        yield np.stack(xs), np.stack(ys)
"""
TOLD = {
    "a copy, in arrays": (COPIES, 3, 1),
    "in place, in arrays": (IN_PLACE, 5, 1),
    "those that a mask picks": (PICKED, 4, 1),
    "by a function, in arrays": (BY_A_HELPER, 8, 1),
    "in a generator": (GENERATED, 8, 1),
    "decoded first": (DECODED, 5, 2),
    "loaded first, the image alone": (LOADED, 4, 1),
    "each by a function": (BY_A_FUNCTION, 7, 2),
    "each by itself": (BY_THEMSELVES, 3, 2),
    "the image alone": (IMAGE_ALONE, 3, 1),
    "the image alone, by layers": (BY_LAYERS, 3, 1),
    "each by a layer": (MASK_BY_A_SECOND_LAYER, 5, 2),
}
NOT_TOLD = {
    "copies of both": COPIES.replace("[truths, truths]", "[truths, np.flip(truths, axis=2)]"),
    "copies of three": COPIES + "z = np.concatenate([marks, np.flip(marks, axis=2)])",
    "a copy alone": COPIES.replace("[truths, truths]", "[truths, others]"),
    "all of them, once": IN_PLACE.replace("if rng.random() < 0.5", "if upside_down"),
    "both, in place": IN_PLACE.replace("[:, ::-1]", "[:, ::-1]\n        truths[i] = truths[i][:, ::-1]"),
    "the mask by another way": IN_PLACE.replace("[:, ::-1]", "[:, ::-1]\n        truths[i] = mirrored(truths[i])"),
    "what is its own target": IN_PLACE.replace("photos[:300], truths[:300]", "photos[:300], photos[:300]"),
    "targets of what is turned": IN_PLACE.replace("\nx_train", "\ntruths = outlines(photos)\nx_train"),
    "colours": PICKED.replace("rng.random(len(photos)) < 0.5", "rng.integers(9)"),
    "colours of each": GENERATED.replace("photo[:, ::-1, :]", "photo[..., ::-1]"),
    "by a function, both": BY_A_HELPER.replace("model.", "truths = np.stack([change(one) for one in truths])\nmodel."),
    "by a function of both, first": GENERATED.replace("rng.random()", "match(photo, truth)"),
    "by no draw": BY_A_HELPER.replace("np.random.rand() < 0.5", "photo[0, 0] > 0").replace("np.random.randint(4)", "1"),
    "decoded first, together": """
def change(photo_path, truth_path):
    photo, truth = load(photo_path), load(truth_path)
    both = tf.concat([photo, truth], -1)
    both = tf.image.random_flip_left_right(both)
    return both[..., :3], both[..., 3:]

train = data.map(change)
""",
    "together": """
def change(photo, truth):
    both = tf.image.random_flip_left_right(tf.concat([photo, truth], -1))
    return both[..., :3], both[..., 3:]

train = data.map(change)
""",
    "together, by a function": BY_A_FUNCTION.replace(
        "photo, truth = turn(photo), turn(truth)", "photo, truth = tf.unstack(turn(tf.stack([photo, truth])))"
    ),
    "a function of both": """
def turn(photo, truth):
    both = tf.image.random_flip_left_right(tf.concat([photo, truth], -1))
    return both[..., :3], both[..., 3:]

train = data.map(lambda photo, truth: turn(photo, truth))
""",
    "one seed for both": """
flip, flip_mask = 1, 2
flip = layers.RandomFlip(seed=7)
flip_mask = layers.RandomFlip(seed=7)
train = data.map(lambda x, y: (flip(x), flip_mask(y)))
""",
    "stateless, with a seed": """
def change(photo, truth):
    seed = rng.make_seeds(1)[:, 0]
    photo = tf.image.stateless_random_flip_left_right(photo, seed)
    return photo, tf.image.stateless_random_flip_left_right(truth, seed)

train = data.map(change)
""",
    "what moves nothing": """
def change(photo, truth):
    return tf.image.random_brightness(photo, 0.1), truth

train = data.map(change)
""",
    "images without a mask": "train = data.map(lambda x: tf.image.random_flip_left_right(x))",
    "never used": BY_THEMSELVES.replace("map(change, num_parallel_calls=2)", "map(load)"),
    "all of an array": "photo = data['photo'][()]",
    "of the model itself": "model = keras.Sequential([layers.RandomFlip(), layers.Dense(1)])",
}


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str) -> str:
        file = tmp_path / f"train_{next(numbers)}.py"
        file.write_text(text, "utf-8")
        linecache.checkcache(str(file))
        return str(file)

    return written


@pytest.mark.parametrize(("text", "line", "n"), TOLD.values(), ids=TOLD)
def test_the_first_call_is_found(write, text: str, line: int, n: int) -> None:
    found = find_turned([write("x = 1\n"), write(text)])
    assert found is not None
    assert (found.node.lineno, found.n) == (line, n)


@pytest.mark.parametrize("text", NOT_TOLD.values(), ids=NOT_TOLD)
def test_nothing_is_found(write, text: str) -> None:
    assert find_turned([write(text)]) is None
