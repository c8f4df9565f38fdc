"""Data sets that begin anew, or keep what is to change: told with their line, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.restarted import find_restarted
from tests.hook.fed import found_while_it_trains

CAPTURE = ("gradient", "operation")

LOOP = """
data = {data}
{before}
for step in range(3):
    {line}
    train_step(x, y)
"""
ROWS = "tf.data.Dataset.from_tensor_slices((x, y))"


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    return partial(found_while_it_trains, tmp_path, find_restarted)


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (f"{ROWS}.shuffle(100).batch(20)", 120),
        (f"{ROWS}.batch(20).shuffle(5).prefetch(2)", 120),
        (f"{ROWS}.repeat().batch(20)", 20),
        (f"{ROWS}.shuffle(500).batch(20)", None),
        (f"tf.data.Dataset.from_generator(lambda: zip(x, y), output_signature={ROWS}.element_spec).batch(20)", None),
    ],
)
def test_a_data_set_that_is_begun_anew_for_each_step(find: Any, data: str, seen: int | None) -> None:
    found = find(LOOP.format(data=data, before="", line="x, y = next(iter(data))"))
    assert [(one["n_seen"], one["n_rows"]) for one in found] == ([] if seen is None else [(seen, 500)])
    assert all(one["source"]["code"] == "x, y = next(iter(data))" for one in found)


OVER = """
data = {data}
for epoch in range(3):
    with tf.device("CPU"):
        for x, y in data{taken}:
            train_step(x, y)
        seen, asked = next(iter(data))
"""


@pytest.mark.parametrize(("taken", "seen"), [(".take(2)", [140]), (".take(100)", []), ("", [])])
def test_the_first_batches_again_and_again(find: Any, taken: str, seen: list[int]) -> None:
    found = find(OVER.format(data=f"{ROWS}.shuffle(100).batch(20)", taken=taken))
    assert [one["n_seen"] for one in found] == seen


ENDLESS = """
rows = np.random.default_rng(1).normal(size=(500, 4)).astype("float32")
{outside}
def batches({argument}):
    {inside}
    while True:
        picked = rng.choice(500, size=10)
        yield rows[picked], rows[picked, :1]
data = tf.data.Dataset.from_generator(batches, output_signature=(
    tf.TensorSpec((10, 4), tf.float32), tf.TensorSpec((10, 1), tf.float32))).take({n})
for epoch in range(3):
    for x, y in data:
        train_step(x, y)
"""
SEEDED = "rng = np.random.default_rng({seed})"


@pytest.mark.parametrize(
    ("inside", "outside", "argument", "n", "is_told"),
    [
        (SEEDED.format(seed=3), "", "", 5, True),
        ("rng = np.random.RandomState(SEED)", "SEED = 3", "", 5, True),
        (SEEDED.format(seed=""), "", "", 5, False),
        ("pass", SEEDED.format(seed=3), "", 5, False),
        (SEEDED.format(seed="seed"), "", "seed=1", 5, False),
        (SEEDED.format(seed=3), "", "", 50, False),
    ],
    ids=["a seed", "a seed by name", "no seed", "outside", "one given", "as many rows as there are"],
)
def test_a_generator_that_seeds_itself_in_each_epoch(
    find: Any, inside: str, outside: str, argument: str, n: int, *, is_told: bool
) -> None:
    text = ENDLESS.format(inside=inside, outside=outside, argument=argument, n=n)
    found = [one for one in find(text) if one.get("reseeded")]
    assert [(one["n_seen"], one["n_rows"]) for one in found] == [(50, 500)] * is_told
    assert all(one["source"]["code"] == inside for one in found)


FITTED = """
class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        train_step(x, y)


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit({fed}, epochs=2, callbacks=[Look()], verbose=0)
"""


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed", "ignore:Your input ran out of data")
@pytest.mark.parametrize(
    ("train", "is_told"),
    [
        (FITTED.format(fed="data"), True),
        (FITTED.format(fed="rows, rows[:, :1], validation_data=data"), False),
        ("for epoch in range(3):\n    for i in range(2):\n        train_step(x, y)\n    seen = list(data)", False),
    ],
    ids=["fit", "to validate with", "a loop over something else"],
)
def test_a_generator_that_seeds_itself_and_feeds_the_training(find: Any, train: str, *, is_told: bool) -> None:
    text = ENDLESS.format(inside=SEEDED.format(seed=3), outside="", argument="", n=5).partition("for epoch")[0] + train
    assert len([one for one in find(text) if one.get("reseeded")]) == is_told


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("each = iter(data)", "x, y = next(each)"),
        ("x, y = next(iter(data))", "pass"),
        ("check = data", "seen, asked = next(iter(check))"),
    ],
    ids=["one iterator", "before the loop", "of a check"],
)
def test_an_iterator_that_is_not_what_a_step_is_fed_from(find: Any, before: str, line: str) -> None:
    assert find(LOOP.format(data=f"{ROWS}.batch(20)", before=before, line=line)) == []


CACHED = """
def draw(x, y):
    return x + tf.random.normal(tf.shape(x)), y


def scale(x, y):
    return x / 2, y


data = {data}
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("data", "is_told"),
    [
        (f"{ROWS}.map(draw).cache().shuffle(500).batch(20)", True),
        (f"{ROWS}.batch(20).map(lambda x, y: (tf.image.random_brightness(x, 0.1), y)).prefetch(2).cache()", True),
        (f"{ROWS}.map(scale).cache().shuffle(500).map(draw).batch(20)", False),
        (f"{ROWS}.shuffle(500).cache().batch(20)", False),
        (f"{ROWS}.map(draw).batch(20)", False),
        ("tf.data.Dataset.range(9).map(lambda i: tf.random.normal([3])).cache().batch(2)", False),
    ],
)
def test_a_cache_behind_a_random_map(find: Any, data: str, is_told: bool) -> None:
    found = find(CACHED.format(data=data))
    assert [one["cached"] for one in found] == [True] * is_told
    assert all(".cache()" in one["source"]["code"] for one in found)


@pytest.mark.parametrize(("trained", "held"), [("draw", "scale"), ("scale", "draw"), ("draw", "draw")])
def test_which_of_several_caches_is_meant(find: Any, trained: str, held: str) -> None:
    """That of the data which the training goes over; drawn once, what is held out is as good as any."""
    rows = f"{ROWS}.map({trained}).cache().batch(20)\nheld = {ROWS}.map({held}).cache()\nfor x, y in data:\n    "
    found = find(CACHED.format(data=rows).replace("\n    \ntrain_step(x, y)", "\n    train_step(x, y)"))
    assert [one["source"]["code"][:6] for one in found if "cached" in one] == ["data ="] * (trained == "draw")
