"""Images that are scaled twice, not at all or beyond their range: known, and told where what enters shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script.scaled import find_scaled
from tests.hook.diagnosis import diagnose

CAPTURE = ("gradient", "activation", "input", "operation")
pytestmark = pytest.mark.rows
IMAGES = np.random.default_rng(0).integers(0, 256, (64, 8, 8, 3)).astype(np.float32)


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    """What is found of lines of code, without a model."""

    def of(text: str) -> list[dict[str, Any]]:
        path = tmp_path / "train.py"
        path.write_text(text)
        return find_scaled([], [str(path)])

    return of


LOAD = "def load(path):\n    image = tf.io.decode_jpeg(tf.io.read_file(path))\n"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["image = tf.cast(image, tf.float32)", "image = tf.image.convert_image_dtype(image, tf.float32)"], 4),
        (["image = tf.image.resize(image, size)", "return tf.image.convert_image_dtype(image, 'float32')"], 4),
        (["return tf.image.convert_image_dtype(tf.image.resize(image, size), dtype=tf.float32)"], 3),
        (
            [
                "a = tf.cast(image, tf.float32)",
                "b = tf.image.random_crop(a, size)",
                "convert_image_dtype(b, 'float32')",
            ],
            5,
        ),
        (["image = tf.image.convert_image_dtype(image, tf.float32)", "image = tf.image.resize(image, size)"], None),
        (["x = tf.image.resize(image, size, method='nearest')", "convert_image_dtype(x, tf.float32)"], None),
        (["x = tf.cast(image, tf.float32) / 255.0", "convert_image_dtype(x, tf.float32)"], None),
        (["image = tf.cast(image, tf.float32)", "image /= 255.0", "convert_image_dtype(image, tf.float32)"], None),
        (["x = tf.cast(image, tf.float32)", "x = tf.cast(x, tf.uint8)", "convert_image_dtype(x, tf.float32)"], None),
        (["x = tf.cast(image, tf.float32)", "preprocess_input(convert_image_dtype(x, tf.float32))"], None),
        (["image = tf.cast(image, tf.float32)", "convert_image_dtype(image, tf.uint8)"], None),
    ],
)
def test_a_conversion_of_floats(find: Any, lines: Sequence[str], line: int | None) -> None:
    found = [one for one in find(LOAD + "".join(f"    {one}\n" for one in lines)) if "unconverted" in one]
    assert [one["source"]["line"] for one in found] == ([] if line is None else [line])


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        (["image = tf.cast(image, tf.float32) / 255.0", "image = tf.image.random_brightness(image, 32.0)"], (32, True)),
        (["image = tf.image.random_brightness(image, 63)"], (63, False)),
        (["image = tf.image.random_brightness(image, max_delta=32.0 / 255.0)"], None),
        (["image = tf.image.random_brightness(image, 4.0)"], None),
        (["image = tf.image.random_brightness(image, 32.0)", "image = image / 255.0"], (32, False)),
        (["augment = layers.RandomBrightness(0.2)"], (51, False)),
        (["augment = layers.RandomBrightness(0.2, value_range=(0, 1))"], None),
    ],
)
def test_a_change_of_brightness(find: Any, lines: Sequence[str], known: tuple[float, bool] | None) -> None:
    found = [one for one in find(LOAD + "".join(f"    {one}\n" for one in lines)) if "brightens" in one]
    assert [(one["brightens"], one["scaled"]) for one in found] == ([] if known is None else [known])


def train(watch: Any, read: Any, images: Any, *first: Any) -> list[str]:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input(images.shape[1:]),
            *first,
            layers.Conv2D(4, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    begun = watch(model)
    model.fit(images, images.mean((1, 2, 3)), batch_size=8, epochs=14, verbose=0)
    return [one.title for one in diagnose(read(begun)).findings()]


@pytest.mark.parametrize(
    ("images", "first", "is_told"),
    [
        (IMAGES / 255, [layers.Rescaling(1 / 255)], True),
        (IMAGES / 255, [layers.Rescaling(1 / 127.5, offset=-1)], True),
        (IMAGES, [layers.Rescaling(1 / 255)], False),
        (IMAGES, [layers.Rescaling(1 / 127.5, offset=-1)], False),
        (IMAGES / 255, [layers.Rescaling(2.0, offset=-1)], False),
        (IMAGES / 255, [layers.Conv2D(3, 1, activation="tanh"), layers.Rescaling(1 / 128)], False),
        (np.repeat(IMAGES / 255, 2, axis=-1), [layers.Rescaling(1 / 255)], False),
    ],
)
def test_images_that_are_scaled_twice(watch: Any, read: Any, images: Any, first: list[Any], is_told: bool) -> None:
    titles = train(watch, read, images, *(one.__class__.from_config(one.get_config()) for one in first))
    assert any(title.startswith("Images are scaled twice") for title in titles) == is_told


@pytest.mark.parametrize(
    ("images", "first", "is_told"),
    [
        (IMAGES / 255, [layers.RandomBrightness(0.2)], True),
        (IMAGES, [layers.Rescaling(1 / 255), layers.RandomBrightness(0.2)], True),
        (IMAGES, [layers.RandomBrightness(0.2), layers.Rescaling(1 / 255)], False),
        (IMAGES / 255, [layers.RandomBrightness(0.2, value_range=(0, 1))], False),
    ],
)
def test_images_that_a_layer_makes_brighter(
    watch: Any, read: Any, images: Any, first: list[Any], is_told: bool
) -> None:
    titles = train(watch, read, images, *(one.__class__.from_config(one.get_config()) for one in first))
    assert any(title.startswith("Images from 0 to 1 are made brighter") for title in titles) == is_told


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = x / 255.0 - 1.0", 1),
        ("data = data.map(lambda x, y: (tf.cast(x, tf.float32) / 255 - 1, y))", 1),
        ("scale = layers.Rescaling(1.0 / 255, offset=-1)", 1),
        ("scale = layers.Rescaling(scale=1 / 255.0, offset=-1.0)", 1),
        ("x = x / 127.5 - 1", None),
        ("x = 1 - x / 255", None),
        ("x = x / 255 - 0.5", None),
        ("step = 2.0 / 255 - 1", None),
        ("scale = layers.Rescaling(1 / 127.5, offset=-1)", None),
        ("scale = layers.Rescaling(1 / 255)", None),
    ],
)
def test_a_line_that_halves_the_range(find: Any, text: str, line: int | None) -> None:
    found = [one["source"]["line"] for one in find(text + "\n") if "halved" in one]
    assert found == [line] * (line is not None)


@pytest.mark.parametrize(
    ("scale", "offset", "factor", "is_told"), [(255, -1, 1, True), (127.5, -1, 1, False), (255, -1, 2, False)]
)
def test_a_layer_that_halves_the_range(
    watch: Any, read: Any, scale: float, offset: float, factor: float, is_told: bool
) -> None:
    scaling = layers.Rescaling(1 / scale, offset=offset, name="scaling")
    model = keras.Sequential([keras.Input((8, 8, 3)), scaling, layers.Flatten(), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    begun = watch(model)
    model.fit(factor * IMAGES, IMAGES.mean((1, 2, 3)) / 255, batch_size=8, epochs=14, verbose=0)
    titles = [one.title for one in diagnose(read(begun)).findings()]
    assert any("to between -1 and 0" in one for one in titles) == is_told


@pytest.mark.parametrize(
    ("text", "line", "n"),
    [
        ("x = x / 255.0\n\nx_train = x[:9] / 255.0\nx_val = x[9:] / 255.0", 3, 3),
        ("data = data.map(lambda x, y: (x / 255, y))", 1, 1),
        ("x = x / x.max()", None, 0),
    ],
)
def test_the_last_line_that_scales(find: Any, text: str, line: int | None, n: int) -> None:
    found = [(one["source"]["line"], one["dims"]) for one in find(text + "\n") if "dims" in one]
    assert found == [(line, n)] * (line is not None)


# What is fed to a training of this file, which has lines that divide by 255.
@pytest.mark.parametrize(
    ("inputs", "is_told"),
    [(IMAGES / 255 / 255, True), ((IMAGES - 128) / 74 / 255, True), (IMAGES / 255, False), (IMAGES / 255 / 20, False)],
)
@pytest.mark.parametrize("is_flat", [False, True])
def test_what_is_divided_twice(watch: Any, read: Any, inputs: Any, is_told: bool, is_flat: bool) -> None:
    x = inputs.reshape(len(inputs), -1) if is_flat else inputs
    model = keras.Sequential([keras.Input(x.shape[1:]), layers.Flatten(), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(1e-9), "mse")
    begun = watch(model)
    model.fit(x, np.ones(len(x)), batch_size=8, epochs=1 + 1200 // len(x), verbose=0)
    titles = [one.title for one in diagnose(read(begun)).findings()]
    assert (
        any(one.startswith("Inputs are scaled twice: what enters the model lies between") for one in titles) == is_told
    )
