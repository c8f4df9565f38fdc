"""Samples of which the loss takes nothing are told where a loss of scores would take something of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N, UNITS, BATCH = 200, 7, 32
LOSS = 9.0 * np.exp(-np.arange(N) / 20.0) + 1.3


def classifier(
    share: float,
    *,
    start: int = 40,
    function: str | None = "linear",
    units: int = UNITS,
    inputs: Any = (("target", 1),),
) -> Run:
    """From a step on the loss takes nothing of a share of the samples."""
    layers = [("dense_0", 64, "relu"), ("last", units, function)]
    run = Run([*dense(1), ("last/kernel", (64, units), "float32")], n_steps=N, layers=layers, inputs=list(inputs))
    target = run.columns("input")[0]
    run.tensors[int(target)] |= {"tensor": "target", "dtype": "int64"}
    output, signal = (int(run.columns(kind, [1])[0]) for kind in ("activation", "backprop"))
    run.statistics[:, [output, signal], COLUMN["n_elements"]] = BATCH * units
    run.statistics[:, output, [COLUMN["min"], COLUMN["max"]]] = -1.6, 0.5
    run.statistics[:, signal, COLUMN["n_zero"]] = 0
    run.statistics[start:, signal, COLUMN["n_zero"]] = units * BATCH * share
    return run.set_loss(LOSS)


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 4])
def test_a_loss_that_takes_scores_for_probabilities(batch: int, every: int) -> None:
    (found,) = classifier(0.95).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step, found.layer) == ("zero_gradient", "warning", 40, "last")
    # Of the rest of the elements each may be another sample's.
    assert found.title == "65 % of the samples get no gradient at all from the loss since step 40"
    assert found.evidence["share"] == pytest.approx(1 - 0.05 * UNITS)
    assert (found.evidence["output_min"], found.evidence["output_max"]) == pytest.approx((-1.6, 0.5))
    assert found.hypotheses[0].cause.startswith("`from_logits=True` is missing")


def done() -> Run:
    return classifier(0.95).set_loss(9.0 * np.exp(-np.arange(N) / 10.0))


def above_zero() -> Run:
    run = classifier(0.95)
    run.statistics[:, run.columns("activation", [1]), COLUMN["min"]] = 0.1
    return run


def without_classes() -> Run:
    run = classifier(0.95)
    run.tensors[int(run.columns("input")[0])]["dtype"] = "float32"
    return run


def of_some(role: str, n_left_out: int, shape: tuple[int, ...] = (), **options: Any) -> Run:
    """A loss that takes nothing of a few samples more than have a weight of 0."""
    run = classifier(0.95, inputs=[("target", 1), (role, 1)], **options)
    column = run.columns("input")[1]
    run.tensors[int(column)] |= {"tensor": role, "shape": [None, *shape]}
    run.statistics[:, column, COLUMN["n_elements"]] = BATCH
    run.statistics[:, column, COLUMN["n_zero"]] = n_left_out
    return run


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(of_some("input/1", 30, (1,)), id="a column of features"),
        pytest.param(of_some("sample_weight", 0), id="all weighed"),
        pytest.param(of_some("sample_weight", BATCH), id="a batch without weights says nothing"),
        pytest.param(of_some("sample_weight", 5), id="others too"),
    ],
)
def test_weights_that_are_no_reason(run: Run) -> None:
    assert [one.kind for one in run.feed().findings()] == ["zero_gradient"]


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(of_some("sample_weight", 30), id="most samples have no weight"),
        pytest.param(of_some("input/1", 30), id="a mask beside the inputs"),
        pytest.param(classifier(0.0), id="every sample is heard"),
        pytest.param(classifier(1 - 1 / UNITS), id="one output of each sample"),
        pytest.param(classifier(0.95, start=160), id="not for long"),
        pytest.param(classifier(0.95, function="softmax"), id="probabilities"),
        pytest.param(classifier(0.95, units=2), id="two classes"),
        pytest.param(done(), id="nothing is left to learn"),
        pytest.param(above_zero(), id="nothing below 0"),
        pytest.param(without_classes(), id="targets that are no classes"),
    ],
)
def test_what_is_well(healthy: Run) -> None:
    assert not healthy.feed().findings()


def test_samples_that_are_heard_again() -> None:
    sick = classifier(0.95)
    sick.statistics[150:, sick.columns("backprop", [1]), COLUMN["n_zero"]] = 0
    (found,) = sick.feed().findings()
    assert found.title == "65 % of the samples got no gradient at all from the loss from step 40 to step 150"


CAP = {
    "type": "Minimum",
    "name": "Minimum",
    "layer": "",
    "source": {"file": "/home/me/train.py", "line": 24, "code": "tf.minimum(nll, 3.0)"},
    "limit": 3.0,
}


@pytest.mark.parametrize("units", [1, UNITS])
def test_samples_beyond_a_cap_on_the_loss(units: int) -> None:
    """A seventh of the samples: few enough for a loss of scores to be none, were it not for the cap."""
    run = classifier(0.14, units=units)
    run.slips = [CAP]
    (found,) = run.feed().findings()
    assert found.title == "14 % of the samples get no gradient at all from the loss since step 40"
    assert found.source is not None
    assert found.source["line"] == 24
    assert found.hypotheses[0].cause == "A cap on the loss gives up the samples that are furthest off (train.py:24)"
    assert "more than 3" in found.hypotheses[0].why


def test_a_cap_that_hardly_a_sample_reaches() -> None:
    run = classifier(0.03)
    run.slips = [CAP]
    assert not run.feed().findings()
