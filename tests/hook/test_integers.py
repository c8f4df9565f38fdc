"""Numbers that an integer type cannot hold: told with their line, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.integers import find_integers
from tests.hook.fed import found_while_it_trains

CAPTURE = ("gradient", "operation")

WRAPPED = """
first = np.zeros((4, 5), "{dtype}")
second = np.ones((4, 5), "{dtype}")


def motion(before, after):
    return {difference}


{call}
train_step(x, y)
"""


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    return partial(found_while_it_trains, tmp_path, find_integers)


@pytest.mark.parametrize(
    ("dtype", "difference", "call", "is_told"),
    [
        ("uint8", "after - before", "motion(first, second)", True),
        ("uint16", "after[1:] - before[:-1]", "motion(first[:2], second[:2])", True),
        ("uint8", "before", "moved = second - first", True),
        ("uint8", "after[1:] - after[:-1]", "motion(first, second)", True),
        ("uint8", "after[1:] - after[1:]", "motion(first, second)", False),
        ("uint8", "[after := after / 255, after[1:] - after[:-1]]", "motion(first, second)", False),
        ("uint8", "after.astype('int16') - before", "motion(first, second)", False),
        ("int8", "after - before", "motion(first, second)", False),
        ("uint8", "after - before", "motion(first / 255, second / 255)", False),
    ],
)
def test_differences_that_wrap_round(find: Any, dtype: str, difference: str, call: str, is_told: bool) -> None:
    found = find(WRAPPED.format(dtype=dtype, difference=difference, call=call))
    assert [one["wraps"] for one in found] == [dtype] * is_told


FLOORED = """
share = {share}


def target(share):
    return {cast}


train_step(x, target(share))
"""
DRAWN = "np.random.default_rng(0).random(500)"


@pytest.mark.parametrize(
    ("share", "cast", "dtype"),
    [
        (DRAWN, "np.asarray(share).reshape(-1, 1).astype('int32')", "int32"),
        (DRAWN, "share.astype(int)", "int"),
        (DRAWN, "tf.cast(share, tf.int64)", "int64"),
        (DRAWN, "tf.cast(tf.constant(share), dtype='uint8')", "uint8"),
        (f"tf.constant({DRAWN}, tf.float32)", "tf.cast(share, tf.int32)", "int32"),
        (f"255 * {DRAWN}", "(share / 255).astype('uint8')", "uint8"),
        (f"(255 * {DRAWN}).astype('uint8')", "tf.cast(tf.cast(share, tf.float32) / 255., tf.int32)", "int32"),
        (f"(255 * {DRAWN}).astype('uint8')", "np.asarray(share * 0.00390625).astype(int)", "int"),
        (f"255 * ({DRAWN} > 0.5)", "(share / 255).astype('uint8')", None),
        (f"255 * {DRAWN}", "(share / 25.5).astype('uint8')", None),
        (f"255 * {DRAWN}", "(share / 255 + 0.5).astype('uint8')", None),
        (f"255 * {DRAWN}", "(share := (share / 255).astype('uint8'))", "uint8"),
        (f"255 * {DRAWN}; cut = (share / 25.5).astype(int); share = share / 255", "cut", None),
        (f"255 * {DRAWN}", "(share // 255).astype('float32')", "//"),
        (DRAWN, "share.astype('float32')", None),
        (DRAWN, "(share > 0.5).astype('int32')", None),
        (DRAWN, "(10 * share).astype('int32')", None),
        (DRAWN, "np.round(share).astype('int32')", None),
        (f"np.round({DRAWN})", "share.astype('int32')", None),
        (f"5 * {DRAWN}", "share.astype('int32')", None),
        (f"(255 * {DRAWN}).astype('uint8')", "share.astype('int32')", None),
    ],
)
def test_shares_that_are_cut_to_whole_numbers(find: Any, share: str, cast: str, dtype: str | None) -> None:
    found = [one for one in find(FLOORED.format(share=share.replace("; ", "\n"), cast=cast)) if "floored" in one]
    assert [one["floored"] for one in found] == ([] if dtype is None else [dtype])


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("x = (scans // 255).astype('float32')", True),
        ("scans //= 255", True),
        ("x = np.floor_divide(scans, 256.0)", True),
        ("x = (scans / 255).astype('float32')", False),
        ("x = scans // 2", False),
        ("x = 255 // scans", False),
    ],
)
def test_images_that_are_divided_without_a_rest(find: Any, line: str, is_told: bool) -> None:
    text = f"import numpy as np\nscans = np.full((9, 9), 7)\n{line}\ntrain_step(scans, scans)\n"
    found = [one for one in find(text) if "floored" in one]
    assert [one["floored"] for one in found] == ["//"] * is_told
    assert all(one["source"]["code"] == line for one in found)


PADDED = """
from keras.utils import pad_sequences


