"""Recurrent cells of which most gates have no slope left: told of by their biases, and of no other layer's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.health.catalogue.play import play, script
from tests.health.streams import COLUMN, Run

N = 240
CELLS = {
    "lstm": [("lstm/kernel", (4, 160)), ("lstm/recurrent_kernel", (40, 160)), ("lstm/bias", (160,))],
    "gru": [("gru/kernel", (4, 120)), ("gru/recurrent_kernel", (40, 120)), ("gru/bias", (2, 120))],
    "no gates": [("rnn/kernel", (4, 40)), ("rnn/recurrent_kernel", (40, 40)), ("rnn/bias", (40,))],
    "dense": [("dense_1/kernel", (4, 160)), ("dense_1/bias", (160,))],
}
HEAD = [("dense/kernel", (40, 1)), ("dense/bias", (1,))]


def run(cell: str = "lstm", *, share: float = 0.8, rows: slice = slice(None), largest: float = 1000.0) -> Run:
    """A cell of which so much of the bias has no gradient in some of the rows."""
    variables = [(*one, "float32") for one in CELLS[cell] + HEAD]
    sick = Run(variables, n_steps=N, inputs=[("input", 4)]).set_loss(2.0)
    column = sick.columns("gradient", [len(CELLS[cell]) - 1])[0]
    sick.statistics[rows, column, COLUMN["n_zero"]] = share * sick.statistics[rows, column, COLUMN["n_elements"]]
    sick.statistics[:, sick.columns("input", [0]), COLUMN["max"]] = largest
    return sick


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 8])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gates_without_a_slope(cell: str, batch: int, every: int) -> None:
    (found,) = run(cell).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("saturated_activation", "warning", 0)

    assert found.title == f"80% of the gates of {cell} have been stuck since step 0: no slope is left"
    assert (found.layer, found.tensor) == (cell, f"{cell}/bias")
    assert found.evidence["share"] == pytest.approx(0.8, rel=1e-5)
    assert found.hypotheses[0].cause == "The inputs are not scaled"


def test_inputs_of_the_usual_size_are_not_to_blame() -> None:
    (found,) = run(largest=1.0).feed().findings()
    assert found.hypotheses[0].cause == "What lstm is given, or its weights, are too large"


def test_gates_that_came_free() -> None:
    (found,) = run(rows=slice(0, 150)).feed().findings()
    assert found.title == "80% of the gates of lstm were stuck until step 150"


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(run(share=0.3), id="a few units that are not used"),
        pytest.param(run("no gates"), id="units that may be a dead relu's"),
        pytest.param(run("dense"), id="another layer"),
        pytest.param(run(rows=slice(0, 40)), id="for some steps"),
        pytest.param(run(rows=slice(0, None, 2)), id="in every other step"),
        pytest.param(run().set_loss(np.geomspace(2.0, 1e-3, N)), id="a task that is learned all the same"),
    ],
)
def test_is_silent(healthy: Run) -> None:
    assert not healthy.feed().findings()


SCRIPT = """
import keras, numpy as np
import gradwatch

random = np.random.default_rng(0)
x = random.normal([280, 1013, 0.5, 60], [8, 9, 0.3, 40], size=(1024, 12, 4)).astype("float32")
y = (x[:, -6:, 0].mean(axis=1, keepdims=True) - 280) / 3 + (x[:, -3:, 1].mean(axis=1, keepdims=True) - 1013) / 5
{scale}
model = keras.Sequential([keras.Input((12, 4)), keras.layers.{cell}(16), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=8, verbose=0)
"""
SCALE = "x = (x - x.mean(axis=(0, 1))) / x.std(axis=(0, 1))"


@pytest.mark.parametrize(("cell", "scale"), [("LSTM", ""), ("GRU", ""), ("LSTM", SCALE)])
def test_a_real_training(tmp_path: Path, cell: str, scale: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.format(cell=cell, scale=scale))
    found: list[Any] = [one for one in play(script(path)).findings if one.kind == "saturated_activation"]
    assert [one.hypotheses[0].cause for one in found] == ([] if scale else ["The inputs are not scaled"])
