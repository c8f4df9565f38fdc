"""Rates that throw the weights away in the first steps, rates that hardly move them, and losses that are flat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwatch_server.health.episode import Faint, Flat, Phase, Rate, Zero
from gradwatch_server.health.incident import assemble
from gradwatch_server.health.series import Series
from tests.health.streams import COLUMN, Run, dense

N = 400
FIRST = np.where(np.arange(N) < 10, 400.0 / (1 + np.arange(N)), 5.0)
"""Updates of 0.4 of the weights, then less and less: the first ten are 1.2 times the weights."""


def run(**options: Any) -> Run:
    return Run(dense(4), n_steps=N, **options).set_loss(2.3)


@pytest.mark.parametrize("batch", [1, 64])
def test_first_updates_that_replace_the_weights(batch: int) -> None:
    (found,) = run().scale("update", FIRST).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("lr_too_high", "warning", 0)
    assert found.title.startswith("The first updates replaced the weights, and the loss has hardly come down since")
    assert found.evidence["summary"].startswith("The first 10 updates were 1")
    assert found.hypotheses[0].cause == "The learning rate is too high"
    assert 0.1 < found.evidence["ratio"] < 0.15


@pytest.mark.parametrize(("largest", "is_first"), [(2.8e4, True), (15.0, False), (3.0, None)])
def test_inputs_that_are_not_scaled_make_first_updates_large(largest: float, is_first: bool | None) -> None:
    sick = run(inputs=[("input", 8)]).scale("update", FIRST)
    sick.statistics[:, sick.columns("input", [0])[0], COLUMN["max"]] = largest
    (found,) = [one for one in sick.feed().findings() if one.kind == "lr_too_high"]
    causes = [one.cause for one in found.hypotheses]
    expected = {True: 0, False: 1, None: -1}[is_first]
    assert (causes.index("The inputs are not scaled") if "The inputs are not scaled" in causes else -1) == expected
    assert "The learning rate is too high" in causes


@pytest.mark.parametrize("batch", [1, 64])
def test_first_updates_of_which_only_some_were_looked_at(batch: int) -> None:
    sick = run().scale("update", np.geomspace(900.0, 5.0, N)).thin(15)
    (found,) = sick.feed(batch=batch).findings()
    assert (found.kind, found.first_step) == ("lr_too_high", 0)
    assert found.evidence["summary"].startswith("10 of the first 136 updates were")


def test_a_loss_that_was_thrown_up_is_compared_with_what_it_was_before() -> None:
    loss = np.where(np.arange(N) < 60, 40.0, 2.3)
    loss[0] = 2.3
    assert [one.kind for one in run().set_loss(loss).scale("update", FIRST).feed().findings()] == ["lr_too_high"]


@pytest.mark.parametrize(("level", "is_told"), [(1.4, True), (0.9, False)])
def test_a_loss_that_was_thrown_up_must_come_down_to_half_of_what_it_was(level: float, is_told: bool) -> None:
    loss = np.where(np.arange(N) < 30, 20.0, level)
    loss[0] = 2.3
    assert bool(run().set_loss(loss).scale("update", FIRST).feed().findings()) == is_told


@pytest.mark.parametrize(("level", "falls"), [(2.3, "does not fall"), (1.4, "hardly falls")])
def test_large_updates_say_what_became_of_the_loss(level: float, falls: str) -> None:
    loss = np.where(np.arange(N) < 30, 20.0, level)
    loss[0] = 2.3
    (found,) = run().set_loss(loss).scale("update", 200.0).feed().findings()
    assert f"the loss {falls}: the learning rate looks too high" in found.title
    assert f"The loss was 2.3 before, and {level:g} (median of 20) by step" in found.evidence["summary"]


def from_zero() -> Run:
    """The first update is all that the weights are, as where kernels begin at 0, and with FTRL."""
    healthy = run().scale("update", FIRST)
    healthy.statistics[0, healthy.columns("weight")] = healthy.statistics[0, healthy.columns("update")]
    return healthy


def one_from_zero(n: int) -> Run:
    """So do some kernels alone, such as an embedding; the others' updates are small."""
    places = list(range(0, 2 * n, 2))
    healthy = run().scale("update", FIRST, places)
    healthy.statistics[0, healthy.columns("weight", places)] = healthy.statistics[0, healthy.columns("update", places)]
    return healthy


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(run().scale("update", FIRST).set_loss(np.geomspace(2.3, 0.3, N)), id="the loss falls"),
        pytest.param(run().scale("update", FIRST / 2), id="half of that"),
        pytest.param(run().scale("update", FIRST).set_loss(-2.3), id="a reward"),
        pytest.param(from_zero(), id="weights that began at 0"),
        pytest.param(one_from_zero(3), id="most weights that began at 0"),
    ],
)
def test_first_updates_that_are_well(healthy: Run) -> None:
    assert not healthy.feed().findings()


