"""A squared error with one target for all samples of a batch: known by a gradient that is a straight line."""

from __future__ import annotations

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N, BATCH = 120, 32
random = np.random.default_rng(0)


def regression(
    targets: np.ndarray,
    predicted: np.ndarray,
    *,
    function: str | None = "linear",
    units: int = 1,
    entered: np.ndarray | None = None,
) -> Run:
    """The statistics of one output and of the slope of its mean squared error; both ``[N, n]``, NaN beyond a batch.

    What enters as targets is known where it is given, ``[N, n]``.
    """
    layers = [("dense_0", 64, "relu"), ("last", units, function)]
    entering = [] if entered is None else [("input", 8), ("target", 1)]
    kernels = [*dense(1), ("last/kernel", (64, units), "float32")]
    run = Run(kernels, n_steps=N, layers=layers, inputs=entering).set_loss(1.0)
    if entered is not None:
        (column,) = run.columns("input", [1])
        for name, reduce in (("mean", np.mean), ("std", np.std), ("min", np.min), ("max", np.max)):
            run.statistics[:, column, COLUMN[name]] = reduce(entered, axis=1)
    slope = 2 * (predicted - targets) / np.sum(np.isfinite(predicted), axis=1, keepdims=True)
    for kind, values in (("activation", predicted), ("backprop", slope)):
        (column,) = run.columns(kind, [1])
        found = run.statistics[:, column]
        found[:, COLUMN["n_elements"]] = np.sum(np.isfinite(values), axis=1)
        for name, reduce in (("mean", np.nanmean), ("std", np.nanstd), ("min", np.nanmin), ("max", np.nanmax)):
            found[:, COLUMN[name]] = reduce(values.astype(np.float32), axis=1)
        found[:, COLUMN["norm"]] = np.sqrt(np.nansum(values**2, axis=1))
    return run


OUTPUTS = random.normal(0.3, 0.2, (N, BATCH))
TARGETS = random.normal(0.0, 1.0, (N, BATCH))
MEANS = TARGETS.mean(axis=1, keepdims=True)


def of_two_sizes() -> np.ndarray:
    """Every tenth batch is smaller."""
    outputs = OUTPUTS.copy()
    outputs[9::10, 20:] = np.nan
    return outputs


@pytest.mark.parametrize("outputs", [OUTPUTS, of_two_sizes(), OUTPUTS + 30], ids=["one size", "two sizes", "far away"])
@pytest.mark.parametrize("batch", [1, 64])
def test_each_output_is_compared_with_every_target(outputs: np.ndarray, batch: int) -> None:
    (found,) = regression(MEANS, outputs).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step, found.layer) == ("loss_plateau", "warning", 0, "last")
    assert found.title == "The loss has acted as if all samples of a batch had one target since step 0"
    assert found.evidence["target_min"] == pytest.approx(MEANS.min(), abs=1e-3)
    assert found.evidence["target_max"] == pytest.approx(MEANS.max(), abs=1e-3)
    assert found.hypotheses[0].cause.startswith("A broadcast compares")


@pytest.mark.parametrize(("targets", "has_own"), [(TARGETS, True), (MEANS, False)], ids=["own", "shared"])
def test_whether_samples_have_targets_of_their_own(targets: np.ndarray, has_own: bool) -> None:
    """Then no broadcast is to blame, though targets are [n] and outputs [n, 1]: Keras' losses make them alike."""
    rule = regression(targets, OUTPUTS).feed()._streams[0].shared_target
    assert rule.has_own_targets == has_own


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(regression(TARGETS, OUTPUTS), id="targets of their own"),
        pytest.param(regression(MEANS + 0.02 * TARGETS, OUTPUTS), id="targets that are nearly the same"),
        pytest.param(regression(np.ones((N, 1)), OUTPUTS), id="one target for all, as of real samples"),
        pytest.param(regression(MEANS, OUTPUTS, function="sigmoid"), id="another function behind it"),
        pytest.param(regression(MEANS, OUTPUTS, units=2), id="several outputs"),
        pytest.param(regression(MEANS, 1.0 + 1e-5 * OUTPUTS), id="outputs that hardly differ"),
    ],
)
def test_what_is_no_sign(healthy: Run) -> None:
    assert not healthy.feed().findings()


REAL_OR_FALSE = np.tile(np.arange(N)[:, None] % 2, (1, BATCH)).astype(np.float64)
"""A judge is shown a batch of real ones and one of false ones in turn."""


@pytest.mark.parametrize(
    ("targets", "entered", "is_told"),
    [(REAL_OR_FALSE[:, :1], REAL_OR_FALSE, False), (MEANS, TARGETS, True)],
    ids=["real ones or false ones", "targets of their own"],
)
def test_batches_that_hold_one_target_say_nothing(targets: np.ndarray, entered: np.ndarray, *, is_told: bool) -> None:
    kinds = [found.kind for found in regression(targets, OUTPUTS, entered=entered).feed().findings()]
    assert kinds == (["loss_plateau"] if is_told else [])


def test_targets_that_get_their_shape_back() -> None:
    targets = np.where(np.arange(N)[:, None] < 80, MEANS, TARGETS)
    (found,) = regression(targets, OUTPUTS).feed().findings()
    assert found.title.endswith("had one target from step 0 to step 79")
