"""Images and masks that are resized to numbers between those that were meant: told with their line, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.resized import find_resized
from tests.hook.fed import found_while_it_trains

CAPTURE = ("gradient", "operation")

MAPPED = """
def prepare(image, mask):
    image = tf.cast(tf.image.resize(image, (8, 8)), tf.uint8)
    mask = {call}
    return image, {cast}


train_step(x, y)
"""


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    return partial(found_while_it_trains, tmp_path, find_resized)


@pytest.mark.parametrize(
    ("call", "cast", "method"),
    [
        ("tf.image.resize(mask, (8, 8))", "tf.cast(mask, tf.int32)", "bilinear"),
        ("tf.image.resize(mask, (8, 8), method='bicubic')", "tf.cast(mask, 'int64')", "bicubic"),
        ("tf.image.resize(mask, (8, 8), tf.image.ResizeMethod.AREA)", "tf.cast(mask, dtype=tf.int32)", "area"),
        ("tf.cast(keras.ops.image.resize(mask, (8, 8)), 'int32')", "mask", "bilinear"),
        ("tf.image.resize(mask, (8, 8), method='nearest')", "tf.cast(mask, tf.int32)", None),
        ("tf.image.resize(mask, (8, 8))", "mask", None),
    ],
)
def test_class_numbers_that_are_interpolated(find: Any, call: str, cast: str, method: str | None) -> None:
    found = find(MAPPED.format(call=call, cast=cast))
    assert [one["resized"] for one in found] == ([] if method is None else [method])


BUFFER = """
actions = np.zeros(10, "int32")
rewards = {made}
for step in range(10):
    rewards[step] = {value}
train_step(tf.constant(actions), {fed})
"""


@pytest.mark.parametrize(
    ("made", "fed", "dtype"),
    [
        ("np.zeros_like(actions)", "tf.constant(rewards[:5], tf.float32)", "int32"),
        ("np.full_like(actions, 0)", "tf.cast(rewards, 'float32')", "int32"),
        ("np.zeros_like(actions)", "rewards.astype(np.float32)", "int32"),
        ("np.zeros_like(actions, dtype='float32')", "tf.constant(rewards, tf.float32)", None),
        ("np.zeros_like(x[:, 0])", "tf.constant(rewards, tf.float32)", None),
        ("np.zeros_like(actions)", "tf.constant(rewards)", None),
    ],
)
def test_a_buffer_that_cuts_off_fractions(find: Any, made: str, fed: str, dtype: str | None) -> None:
    found = find(BUFFER.format(made=made, value="0.7", fed=fed))
    assert [one["buffer"] for one in found] == ([] if dtype is None else [dtype])


MASKS = """
def load(image_path, mask_path):
    mask = tf.io.decode_png(tf.io.read_file(mask_path), channels=1)
    image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(image_path)), size)
    {resize}
    mask -= 1
    return image / 255.0, tf.squeeze(mask, -1)

data = paths.map(load).batch(8)
loss = "{loss}"
"""


@pytest.mark.parametrize(
    ("resize", "loss", "is_told"),
    [
        ("mask = tf.image.resize(mask, size)", "sparse_categorical_crossentropy", True),
        ("mask = tf.image.resize(mask, size, method='nearest')", "sparse_categorical_crossentropy", False),
        ("mask = tf.image.resize(mask, size)", "binary_crossentropy", False),
        ("mask = tf.image.resize(mask, size)", 'mse"; of_classes = "sparse_categorical_crossentropy', False),
        ("mask = tf.image.resize(mask, size) / 255.0", "sparse_categorical_crossentropy", False),
        ("other = tf.image.resize(mask, size)", "sparse_categorical_crossentropy", False),
    ],
)
def test_class_masks_that_are_interpolated_and_never_cast(
    tmp_path: Path, resize: str, loss: str, is_told: bool
) -> None:
    path = tmp_path / "train.py"
    path.write_text(MASKS.format(resize=resize, loss=loss))
    found = [one for one in find_resized([str(path)]) if "resized" in one]
    assert [(one["source"]["line"], one["uncast"]) for one in found] == [(5, True)] * is_told


DEPTHS = """
def prepare(image, depth):
    depth = tf.image.resize(depth, (2, 2))
    return tf.image.resize(image, (2, 2)), depth


class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        train_step(x, y)


images = np.zeros((8, 4, 4, 1), "float32")
model = keras.Sequential([keras.Input((2, 2, 1)), keras.layers.Conv2D(2, 1)])
losses = ["mse", keras.losses.SparseCategoricalCrossentropy(from_logits=True)]
model.compile("sgd", losses[PLACE])
pairs = tf.data.Dataset.from_tensor_slices((images, images)).map(prepare).batch(4)
model.fit(pairs, callbacks=[Look()], verbose=0)
"""


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize(("place", "is_told"), [("0", False), ("1", True)])
def test_depths_that_are_interpolated_are_no_classes(find: Any, place: str, is_told: bool) -> None:
    assert len([one for one in find(DEPTHS.replace("PLACE", place)) if "uncast" in one]) == is_told
