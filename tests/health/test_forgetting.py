"""Classes that come one after another, each forgotten while the next is learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.health.catalogue.play import play, script
from tests.health.streams import COLUMN, Run, dense

N = 240


def run(
    *, n_classes: int = 4, stay: int = 5, leap: float = 3.0, end: float = 0.2, n_samples: int = 16, **more: Any
) -> Run:
    """Each class stays for some batches, in which its loss comes down from a leap."""
    sick = Run(dense(2), n_steps=N, inputs=[("target/y", 1)], **more)
    label = np.arange(N) // stay % n_classes
    (column,) = sick.columns("input")
    sick.statistics[:, column] = 0
    for name in ("min", "max", "mean"):
        sick.statistics[:, column, COLUMN[name]] = label
    sick.statistics[:, column, COLUMN["n_elements"]] = n_samples
    return sick.set_loss(np.tile(np.geomspace(leap, end, stay), N // stay + 1)[:N])


def with_columns(sick: Run, **values: Any) -> Run:
    """The targets' statistics replaced."""
    (column,) = sick.columns("input")
    for name, value in values.items():
        sick.statistics[:, column, COLUMN[name]] = value
    return sick


@pytest.mark.parametrize("batch", [1, 64])
def test_is_told(batch: int) -> None:
    (found,) = run().feed(batch=batch).findings()
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.first_step == 20, "the first class comes again"
    assert found.title.startswith("Each class is forgotten while another is learned: the loss leaps to about 3 ")
    assert found.evidence["leap"] == pytest.approx(3.0)
    assert found.evidence["learned"] == pytest.approx(0.2)
    assert found.evidence["n_classes"] == 4
    assert found.hypotheses[0].cause == "The data come in order: almost every batch holds a single class"


def test_is_told_of_stretches_that_are_looked_at() -> None:
    """The governor takes full rows for some steps on end, and then seldom."""
    sick = run()
    (column,) = sick.columns("input")
    seldom = np.arange(N) % 40 >= 30
    sick.statistics[seldom, column] = np.nan
    assert [found.kind for found in sick.feed().findings()] == ["loss_plateau"]


def test_is_over_when_nothing_leaps_any_more() -> None:
    sick = run()
    loss = sick.scalars[:, 0]
    loss[120:] = 0.1
    (found,) = sick.set_loss(loss).feed().findings()
    assert found.title == "Each class was forgotten while another was learned, until step 139"


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(run(leap=1.2), id="what is well known does not leap"),
        pytest.param(run(end=2.5), id="nothing is learned in between"),
        pytest.param(run(stay=1), id="two sides in turn"),
        pytest.param(run(n_classes=48), id="every class comes once"),
        pytest.param(run(n_samples=2), id="too few samples for an order"),
        pytest.param(with_columns(run(), max=9.0), id="batches of several classes"),
        pytest.param(with_columns(run(), min=0.5, max=0.5), id="targets that are no classes"),
        pytest.param(run().thin(4), id="looked at too seldom to know"),
    ],
)
def test_is_silent(healthy: Run) -> None:
    assert not healthy.feed().findings()


SCRIPT = """
import keras, numpy as np
import gradwatch

random = np.random.default_rng(0)
y = np.sort(random.integers(0, 4, 2400)) if SORTED else random.integers(0, 4, 2400)
x = 0.5 * random.normal(size=(4, 20))[y] + random.normal(size=(2400, 20))
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(4)])
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=6, shuffle=False, verbose=0)
"""


@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_real_one(is_sorted: bool, tmp_path: Path) -> None:
    path = tmp_path / "order.py"
    path.write_text(SCRIPT.replace("SORTED", str(is_sorted)))
    found = play(script(path)).findings
    assert [one.kind for one in found] == (["loss_plateau"] if is_sorted else [])
    assert all(one.hypotheses[0].cause.startswith("The data come in order") for one in found)
