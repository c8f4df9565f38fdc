"""Classes that serve a training's batches: told where these are the same at each step, or no pairs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.slips.script.served import find_batches, find_served, served_by

CLASS = """
class Rows(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size=20):
        super().__init__()
        self.x, self.y, self.batch_size = x, y, batch_size
        {making}

    def __len__(self):
        return {length}

    def __getitem__(self, index):
        {body}

    def on_epoch_end(self):
        {end}
"""
LENGTH = "len(self.x) // self.batch_size"
ROWS = "index * self.batch_size : (index + 1) * self.batch_size"
PAIR = f"return self.x[{ROWS}], self.y[{ROWS}]"
FIRST = "return self.x[: self.batch_size], self.y[: self.batch_size]"


def told(body: str, end: str = "pass", length: str = LENGTH, making: str = "pass") -> list[dict[str, Any]]:
    text = CLASS.format(body=body.replace("; ", "\n        "), end=end, length=length, making=making)
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.ClassDef)
    return [known for _, known in served_by(node)]


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (FIRST, {}),
        ("xs = [self.x[i] for i in range(self.batch_size)]; return np.array(xs), self.y[: self.batch_size]", {}),
    ],
)
def test_a_batch_that_is_always_the_same(body: str, more: dict[str, str]) -> None:
    assert {"serves": "same"} in told(body, **more)


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (PAIR, {}),
        (FIRST, {"length": "1"}),
        ("rows = self.rng.integers(0, 9, 4); return self.x[rows], self.y[rows]", {}),
        ("rows = pick(self.x); return self.x[rows], self.y[rows]", {}),
        ("self.n += 1; return self.x[self.n :], self.y[self.n :]", {}),
        ("return self.draw(), self.y[: self.batch_size]", {}),
    ],
)
def test_a_batch_that_may_be_another_one(body: str, more: dict[str, str]) -> None:
    assert told(body, **more) == []


@pytest.mark.parametrize("end", ["self.x, self.y = make()", "self.x[:] = make()"])
def test_a_batch_that_is_made_anew_for_each_epoch(end: str) -> None:
    assert told(FIRST, end) == []


@pytest.mark.parametrize(
    ("body", "making", "is_told"),
    [
        (f"return self.x[{ROWS}], self.y[index : index + self.batch_size]", "pass", True),
        (f"a = index * self.batch_size; b = a + self.batch_size; return self.x[a:b], self.y[{ROWS}]", "pass", False),
        ("a = index * self.batch_size; return self.x[a : a + 20], self.y[a + 1 : a + 21]", "pass", False),
        (f"return self.x[{ROWS}], self.y[: self.batch_size]", "pass", True),
        (f"return self.x[{ROWS}], self.ones[: self.batch_size]", "self.ones = np.ones(len(x))", False),
        (f"return self.x[index * 40 : (index + 1) * 40].reshape(20, 2), self.y[{ROWS}]", "pass", False),
        (f"return self.x[{ROWS}], self.y[index * self.batch_size : min((index + 1) * self.batch_size, len(self.y))]",
         "pass", False),
        ("low, high = self.bounds(index); return self.x[low:high], self.y[index:high]", "pass", False),
    ],
)  # fmt: skip
def test_slices_by_other_bounds(body: str, making: str, is_told: bool) -> None:
    assert told(body, making=making) == [{"serves": "apart"}] * is_told


@pytest.mark.parametrize(
    ("end", "moved"),
    [
        ("np.random.shuffle(self.x)", ["self.x"]),
        ("self.rng.shuffle(self.y)", ["self.y"]),
        ("np.random.shuffle(self.rows)", []),
        ("[np.random.seed(1), np.random.shuffle(self.x), np.random.seed(1), np.random.shuffle(self.y)]", []),
    ],
)
def test_one_of_a_pair_that_is_shuffled(end: str, moved: list[str]) -> None:
    assert told(PAIR, end) == [{"moved": one} for one in moved]


def test_targets_that_are_all_alike_may_stay_where_they_are() -> None:
    text = PAIR.replace("self.y", "self.ones")
    assert told(text, "np.random.shuffle(self.x)", making="self.ones = np.ones(len(x))") == []


def test_what_a_fit_trains_on_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    head = "import keras\nimport numpy as np\n"
    path.write_text(
        head
        + CLASS.format(body=FIRST, end="pass", length=LENGTH, making="pass")
        + """
class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        global found
        found = find([__file__])


model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(Rows(np.ones((60, 3)), np.ones((60, 1))), callbacks=[Look()], verbose=0)
"""
    )
    space: dict[str, Any] = {"__name__": "train", "__file__": str(path), "find": find_served}
    exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102 a script of its own
    (found,) = space["found"]
    assert (found["serves"], found["source"]["code"]) == ("same", "def __getitem__(self, index):")


class Ones(keras.utils.PyDataset):
    def __init__(self, n_batches: int) -> None:
        super().__init__()
        self.n_batches = n_batches

    def __len__(self) -> int:
        return self.n_batches

    def __getitem__(self, index: int) -> Any:
        return np.ones((4, 3)), np.ones((4, 1))


WHOLE = tf.data.Dataset.from_tensors((np.ones((4, 3)), np.ones((4, 1))))


@pytest.mark.parametrize(("data", "known"), [(Ones(2), [2]), (Ones(1), []), (WHOLE.repeat(2), [])])
def test_how_many_batches_an_epoch_has(data: Any, known: list[int]) -> None:
    """Of a data set that repeats all it has nothing is known: what is trained on may well be one batch."""
    found: list[dict[str, Any]] = []
    look = keras.callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: found.extend(find_batches()))
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, callbacks=[look], shuffle=False, verbose=0)
    assert [one["batches"] for one in found[:1]] == known
    assert all(one["source"]["code"].startswith("model.fit(") for one in found)
    assert find_batches() == []
