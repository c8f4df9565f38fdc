"""Axes that a reshape mixes up, and copies that do not pair: told with their line, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.turned import find_turned
from tests.hook.fed import found_while_it_trains

CAPTURE = ("gradient", "operation")

UNROLLED = """
def unroll(many, of_each):
    rows = {rows}
    targets = {targets}
    return tf.data.Dataset.from_tensor_slices((rows, targets))


many, of_each = np.zeros({shape}, "float32"), np.arange(6)
unroll(many, of_each)
train_step(x, y)
"""


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    return partial(found_while_it_trains, tmp_path, find_turned)


@pytest.mark.parametrize(
    ("shape", "rows", "targets", "told"),
    [
        ((6, 4, 5), "many.reshape(-1, 5)", "np.tile(of_each, 4)", "tile"),
        ((6, 4, 5), "np.reshape(many, (-1, 5))", "tf.tile(of_each, [4])", "tile"),
        ((6, 4, 5), "many.reshape(24, 5, 1)", "np.tile(of_each, 4)", "tile"),
        ((4, 6, 5), "many.reshape(-1, 5)", "np.repeat(of_each, 4)", "repeat"),
        ((4, 6, 5), "many.reshape(-1, 5)", "of_each.repeat(4)", "repeat"),
        ((6, 4, 5), "many.reshape(-1, 5)", "np.repeat(of_each, 4)", None),
        ((4, 6, 5), "many.reshape(-1, 5)", "np.tile(of_each, 4)", None),
        ((6, 6, 5), "many.reshape(-1, 5)", "np.tile(of_each, 6)", None),
        ((24, 5), "many.reshape(-1, 5, 1)", "np.tile(of_each, 4)", None),
        ((6, 4, 5), "many.reshape(6, -1)", "np.tile(of_each, 1)", None),
        ((6, 4, 5), "many.swapaxes(0, 1).reshape(-1, 5)", "np.tile(of_each, 4)", None),
    ],
    ids=str,
)
def test_targets_copied_in_another_order_than_a_reshape_has(
    find: Any, shape: tuple[int, ...], rows: str, targets: str, told: str | None
) -> None:
    found = [one for one in find(UNROLLED.format(shape=shape, rows=rows, targets=targets)) if "copies" in one]
    assert [(one["copies"], one["unrolled"]) for one in found] == ([] if told is None else [(told, True)])
    assert all("targets = " in one["source"]["code"] for one in found)


COPIED = """
def more(images, labels):
    {lines}


images, labels = more(x, y)
train_step(images, labels)
"""


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ("return np.repeat(images, 3, axis=0), np.tile(labels, (3, 1))", True),
        ("many = np.repeat(images, 3, axis=0); return many, np.tile(labels, (3, 1))", True),
        ("return np.tile(images, (3, 1)), tf.repeat(labels, 3, axis=0)", True),
        ("return np.repeat(images, 3, axis=0), np.repeat(labels, 3, axis=0)", False),
        ("return np.tile(images, (3, 1)), np.tile(labels, (3, 1))", False),
        ("views = np.tile(images, (3, 1)); return images.repeat(3, 0) - views, labels.repeat(3, 0)", False),
    ],
)
def test_pairs_that_are_copied_in_two_ways(find: Any, lines: str, is_told: bool) -> None:
    found = [one for one in find(COPIED.format(lines=lines)) if "copies" in one]
    assert len(found) == is_told
    assert all("np.tile(" in one["source"]["code"] for one in found)


THROUGH = """
WIDTH, LENGTH = 3, 7
waves = np.ones((10, WIDTH, LENGTH))


def to_rows(block):
    return {reshape} / waves.max()


def prepare(part, labels):
    return tf.data.Dataset.from_tensor_slices((to_rows(part), labels))


data = prepare(waves, np.arange(10))
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("reshape", "after"),
    [
        ("block.reshape(-1, LENGTH, WIDTH)", [10, 7, 3]),
        ("np.reshape(block, (len(block), LENGTH, WIDTH))", [10, 7, 3]),
        ("block.reshape(-1, WIDTH, LENGTH)", None),
        ("block.reshape(-1, WIDTH * LENGTH)", None),
        ("block.reshape(len(block), -1, WIDTH)", None),
        ("block.transpose(0, 2, 1).reshape(-1, LENGTH, WIDTH)", None),
    ],
)
def test_axes_that_a_reshape_mixes_up_behind_several_calls(find: Any, reshape: str, after: list[int] | None) -> None:
    found = find(THROUGH.format(reshape=reshape))
    assert [one["after"] for one in found] == ([] if after is None else [after])


def test_a_reshape_of_a_batch_whose_length_is_not_known_yet(find: Any) -> None:
    """Steps are traced for any length of a batch: nothing is compared with it, and nothing fails."""
    traced = "tf.function(step, input_signature=[tf.TensorSpec([None, 3, 4])], autograph=False)"
    step = "def step(x):\n    train_step(x, y)\n    h = tf.reshape(x, [-1])\n"
    assert find(f"{step}\n{traced}(tf.zeros([6, 3, 4]))\n") == []


