"""Depth that makes samples alike as it was made, told where little is learned for want of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N = 400
LEVEL = np.linspace(1.4, 1.0, N)
FALLING = 0.6 * 0.5 ** np.arange(12)
"""From layer to layer half as far apart: 3e-4 behind the twelfth."""


def deep(distances: np.ndarray = FALLING, loss: object = LEVEL, *, torn_at: int = 40, n_steps: int = N) -> Run:
    """A stack of layers whose samples are this far apart as they were made, and as usual from a step on."""
    layers = [(f"conv_{place}", 16, None) for place in range(len(distances))]
    run = Run(dense(3), n_steps=n_steps, layers=[*layers, ("head", 4, None)]).set_loss(loss)
    columns = run.columns("activation", list(range(len(distances))))
    run.statistics[:torn_at, columns, COLUMN["cosine_distance"]] = distances
    return run


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 10])
def test_samples_that_become_alike_with_depth(batch: int, every: int) -> None:
    (found,) = deep().thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.layer, found.first_step) == ("dead_units", "warning", "conv_11", 0)
    assert found.title.startswith("Layer after layer the samples become alike: behind conv_11 nothing told them apart")
    assert found.evidence["distance_first"] == pytest.approx(0.6)
    assert found.evidence["n_layers"] == 12
    assert "over-smoothing" in found.hypotheses[0].cause
    assert "h = conv(h) + h" in found.hypotheses[0].code


@pytest.mark.parametrize(
    "run",
    [
        deep(loss=np.linspace(1.4, 0.2, N)),
        deep(FALLING[:6]),
        deep(0.6 * 0.7 ** np.arange(12)),
        deep(np.full(12, 1e-3)),
        deep(np.where(np.arange(12) < 11, 0.6, 1e-4)),
        deep(FALLING[::-1]),
        deep(loss=np.linspace(1.4, 1.3, 250), n_steps=250),
    ],
    ids=["learned", "few", "a plain stack", "all alike", "the last alone", "apart at the end", "too soon"],
)
def test_other_layers_are_none(run: Run) -> None:
    assert not [one for one in run.feed().findings() if one.title.startswith("Layer after layer")]


@pytest.mark.parametrize(("function", "is_told"), [("relu", True), ("tanh", True), ("sigmoid", False)])
def test_of_sigmoids_it_is_the_gradient_that_is_told(function: str, is_told: bool) -> None:
    layers = [(f"unit_{place}", 16, function if place % 2 else "linear") for place in range(12)]
    run = Run(dense(3), n_steps=N, layers=[*layers, ("head", 4, None)]).set_loss(LEVEL)
    run.statistics[:40, run.columns("activation", list(range(12))), COLUMN["cosine_distance"]] = FALLING
    titles = [one.title for one in run.feed().findings()]
    assert any(one.startswith("Layer after layer") for one in titles) == is_told


def test_outputs_that_stay_alike_are_its_consequence() -> None:
    """They are not told beside it."""
    told = [one.title for one in deep(torn_at=N).feed().findings()]
    assert len(told) == 1
    assert told[0].startswith("Layer after layer")
