"""Images that are turned at random without their masks: found in the source, whatever it is called."""

from __future__ import annotations

import linecache
from itertools import count
from pathlib import Path

import pytest

from gradwatch.augmented import find_turned

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
TOLD = {
    "decoded first": (DECODED, 5, 2),
    "loaded first, the image alone": (LOADED, 4, 1),
    "each by a function": (BY_A_FUNCTION, 7, 2),
    "each by itself": (BY_THEMSELVES, 3, 2),
    "the image alone": (IMAGE_ALONE, 3, 1),
    "the image alone, by layers": (BY_LAYERS, 3, 1),
    "each by a layer": (MASK_BY_A_SECOND_LAYER, 5, 2),
}
NOT_TOLD = {
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