def prepare(parts):
    return {line}


rng = np.random.default_rng(0)
sequences = [{one} for n in range(2, 90)]
{before}
train_step(prepare(sequences), y)
"""


@pytest.mark.parametrize(
    ("one", "line", "is_told"),
    [
        ("rng.random(n)", "pad_sequences(parts, maxlen=20)", True),
        ("rng.normal(size=n).tolist()", "keras.utils.pad_sequences(parts, padding='post')", True),
        ("rng.normal(size=(n, 3))", "tf.keras.preprocessing.sequence.pad_sequences(parts)", True),
        ("rng.normal(size=n)", "pad_sequences(parts, maxlen=20, dtype='float32')", False),
        ("rng.normal(size=n)", "pad_sequences(parts, 20, 'float32')", False),
        ("rng.normal(size=n)", "pad_sequences(parts, **dict(dtype='float32'))", False),
        ("rng.normal(size=n)", "tf.ragged.constant(parts).to_tensor()", False),
        ("rng.integers(0, 9, n)", "pad_sequences(parts, maxlen=20)", False),
        ("np.round(9 * rng.random(n))", "pad_sequences(parts, maxlen=20)", False),
        ("90 * rng.random(n)", "pad_sequences(parts, maxlen=20)", False),
        ("[str(n)] * n", "pad_sequences([[3]] * len(parts), maxlen=20)", False),
    ],
)
def test_sequences_of_fractions_that_are_padded(find: Any, one: str, line: str, is_told: bool) -> None:
    found = [one for one in find(PADDED.format(one=one, line=line, before="")) if "floored" in one]
    assert [(one["floored"], one["padded"]) for one in found] == [("int32", True)] * is_told
    own = "def pad_sequences(parts, maxlen=20):\n    return np.stack([np.resize(one, maxlen) for one in parts])\n"
    if line.startswith("pad_sequences(parts, maxlen=20)"):
        assert find(PADDED.format(one=one, line=line, before=own)) == []


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("grades = (grades / 10).astype('int32')", True),
        ("grades = (grades / 3).astype('int32')", False),
        ("grades = (grades // 10).astype('int32')", False),
        ("grades = grades.astype('int32')", False),
    ],
)
def test_what_is_cut_to_zeros_under_its_own_name(find: Any, line: str, is_told: bool) -> None:
    found = [one for one in find(f"grades = np.arange(500) % 10\n{line}\ntrain_step(x, grades)") if "floored" in one]
    assert [(one["floored"], one["scaled"]) for one in found] == [("int32", True)] * is_told


CUT_IN_MAP = """
def scale(image, label):
    return image, {cast}


data = tf.data.Dataset.from_tensor_slices((x, {labels})){between}
data = data.map(scale).batch(10)


@tf.function
def step(x, y):
    train_step(x, y)
    return x


for x, y in data.take(1):
    step(x, y)
"""
CUT = "tf.cast(tf.cast(label, tf.float32) / 10.0, tf.int32)"


@pytest.mark.parametrize(
    ("parts", "is_told"),
    [
        ({"cast": CUT}, True),
        ({"cast": CUT, "between": ".shuffle(9).batch(5)"}, True),
        ({"cast": "tf.cast(label / 10, tf.int64)"}, True),
        ({"cast": CUT, "labels": "1 + 8 * (np.arange(500) % 2)"}, True),
        ({"cast": CUT, "labels": "10 * (np.arange(500) % 2)"}, False),
        ({"cast": CUT, "between": ".map(lambda image, label: (image, 20 * label))"}, False),
        ({"cast": "tf.cast(tf.round(label / 10), tf.int32)"}, False),
        ({"cast": "tf.cast(label, tf.float32) / 10.0"}, False),
    ],
)
def test_shares_that_a_map_cuts_to_whole_numbers(find: Any, parts: dict[str, str], is_told: bool) -> None:
    usual = {"labels": "np.arange(500) % 10", "between": ""}
    # Functions that are alike but for their file are converted once: each begins at a line of its own.
    text = "\n" * len(str(parts)) + CUT_IN_MAP.format(**(usual | parts))
    found = [one for one in find(text) if "floored" in one]
    assert [(one["scaled"], "tf.cast" in one["source"]["code"]) for one in found] == [(True, True)] * is_told