TURNED = """
waves = np.zeros((10, 3, 7))
{line}
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("turned = waves.reshape(10, 7, 3)", [10, 7, 3]),
        ("turned = np.reshape(waves, (3, 10, 7))", [3, 10, 7]),
        ("turned = tf.reshape(waves, (-1, 7, 3))", [10, 7, 3]),
        ("turned = waves.transpose(0, 2, 1)", None),
        ("turned = waves.reshape(10, 21)", None),
        ("turned = waves.reshape(10, 1, 3, 7)", None),
    ],
)
def test_axes_that_a_reshape_mixes_up(find: Any, line: str, after: list[int] | None) -> None:
    found = find(TURNED.format(line=line))
    assert [(one["before"], one["after"]) for one in found] == ([] if after is None else [([10, 3, 7], after)])


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ("waves = waves.reshape(10, 7, 3)", [10, 7, 3]),
        ("waves = np.reshape(waves, (len(waves), 7, 3)); part = waves[:8]", [10, 7, 3]),
        ("waves = waves.reshape(waves.shape[0], 7, 3, 1); waves = waves[:8]; other = 0", [10, 7, 3, 1]),
        ("waves = waves.reshape(10, 3, 7, 1); waves = waves.transpose(0, 2, 1, 3)", None),
        ("waves = waves.reshape(10, 21); waves = waves.reshape(10, 3, 7)", None),
        ("waves = np.zeros((10, 6, 3)); waves = waves.reshape(10, 3, 6)", None),
        ("waves = waves.reshape(7, 3, 10)[:, :, :4]; waves = waves.reshape(4, 3, 7)", None),
        ("waves = waves.transpose(0, 2, 1)", None),
    ],
)
def test_axes_that_a_reshape_mixes_up_under_the_same_name(find: Any, lines: str, after: list[int] | None) -> None:
    found = find(TURNED.format(line=lines.replace("; ", "\n")))
    assert [(one["before"], one["after"]) for one in found] == ([] if after is None else [([10, 3, 7], after)])
    assert all(".reshape(" in one["source"]["code"] for one in found)


IN_MAP = """
def prepare(wave, label):
    wave = wave / 2
    {line}
    return wave, label


data = tf.data.Dataset.from_tensor_slices((np.zeros((10, 3, 7)), np.arange(10))){batch}
data = data.map(prepare).prefetch(1)


@tf.function
def step(x, y):
    train_step(x, y)
    return x


for x, y in data.take(1):
    step(x, y)
"""


@pytest.mark.parametrize(
    ("parts", "after"),
    [
        ({"line": "wave = tf.reshape(wave, (7, 3))"}, [7, 3]),
        ({"line": "wave = tf.reshape(wave, (-1, 7, 3))", "batch": ".batch(5)"}, [-1, 7, 3]),
        ({"line": "wave = tf.transpose(wave)"}, None),
        ({"line": "wave = tf.reshape(wave, (3, 7, 1))"}, None),
        ({"line": "wave = tf.reshape(wave, (21,))"}, None),
        ({"line": "wave = tf.reshape(wave[:, :6], (6, 3))"}, None),
        ({"line": "wave = tf.reshape(wave, (-1, 7))", "batch": ".batch(5)"}, None),
    ],
)
def test_axes_that_a_reshape_in_a_map_mixes_up(find: Any, parts: dict[str, str], after: list[int] | None) -> None:
    found = [one for one in find(IN_MAP.format(**({"batch": ""} | parts))) if "after" in one]
    assert [one["after"] for one in found] == ([] if after is None else [after])
    assert all("tf.reshape(wave" in one["source"]["code"] for one in found)


HELPING = """
waves = np.zeros((10, 3, 7))


def prepare(trials, scale):
    trials = trials / scale
    {inner}


turned = prepare(waves, 2.0)
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("inner", "after"),
    [
        ("return trials.reshape(-1, 7, 3)", [10, 7, 3]),
        ("return np.reshape(trials, (len(trials), 7, 3))", [10, 7, 3]),
        ("out = trials.reshape(-1, 7, 3); return out", [10, 7, 3]),
        ("return trials.transpose(0, 2, 1)", None),
        ("trials = np.swapaxes(trials, 1, 2); return trials.reshape(-1, 7, 3)", None),
        ("return trials.reshape(-1, 3, 7)", None),
        ("return trials.reshape(-1, 21)", None),
    ],
)
def test_axes_that_a_reshape_in_a_function_mixes_up(find: Any, inner: str, after: list[int] | None) -> None:
    found = find(HELPING.format(inner=inner))
    assert [(one["before"], one["after"]) for one in found] == ([] if after is None else [([10, 3, 7], after)])
    assert all("reshape(" in one["source"]["code"] for one in found)


END_TO_END = """
def more(images, labels):
    noisy = images + np.random.default_rng(0).normal(size=images.shape)
    other = x + 1
    both = {both}
    return both / 2 - 1, {labels}


images, labels = more(x, y)
train_step(images, labels)
"""


@pytest.mark.parametrize(
    ("both", "labels", "is_told"),
    [
        ("np.concatenate([images, images[:, ::-1]])", "np.repeat(labels, 2, axis=0)", True),
        ("tf.concat([images, tf.reverse(images, [1])], 0)", "labels.repeat(2, 0)", True),
        ("np.concatenate([images, images * 1.1]); both = (both - 1) / 2", "np.repeat(labels, 2, axis=0)", False),
        ("np.concatenate([images, noisy, images / 2])", "np.repeat(labels, 3, axis=0)", True),
        ("np.concatenate([images, other])", "np.repeat(labels, 2, axis=0)", False),
        ("np.concatenate([images, images[:, ::-1]])", "np.tile(labels, (2, 1))", False),
        ("np.concatenate([images, images[:, ::-1]])", "np.concatenate([labels, labels])", False),
        ("np.concatenate([images, x])", "np.repeat(labels, 2, axis=0)", False),
        ("np.repeat(images, 2, axis=0)", "np.repeat(labels, 2, axis=0)", False),
    ],
)
def test_copies_that_are_laid_end_to_end(find: Any, both: str, labels: str, is_told: bool) -> None:
    found = [one for one in find(END_TO_END.format(both=both, labels=labels)) if "copies" in one]
    assert len(found) == is_told
    assert all((one["copies"], "repeat(" in one["source"]["code"]) == ("repeat", True) for one in found)
