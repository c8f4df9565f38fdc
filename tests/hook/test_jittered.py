"""Validation images that are changed at random are told where labels are asked for; what is drawn otherwise is not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from keras.src.legacy.preprocessing.image import ImageDataGenerator

from gradwatch.slips.script.jittered import find_jittered
from tests.hook.diagnosis import found_in

CAPTURE = ("gradient",)
RNG = np.random.default_rng(0)
X = RNG.random((40, 8, 8, 3)).astype(np.float32)
Y = RNG.integers(0, 2, 40)
SOURCE = """\
def fit(find, validation_data):
    return find()
"""
_SPACE: dict[str, Any] = {}
exec(compile(SOURCE, "/somewhere/keras/trainer.py", "exec"), _SPACE)  # noqa: S102


def told(held: Any) -> list[str]:
    """What changes such validation images."""
    return [name for one in _SPACE["fit"](find_jittered, held) for name in one["jittered"]]


def pairs(*maps: Any, y: Any = Y) -> Any:
    data = tf.data.Dataset.from_tensor_slices((X, y))
    for one in maps:
        data = data.map(one)
    return data.batch(8)


def flipped(image: Any, label: Any) -> Any:
    return tf.image.random_brightness(tf.image.random_flip_left_right(image), 0.2), label


def by_seed(image: Any, label: Any) -> Any:
    return tf.image.stateless_random_contrast(image, 0.5, 1.5, seed=(1, 2)), label


def by_number(i: Any, pair: Any) -> Any:
    return tf.image.stateless_random_contrast(pair[0], 0.5, 1.5, seed=tf.stack([i, i])), pair[1]


def by_state(image: Any, label: Any) -> Any:
    return tf.image.stateless_random_contrast(image, 0.5, 1.5, seed=DRAWS.make_seeds(1)[:, 0]), label


DRAWS = tf.random.Generator.from_seed(1)


def noisy(image: Any, label: Any) -> Any:
    return image + tf.random.normal(tf.shape(image)), label


def cropped(image: Any, label: Any) -> Any:
    return tf.image.random_crop(image, (4, 4, 3)), label


def scaled(image: Any, label: Any) -> Any:
    return tf.image.flip_left_right(image) / 255.0, label


def both_changed(image: Any, mask: Any) -> Any:
    return tf.image.random_flip_up_down(image), mask


AUGMENT = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.1)])


def test_a_data_set_whose_map_draws() -> None:
    assert told(pairs(flipped)) == ["tf.image.random_flip_left_right", "tf.image.random_brightness"]
    assert told(pairs(scaled, by_state)) == ["tf.image.stateless_random_contrast"]
    assert told(pairs().map(lambda x, y: (AUGMENT(x, training=True), y))) == ["RandomFlip", "RandomRotation"]
    assert told(pairs(flipped).cache().prefetch(1)) != []


@pytest.mark.parametrize(
    "held",
    [
        pairs(scaled),
        pairs(by_seed),  # the same each time
        tf.data.Dataset.from_tensor_slices((X, Y)).enumerate().map(by_number).batch(8),
        pairs(noisy),  # what is to be cleaned, perhaps
        pairs(cropped),  # images of other sizes
        pairs().map(lambda x, y: (AUGMENT(x, training=False), y)),
        pairs(both_changed, y=X),  # to be rebuilt
        pairs(flipped).map(lambda x, _: x),
        (X, Y),
        None,
        ImageDataGenerator(rescale=1 / 255, validation_split=0.2).flow(X, Y, subset="validation"),
        ImageDataGenerator(horizontal_flip=True).flow(X, X),  # to be rebuilt
        ImageDataGenerator(horizontal_flip=True).flow(X),
    ],
)
def test_what_leaves_images_alone_or_is_meant(held: Any) -> None:
    assert told(held) == []


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"rotation_range": 20, "horizontal_flip": True}, ["rotation_range", "horizontal_flip"]),
        ({"zoom_range": 0.2}, ["zoom_range"]),
        ({"brightness_range": (0.5, 1.0)}, ["brightness_range"]),
        ({"width_shift_range": 0.1}, ["width_shift_range"]),
    ],
)
def test_a_generator_that_draws(settings: Any, names: list[str]) -> None:
    held = ImageDataGenerator(validation_split=0.2, **settings).flow(X, Y, subset="validation")
    assert told(held) == names


def test_its_line_is_the_one_that_makes_it(watch: Any, read: Any) -> None:
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.Flatten(), layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    begun = watch(model)
    generator = ImageDataGenerator(horizontal_flip=True, validation_split=0.2)
    held = generator.flow(X, Y, batch_size=8, subset="validation")
    model.fit(generator.flow(X, Y, batch_size=8, subset="training"), shuffle=False, validation_data=held, verbose=0)
    (found,) = found_in(read(begun))
    assert found["source"]["code"].startswith("held = generator.flow")


def test_the_line_of_a_map(watch: Any, read: Any) -> None:
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.Flatten(), layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    begun = watch(model)
    model.fit(pairs(flipped), shuffle=False, validation_data=pairs(scaled, flipped), verbose=0)
    (found,) = found_in(read(begun))
    assert "random_flip_left_right" in found["source"]["code"]