@pytest.mark.parametrize("every", [1, 20])
@pytest.mark.parametrize("batch", [1, 64])
def test_weights_that_hardly_move(batch: int, every: int) -> None:
    (found,) = run().scale("update", 1e-3).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title.startswith("The weights hardly move: no step changed a kernel by more than")
    assert found.hypotheses[0].cause == "The learning rate is too small"
    assert 1e-6 <= found.evidence["ratio"] < 2e-5
    rate = float(found.hypotheses[0].code.rpartition("=")[2])
    assert rate == pytest.approx(1e-3 * 1e-3 / found.evidence["ratio"], rel=0.5)


@pytest.mark.parametrize(
    ("noise", "fall", "is_clipped"),
    [(1e-6, 0.98, True), (1e-2, 0.98, False), (1e-6, 0.9999, False)],
    ids=["to one norm", "not clipped", "the same data at every step"],
)
def test_weights_that_hardly_move_since_every_gradient_is_clipped(noise: float, fall: float, is_clipped: bool) -> None:
    sick = run().scale("update", 1e-3).set_loss(2.3 * np.linspace(1.0, fall, N))
    sick.scalars[:, 2] = 1e-3 * (1 + noise * np.random.default_rng(0).standard_normal(N))
    (found,) = sick.feed().findings()
    assert ("clipped to one and the same" in found.hypotheses[0].cause) == is_clipped


def test_weights_that_move_in_the_end_are_told_in_the_past() -> None:
    (found,) = run().scale("update", 1e-3, stop=350).feed().findings()
    assert found.title.startswith("The weights hardly moved until step 350:")


def warming_up() -> Run:
    slow = run().scale("update", 1e-3)
    slow.scalars[:, 1] = np.geomspace(1e-6, 1e-3, N)
    return slow


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(run().scale("update", 1e-3, stop=250), id="that is over before it counts"),
        pytest.param(run().scale("update", 1e-3, start=1), id="after a first step of the usual size"),
        pytest.param(warming_up(), id="a rate on its way up"),
        pytest.param(run().scale("update", 1e-3).set_loss(np.geomspace(2.3, 0.3, N)), id="the loss falls all the same"),
        pytest.param(run().scale("update", 0.1), id="a tenth of what is usual"),
    ],
)
def test_small_updates_that_are_well(healthy: Run) -> None:
    assert not healthy.feed().findings()


def flat(output: tuple[float, float], units: int, function: str = "linear") -> Run:
    """No kernel has a gradient, and the loss takes nothing of what the last layer gives."""
    sick = run(layers=[("dense_0", 64, "relu"), ("dense_3", units, function)]).scale("gradient", 0.0)
    for column in sick.columns("backprop"):
        sick.statistics[:, column, : COLUMN["std"] + 1] = 0
    last = sick.columns("activation")[-1]
    sick.statistics[:, last, [COLUMN["min"], COLUMN["max"]]] = output
    return sick


@pytest.mark.parametrize(
    ("sick", "cause"),
    [
        (flat((-4.0, 7.0), 10), "`from_logits=True` is missing"),
        (flat((-4.0, -0.2), 10), "`from_logits=True` is missing"),
        (flat((0.1, 0.9), 10), "The loss is constant, or cut off from the model's output"),
        (flat((0.2, 0.9), 1), "The loss is constant, or cut off from the model's output"),
        (flat((0.99999994, 0.99999994), 1), "A softmax on a single number"),
        (flat((1.0, 1.0), 1, "softmax"), "A softmax on a single number"),
    ],
    ids=["logits", "logits below 0", "probabilities", "one output", "a softmax of one", "a softmax of one by name"],
)
def test_a_loss_that_does_not_depend_on_the_output(sick: Run, cause: str) -> None:
    (found,) = sick.feed().findings()
    assert (found.kind, found.severity) == ("zero_gradient", "critical")
    assert found.hypotheses[0].cause.startswith(cause)


def test_what_comes_back_to_a_float16_output_may_have_been_too_small() -> None:
    sick = flat((-4.0, 7.0), 10)
    for tensor in sick.tensors:
        tensor["dtype"] = "float16" if tensor["kind"] in ("activation", "backprop") else tensor["dtype"]
    assert sick.feed().findings()[0].hypotheses[0].cause == "Underflow in float16"


@pytest.mark.parametrize("is_zero", [True, False])
def test_dead_units_behind_kernels_of_zeros(is_zero: bool) -> None:
    sick = run(layers=[("dense_0", 64, "relu"), ("dense_1", 64, "relu")]).flatten([0], 1.0)
    if is_zero:
        sick.scale("weight", 0.0, which=[0])
    found = sick.feed().findings()[0]
    assert found.kind == "dead_units"
    assert (found.hypotheses[0].cause == "The kernels start at 0") == is_zero


