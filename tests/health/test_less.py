"""Layers that let next to nothing through, kernels that get next to nothing, statistics that nothing goes into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import BATCH, COLUMN, Run, dense

N = 320
LAYERS = [("dense_0", 64, "relu"), ("dropout", 64, None), ("dense_1", 32, None)]


def run(**options: Any) -> Run:
    return Run(dense(3), **{"n_steps": N, **options})


# -- dropout ----------------------------------------------------------------------------------------------------------


def dropping(kept: float, *, scale: float | None = None, **options: Any) -> Run:
    """A layer whose output keeps a share of the elements, scaled up so that their sum stays (or by another factor)."""
    sick = run(layers=LAYERS, **options)
    given, left = (sick.columns("activation", [place])[0] for place in (0, 1))
    random = np.random.default_rng(0)
    n_given = BATCH * 64 - sick.statistics[:, given, COLUMN["n_zero"]]
    shares = np.clip(kept * np.exp(0.05 * random.standard_normal(N)), 0, 1)
    sick.statistics[:, left, COLUMN["n_zero"]] = BATCH * 64 - np.round(n_given * shares)
    factor = 1 / kept if scale is None else scale
    sick.statistics[:, left, COLUMN["norm"]] = sick.statistics[:, given, COLUMN["norm"]] * factor * np.sqrt(shares)
    return sick


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 5])
def test_a_dropout_of_what_was_to_be_kept(batch: int, every: int) -> None:
    (found,) = dropping(0.05).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.layer, found.first_step) == ("dead_units", "warning", "dropout", 0)
    assert found.title.startswith("dropout lets through ")
    assert found.evidence["kept"] == pytest.approx(0.05, rel=0.2)
    assert found.hypotheses[0].cause.startswith("The dropout rate is too high")


@pytest.mark.parametrize(
    "well",
    [dropping(0.3), dropping(1.0), dropping(0.05, scale=1.0), dropping(0.05, scale=0.1)],
    ids=["much dropout", "none", "a mask that takes out most", "a sparse code"],
)
def test_layers_that_take_out_less_or_otherwise(well: Run) -> None:
    assert not well.feed().findings()


def test_a_dropout_that_was_lowered() -> None:
    sick, well = dropping(0.05), dropping(0.5)
    sick.statistics[200:] = well.statistics[200:]
    (found,) = sick.feed().findings()
    assert found.title.endswith("until step 200")


# -- kernels that get nothing -----------------------------------------------------------------------------------------


def starving(which: list[int], ratio: float = 1e-7, **options: Any) -> Run:
    return run(**options).scale("update", ratio / 1e-3, which)


@pytest.mark.parametrize("batch", [1, 64])
def test_a_kernel_that_hardly_moves_while_the_others_do(batch: int) -> None:
    (found,) = starving([4]).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.layer, found.first_step) == (
        "vanishing_gradient",
        "warning",
        "dense_2",
        0,
    )
    assert found.title.startswith("The kernel of dense_2 hardly moves while the others do")
    assert found.evidence["starved_ratio"] < 1e-6 < found.evidence["usual_ratio"]
    assert found.hypotheses[0].cause.startswith("Terms of the loss of very different size")
    assert "learning rate" in found.hypotheses[0].why


def test_clipping_is_named_where_it_acts() -> None:
    sick = starving([4])
    sick.scalars[:, 5], sick.present[:, 5] = 0.01 * sick.scalars[:, 2], True
    titles = [found.title for found in sick.feed().findings()]
    assert any("hardly moves while the others do" in title for title in titles), titles


def test_kernels_that_are_slow_for_another_reason() -> None:
    assert not starving([4], 3e-5).feed().findings(), "slow, but on its way"
    assert not starving([0, 2, 4]).set_loss(2.3 * np.exp(-np.arange(N) / 30.0)).feed().findings(), "all of them"
    assert not starving([4], n_steps=150).feed().findings(), "not for long"
    woken = run().scale("update", np.where(np.arange(N) < 150, 1e-4, 1.0), [4])
    assert not woken.feed().findings(), "it has moved since"
    sparse = starving([4])
    gradient = sparse.columns("gradient", [4])[0]
    sparse.statistics[:, gradient, COLUMN["n_zero"]] = 0.9 * sparse.statistics[:, gradient, COLUMN["n_elements"]]
    assert not sparse.feed().findings(), "an embedding"


# -- running statistics -----------------------------------------------------------------------------------------------


def normalised(*, start: int = N, is_trained: bool = True) -> Run:
    """A layer with a running mean of 0 and variance of 1, into which batches go from some step on."""
    own = [("norm/gamma", (64,), "float32"), ("norm/beta", (64,), "float32")] if is_trained else []
    states = [("norm/moving_mean", (64,), "float32"), ("norm/moving_variance", (64,), "float32")]
    sick = Run([*dense(2), *own, *states], n_steps=N)
    n = len(sick.variables)
    kept = [n + n - 2, n + n - 1]
    for column, value in zip(kept, (0.0, 1.0), strict=True):
        drift = np.where(np.arange(N) < start, 0.0, 0.01 * (np.arange(N) - start))
        for name, numbers in {"min": value + drift, "max": value + 2 * drift, "mean": value + drift}.items():
            sick.statistics[:, column, COLUMN[name]] = numbers
        sick.statistics[:, column, COLUMN["norm"]] = 8 * (value + drift)
        sick.statistics[:, column, COLUMN["std"]] = drift
    # What nothing is the gradient of is no gradient in the table.
    keep = [i for i in range(len(sick.tensors)) if i not in (n - 2, n - 1, 3 * n - 2, 3 * n - 1)]
    sick.tensors = [sick.tensors[i] for i in keep]
    sick.statistics = sick.statistics[:, keep]
    return sick


@pytest.mark.parametrize("batch", [1, 64])
def test_normalisation_that_no_batch_goes_into(batch: int) -> None:
    (found,) = normalised().feed(batch=batch).findings()
    assert (found.kind, found.severity, found.layer, found.first_step) == ("loss_plateau", "warning", "norm", 0)
    assert found.title == f"norm normalises nothing: in {N} steps no batch has gone into its statistics"
    assert "whose `call` has no argument `training`" in found.hypotheses[0].why
    assert "def call(self, inputs, training=False)" in found.hypotheses[0].code
    assert "training=True" in found.hypotheses[0].cause


def test_normalisation_that_is_fed_or_frozen() -> None:
    assert not normalised(start=1).feed().findings()
    assert not normalised(start=80).feed().findings()
    assert not normalised(is_trained=False).feed().findings()


def test_normalisation_that_is_fed_at_last() -> None:
    (found,) = normalised(start=200).feed().findings()
    assert found.title == "norm normalised nothing until step 201"


def averaged(
    momentum: float, *, mean: float = 0.0, variance: float = 100.0, passes: int = 1, n: int = N, made: float = 1.0
) -> Run:
    """A layer whose batches have such a mean and variance in every unit, and averages that begin at 0 and 1."""
    sick = normalised()
    states = [tensor for tensor in sick.tensors if "moving" in tensor["tensor"]]
    for tensor, (start, value) in zip(states, [(0.0, mean), (made, variance)], strict=True):
        left = momentum ** (passes * (1 + np.arange(N)))
        level = left * start + (1 - left) * value
        for name, factor in {"min": 1, "max": 1, "mean": 1, "norm": 8}.items():
            sick.statistics[:, sick.tensors.index(tensor), COLUMN[name]] = factor * level
        tensor["momentum"] = momentum
    for part in ("steps", "statistics", "scalars", "present", "operation_rows"):
        setattr(sick, part, getattr(sick, part)[:n])
    return sick


def at_the_end(sick: Run, batch: int = 64) -> list[Finding]:
    engine = sick.feed(batch=batch)
    assert not engine.findings(), "before the end they may arrive yet"
    engine.finish()
    return engine.findings()


def test_running_statistics_of_a_broken_training_say_nothing() -> None:
    sick = averaged(0.9999)
    sick.statistics[20:, sick.columns("gradient", [0])[0], COLUMN["n_nan"]] = 64.0
    engine = sick.feed()
    engine.finish()
    assert not [found for found in engine.findings() if "running statistics" in found.title]


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 7])
def test_running_statistics_that_never_arrive(batch: int, every: int) -> None:
    (found,) = at_the_end(averaged(0.9999).thin(every), batch)
    assert (found.kind, found.severity, found.layer, found.first_step) == ("loss_plateau", "warning", "norm", 0)
    assert found.title == (
        "The running statistics of norm are still near their initial values: evaluation differs from training"
    )
    left = 0.9999**N
    factor = np.sqrt((left + (1 - left) * 100) / 100)
    assert found.evidence["deviation_factor"] == pytest.approx(factor, rel=0.01)
    assert found.evidence["initial_share"] == pytest.approx(left, rel=0.01)
    assert found.hypotheses[0].cause == "The momentum of the batch normalisation is too high for so few steps"
    assert "layers.BatchNormalization(momentum=0.98)" in str(found.hypotheses[0].code)


def test_running_statistics_that_are_mostly_what_they_were_made_with() -> None:
    """Of several layers it is enough that each is off a little; N steps leave 0.93 of it, or less than half."""
    (found,) = at_the_end(averaged(0.9997, variance=3.0))
    assert "divides by a standard deviation 1.59 times smaller" in found.evidence["summary"]
    assert not at_the_end(averaged(0.5 ** (1.05 / N), mean=3.0, variance=4.0))


def test_a_running_mean_that_never_arrives() -> None:
    (found,) = at_the_end(averaged(0.999, mean=6.0, variance=4.0))
    left = 0.999**N
    assert found.evidence["mean_shift"] == pytest.approx(left * 6 / 2, rel=0.01)
    assert f"subtracts a mean that is off by {left * 3:.2f} standard deviations" in found.evidence["summary"]


@pytest.mark.parametrize(
    "well",
    [
        averaged(0.99),
        averaged(0.9),
        averaged(0.9999, variance=1.5),
        averaged(0.999, mean=0.5, variance=1.0),
        averaged(0.999, passes=8),
        averaged(0.9999, n=40),
        averaged(0.9999, made=0.2),
        averaged(0.999, variance=0.004, made=0.26),
        normalised(start=1),
    ],
    ids=[
        "arrived",
        "soon",
        "near from the start",
        "a small mean",
        "several batches a step",
        "a trial",
        "trained before",
        "trained on others",
        "no momentum known",
    ],
)
def test_running_statistics_that_arrive_or_are_near(well: Run) -> None:
    assert not at_the_end(well)


def of_last_batch(momentum: float, noise: float) -> Run:
    """A layer of which each batch gives another variance, and the average keeps a share of what it was."""
    sick, given = averaged(momentum), np.exp(np.random.default_rng(0).normal(0, noise, N))
    (variance,) = [i for i, one in enumerate(sick.tensors) if "moving_variance" in one["tensor"]]
    level = 1.0
    for step in range(N):
        level = momentum * level + (1 - momentum) * given[step]
        for name, factor in {"min": 1, "max": 1, "mean": 1, "norm": 8}.items():
            sick.statistics[step, variance, COLUMN[name]] = factor * level
    return sick


@pytest.mark.parametrize("every", [1, 7])
def test_running_statistics_that_are_those_of_the_last_batch(every: int) -> None:
    (found,) = of_last_batch(0.1, 0.1).thin(every).feed().findings()
    assert (found.kind, found.severity, found.layer) == ("loss_plateau", "warning", "norm")
    assert found.title == "Evaluation normalises by the last batch: 90% of the running statistics of norm are its own"
    # Of normal numbers a difference has a median of 0.95 deviations, and a deviation is half a variance's logarithm.
    assert found.evidence["median_jump"] == pytest.approx(
        0.95 * 0.9 * 0.1 / 2, rel=0.3
    )  # of differences of normal numbers
    assert "PyTorch" in found.hypotheses[0].cause
    assert "0.9," in found.hypotheses[0].fix


@pytest.mark.parametrize(("momentum", "noise"), [(0.9, 0.3), (0.5, 0.3), (0.1, 0.005)])
def test_running_statistics_that_are_averages_or_the_same_in_every_batch(momentum: float, noise: float) -> None:
    assert not of_last_batch(momentum, noise).feed().findings()


def test_a_validation_loss_comes_of_running_statistics() -> None:
    sick = averaged(0.9999).set_loss(2.3 * np.exp(-np.arange(N) / 100.0))
    engine = sick.feed()
    engine.feed_scalar("val_loss", np.array([79, 159, 239, 319]), np.array([2.4, 2.5, 2.4, 2.6]))
    before = [found.title for found in engine.findings()]
    engine.finish()
    (found,) = engine.findings()
    assert found.title.startswith("The running statistics of norm are still near"), before


# -- gradients that fade by less --------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 64])
def test_gradients_that_fade_by_less_and_a_loss_that_stays(batch: int) -> None:
    def fading(loss: float | np.ndarray) -> Run:
        return Run(dense(8), n_steps=N).set_loss(loss).scale("gradient", 1e-3, range(4))

    (found,) = fading(2.3).feed(batch=batch).findings()
    assert (found.kind, found.layer) == ("vanishing_gradient", "dense_0")
    assert not fading(2.3 * np.exp(-np.arange(N) / 150.0)).feed(batch=batch).findings(), "it comes down"


@pytest.mark.parametrize(
    ("functions", "confidence"),
    [
        pytest.param(["sigmoid"] * 7, 0.9, id="sigmoids"),
        pytest.param(["sigmoid"] * 3 + ["relu"] * 4, 0.6, id="gates among others"),
        pytest.param(["tanh"] * 7, 0.6, id="tanh"),
        pytest.param(["relu"] * 7, 0.15, id="no ends"),
        pytest.param(["relu"] * 6 + [None], 0.6, id="one is not known"),
    ],
)
def test_of_functions_that_are_known_it_is_said_how_likely_they_saturate(
    functions: list[str | None], confidence: float
) -> None:
    layers = [(f"dense_{n}", 64, function) for n, function in enumerate([*functions, None])]
    fading = Run(dense(8), n_steps=N, layers=layers).set_loss(2.3).scale("gradient", 1e-3, range(4))
    (found,) = [one for one in fading.feed().findings() if one.kind == "vanishing_gradient"]
    (one,) = [one for one in found.hypotheses if one.cause == "Saturating activations through many layers"]
    assert one.confidence == confidence
    assert ("Here 7 layers end in a sigmoid, which together leave 6.1e-05 at most" in one.why) == (confidence == 0.9)


def averaged_together(n_layers: int, momentum: float = 0.99, variance: float = 0.015) -> Run:
    """Layers whose batches vary by little, of which the averages began at a variance of 1; its loss falls."""
    paths = [f"norm_{layer}" for layer in range(n_layers)]
    names = ("gamma", "beta", "moving_mean", "moving_variance")
    sick = Run([*dense(2), *((f"{path}/{name}", (64,), "float32") for path in paths for name in names)], n_steps=N)
    left = momentum ** (1 + np.arange(N))
    for place, tensor in enumerate(sick.tensors):
        if "moving" not in tensor["tensor"]:
            continue
        level = left + (1 - left) * variance if "variance" in tensor["tensor"] else np.zeros(N)
        for name, factor in {"min": 1, "max": 1, "mean": 1, "norm": 8}.items():
            sick.statistics[:, place, COLUMN[name]] = factor * level
        if tensor["kind"] == "weight":
            tensor["momentum"] = momentum
        else:
            tensor["kind"] = "other"
    kept = [place for place, tensor in enumerate(sick.tensors) if tensor["kind"] != "other"]
    sick.tensors = [sick.tensors[place] for place in kept]
    sick.statistics = sick.statistics[:, kept]
    return sick.set_loss(2.3 * np.exp(-np.arange(N) / 100.0))


def validated(sick: Run, losses: list[float]) -> list[str]:
    engine = sick.feed()
    engine.feed_scalar("val_loss", np.array([79, 159, 239, 319]), np.array(losses))
    engine.finish()
    return [found.title for found in engine.findings()]


UNLEARNED = [2.4, 2.5, 2.4, 2.6]
RISEN = [1.0, 0.6, 0.7, 1.1]


@pytest.mark.parametrize("losses", [UNLEARNED, RISEN])
def test_running_variances_that_together_make_another_network(losses: list[float]) -> None:
    """A hundredth of a variance of 1 is much beside a small one, and three layers have it one behind another."""
    engine = averaged_together(3).feed()
    engine.feed_scalar("val_loss", np.array([79, 159, 239, 319]), np.array(losses))
    engine.finish()
    (found,) = engine.findings()
    assert found.title == (
        "Much of the running variance of norm_0 (and of 2 more layers) is still its initial value: evaluation differs "
        "from training"
    )
    left = 0.99**N
    assert f"that is {left / (left + 0.015 * (1 - left)):.0%} of the running variance" in found.evidence["summary"]
    assert found.hypotheses[0].cause == "The momentum of the batch normalisation is too high for so few steps"


@pytest.mark.parametrize(
    ("well", "losses"),
    [
        (averaged_together(3), [2.0, 1.5, 1.0, 0.8]),
        (averaged_together(3), [2.0, 1.0, 0.6, 0.63]),
        (averaged_together(1, variance=0.02), UNLEARNED),
        (averaged_together(3, variance=0.5), UNLEARNED),
        (averaged_together(3, momentum=0.9), UNLEARNED),
    ],
    ids=["the validation is well", "it scatters", "one layer", "batches that vary", "soon forgotten"],
)
def test_running_variances_that_are_still_a_little_of_what_they_were(well: Run, losses: list[float]) -> None:
    assert not [title for title in validated(well, losses) if "running variance" in title]