@pytest.mark.parametrize(
    ("rate", "is_named"),
    [
        (lambda step: 5e-3 * np.maximum(step / 100, 1.0), True),
        (lambda step: 5e-3 * (1 + step / 100), True),
        (lambda step: 5e-3 * np.minimum(step / 100, 1.0), False),
        (lambda step: 5e-3 * np.maximum(step / 1000, 1.0), False),
        (lambda step: np.where(step < 800, 5e-3 * np.maximum(step / 100, 1.0), 5e-3), False),
        (lambda step: 5e-3 + 0.0 * step, False),
    ],
    ids=["from 100 on", "from the start", "warm-up", "late", "until 800", "level"],
)
@pytest.mark.parametrize("batch", [1, 64])
def test_a_rate_that_keeps_rising_is_why_gradients_explode(rate: Any, is_named: bool, batch: int) -> None:
    sick = Run(dense(4), n_steps=1000).set_loss(2.3)
    sick.scalars[:, 1] = rate(np.arange(1000))
    growth = np.geomspace(1.0, 1e12, 40)
    sick.scale("gradient", growth, start=960)
    sick.scalars[960:, 2] *= growth
    (found,) = sick.feed(batch=batch).findings()
    assert found.kind == "exploding_gradient"
    causes = [one.cause for one in found.hypotheses]
    named = [one for one in causes if one.startswith("The learning rate keeps rising: from 0.005")]
    assert bool(named) == is_named
    assert not is_named or causes[0] == named[0]


def test_since_when_a_series_rises() -> None:
    series = Series()
    assert series.rising_since(5) is None
    series.feed(np.arange(8), np.array([3.0, 1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 3.0]))
    assert series.rising_since(3) is None
    assert [series.rising_since(step) for step in (4, 5, 6)] == [(3, 1.0)] * 3
    assert series.rising_since(7) is None


def rate(**more: Any) -> Rate:
    return Rate(**({"stream": 0, "phase": Phase.UPDATE, "first_step": 0, "last_step": 400, "known_step": 100} | more))


def dead(**more: Any) -> Flat:
    given = {"first_step": 4, "last_step": 400, "known_step": 24, "share": 1.0, "column": 1, "columns": {1: 4, 3: 4}}
    return Flat(stream=0, phase=Phase.ACTIVATION, **(given | more))


def shrunk(**more: Any) -> Faint:
    given = {"first_step": 5, "last_step": 400, "known_step": 60, "column": 3, "columns": {1: 6, 3: 5}}
    return Faint(stream=0, phase=Phase.ACTIVATION, **(given | more))


@pytest.mark.parametrize("known_step", [20, 100])
def test_one_overshoot_is_told_once(known_step: int) -> None:
    """Updates that replace the weights, the units they leave dead, and what shrinks behind those."""
    cause = rate(known_step=known_step)
    units = dead()
    (incident,) = assemble([cause, units, shrunk(), Zero(stream=0, phase=Phase.GRADIENT, first_step=16, last_step=400)])
    assert incident.lead is cause
    assert units in incident.followers


@pytest.mark.parametrize(
    "units",
    [
        pytest.param(dead(first_step=1), id="dead before"),
        pytest.param(dead(is_first_row=True), id="from the start"),
        pytest.param(shrunk(weight_factor=0.05), id="by a penalty"),
    ],
)
def test_units_that_updates_too_large_did_not_kill_stand_beside_them(units: Flat | Faint) -> None:
    assert len(assemble([rate(first_step=2), units])) == 2


@pytest.mark.parametrize(("share", "n_incidents"), [(1.0, 1), (0.5, 2)])
def test_what_shrinks_as_soon_as_a_layer_is_dead_comes_of_it(share: float, n_incidents: int) -> None:
    assert len(assemble([dead(share=share), shrunk()])) == n_incidents
    assert len(assemble([dead(share=share), shrunk(columns={1: 6, 3: 3})])) == 2


@pytest.mark.parametrize(("share", "severity"), [(1.0, "critical"), (0.7, "warning")])
def test_a_rate_that_leaves_all_units_dead_is_critical(share: float, severity: str) -> None:
    sick = run(layers=[("dense_0", 64, "relu")]).scale("update", 200.0).flatten([0], share, start=150)
    (found,) = sick.feed().findings()
    assert (found.kind, found.severity) == ("lr_too_high", severity)
    which = "Every unit of dense_0 has" if share == 1 else "70% of the units of dense_0 have"
    assert f"{which} been dead since step 150." in found.evidence["summary"]
    told = [(link["what"], link["step"]) for link in found.evidence["chain"]]
    assert told == [("updates that are too large", 0), ("dead units", 150)]
