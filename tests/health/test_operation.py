"""The verdict names the operation that broke first; what is by design is none; what is not known is not claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine, Finding
from tests.health.streams import Run, dense, forward, gradient_of
from tests.health.test_sick import broken_all

D4 = dense(4)
MAX = float(np.finfo(np.float32).max)
AT_POINT = {"margin": 0.0, "amplification": MAX, "n_singular": 3}

LOG = forward("Log", "Log", code="loss = -tf.reduce_mean(y * tf.math.log(p))", line=52)
NORM = forward("Sqrt", "model/unit/norm/Sqrt", code="return tf.norm(x, axis=-1)", layer="unit")
RATIO = forward("RealDiv", "model/scale/truediv", code="x = x / width", layer="scale", line=9)
SOFTMAX = forward("Softmax", "model/out/Softmax", layer="out")
OPERATIONS = [RATIO, NORM, SOFTMAX, LOG, gradient_of(LOG, "Reciprocal"), gradient_of(NORM, "SqrtGrad")]
RATIO_AT, NORM_AT, SOFTMAX_AT, LOG_AT, LOG_SLOPE_AT, NORM_SLOPE_AT = range(6)


def run(**options: Any) -> Run:
    return Run(D4, operations=OPERATIONS, **options)


def break_late(broken: Run, start: int, *places: int) -> Run:
    """What else breaks from a step on, because its input is broken."""
    for place in places:
        broken.break_operation(place, start=start, n=96, n_in=96)
    return broken


def norm_of_zero(start: int = 81) -> Run:
    broken = broken_all(run(), start).break_operation(NORM_SLOPE_AT, start=start, stop=start + 1, **AT_POINT)
    return break_late(broken, start + 1, *range(6))


def log_of_zero(start: int = 81) -> Run:
    broken = broken_all(run(), start, loss_delay=0).break_operation(LOG_AT, start=start, **AT_POINT)
    return break_late(broken, start, LOG_SLOPE_AT, NORM_SLOPE_AT)


@dataclass(frozen=True)
class Case:
    run: Run
    kind: str
    operation: str | None
    title: str
    cause: str
    layer: str | None = None
    step: int = 81
    confidence: float = 0.8


CASES = {
    "slope of a norm": Case(
        norm_of_zero(),
        "singular_gradient",
        "SqrtGrad",
        "Every gradient became NaN at step 81: square root of exactly 0 in `unit` (train.py:47)",
        "The norm of a vector that is exactly zero",
        layer="unit",
        confidence=0.9,
    ),
    "slope that is known by its forward operation": Case(
        broken_all(run(), 81)
        .break_operation(NORM_AT, start=81, n=0, **AT_POINT)
        .break_operation(NORM_SLOPE_AT, start=81, n_singular=np.nan, margin=np.nan),
        "singular_gradient",
        "SqrtGrad",
        "square root of exactly 0 in `unit`",
        "norm",
        confidence=0.9,
    ),
    "slope away from the singular point": Case(
        broken_all(run(), 81).break_operation(NORM_SLOPE_AT, start=81),
        "singular_gradient",
        "SqrtGrad",
        "slope of a square root in `unit` (train.py:47)",
        "norm",
    ),
    "at the very first step": Case(
        norm_of_zero(0), "singular_gradient", "SqrtGrad", "very first step", "norm", layer="unit", step=0
    ),
    "log of zero": Case(
        log_of_zero(),
        "nonfinite_loss",
        "Log",
        "Loss became NaN at step 81: logarithm of exactly 0 (train.py:52)",
        "cross-entropy written by hand",
        confidence=0.9,
    ),
    "log of a negative number": Case(
        broken_all(run(), 81, loss_delay=0).break_operation(LOG_AT, start=81),
        "nonfinite_loss",
        "Log",
        "logarithm of a negative number (train.py:52)",
        "The logarithm of a negative number",
    ),
    "division in the forward pass": Case(
        break_late(
            broken_all(run(), 81, loss_delay=0).break_operation(RATIO_AT, start=81, **AT_POINT), 81, *range(1, 6)
        ),
        "nonfinite_loss",
        "RealDiv",
        "division by exactly 0 in `scale` (train.py:9)",
        "A division by exactly 0",
        layer="scale",
        confidence=0.9,
    ),
    "forward value that is masked too late": Case(
        broken_all(run(), 81).break_operation(LOG_AT, start=81, stop=82, **AT_POINT),
        "nonfinite_gradient",
        "Log",
        "logarithm of exactly 0 (train.py:52)",
        "masked after the operation",
        confidence=0.9,
    ),
    "values that come from outside": Case(
        break_late(broken_all(run(), 81, loss_delay=0), 81, *range(6)),
        "nonfinite_loss",
        None,
        "Loss became NaN at step 81",
        "NaN or Inf in the inputs or labels",
    ),
    "gradient while no operation broke": Case(
        broken_all(run(), 81),
        "nonfinite_gradient",
        None,
        "Every gradient became NaN at step 81 while the loss was still finite",
        "masked too late",
        confidence=0.2,
    ),
    "a mask is not the culprit": Case(
        norm_of_zero().break_operation(LOG_AT, start=0, stop=82, n=7, n_singular=7),
        "singular_gradient",
        "SqrtGrad",
        "square root of exactly 0",
        "norm",
    ),
    "fed by a mask": Case(
        norm_of_zero().break_operation(NORM_SLOPE_AT, start=0, stop=81, n=0, n_in=2)
        .break_operation(NORM_SLOPE_AT, start=81, stop=82, n=9, n_in=2),
        "singular_gradient",
        "SqrtGrad",
        "square root of exactly 0",
        "norm",
    ),
}  # fmt: skip


def only(found: list[Finding]) -> Finding:
    assert len(found) == 1, [finding.title for finding in found]
    return found[0]


@pytest.mark.parametrize("name", CASES)
def test_names_the_operation(name: str) -> None:
    case = CASES[name]
    found = only(case.run.feed().findings())
    assert (found.kind, found.first_step) == (case.kind, case.step), found.title
    assert case.title in found.title
    assert (found.operation or {}).get("type") == case.operation
    assert (found.source is None) == (case.operation is None)
    assert case.layer is None or found.layer == case.layer
    assert case.cause in found.hypotheses[0].cause
    assert found.hypotheses[0].confidence >= case.confidence


@pytest.mark.parametrize("name", CASES)
def test_thinned_operations_change_nothing(name: str) -> None:
    """What the hook does: all operations now and then, and whenever something is broken."""
    case = CASES[name]
    found = only(case.run.feed().findings())
    thin = run(n_steps=len(case.run.steps))
    thin.statistics, thin.scalars, thin.present = case.run.statistics, case.run.scalars, case.run.present
    thin.operation_rows = case.run.operation_rows.copy()
    thinned = only(thin.thin_operations(10).feed().findings())
    assert (thinned.kind, thinned.title, thinned.operation) == (found.kind, found.title, found.operation)


def test_evidence_tells_the_numbers_and_the_forward_operation() -> None:
    found = only(norm_of_zero().feed().findings())
    evidence = found.evidence
    assert (evidence["n_singular"], evidence["n_inputs"], evidence["margin"]) == (3, 96, 0)
    assert evidence["forward_operation"] == "Sqrt model/unit/norm/Sqrt"
    assert "SqrtGrad, the slope of the Sqrt in model/unit/norm" in evidence["summary"]
    assert "3 of 96 inputs were exactly 0" in evidence["summary"]
    assert evidence["chain"][0] == {"what": "SqrtGrad in unit (train.py:47)", "step": 81, "n": 4}
    assert evidence["chain"][1]["what"] == "gradient"


def test_slope_that_breaks_beside_a_broken_loss_is_not_its_cause() -> None:
    broken = broken_all(run(), 81, loss_delay=0).break_operation(NORM_SLOPE_AT, start=81, **AT_POINT)
    found = only(broken.feed().findings())
    assert (found.kind, found.operation) == ("nonfinite_loss", None)
    assert [link["what"] for link in found.evidence["chain"]][:3] == [
        "loss",
        "SqrtGrad in unit (train.py:47)",
        "gradient",
    ]


def test_outside_is_said_without_claiming_what() -> None:
    found = only(CASES["values that come from outside"].run.feed().findings())
    assert "from the inputs, the weights or an operation that is not looked at" in found.evidence["summary"]
    assert found.evidence["operation_is_origin"] is False


def test_the_users_line_is_mended() -> None:
    code = only(norm_of_zero().feed().findings()).hypotheses[0].code
    assert code == ("- return tf.norm(x, axis=-1)\n+ return tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-12)")


def test_a_mask_by_design_is_no_finding() -> None:
    masked = run().break_operation(LOG_AT, start=0, n=7, n_singular=7).break_operation(SOFTMAX_AT, start=0, n=0, n_in=7)
    assert masked.feed().findings() == []


def test_a_mask_that_appears_and_grows_is_no_finding() -> None:
    masked = run()
    for step in range(100, 300, 3):
        masked.break_operation(LOG_AT, start=step, stop=step + 1, n=step, n_singular=step)
    assert masked.feed().findings() == []


def test_logged_loss_breaks_in_a_step_whose_operations_were_not_captured() -> None:
    """A custom loop logs its loss: the hook captures the step of the gradient, one later."""
    broken = broken_all(run(), 82, loss_delay=-1).break_operation(LOG_AT, start=82, **AT_POINT)
    broken.operation_rows[1:82] = np.nan
    found = only(broken.feed().findings())
    assert (found.kind, found.first_step, (found.operation or {})["type"]) == ("nonfinite_loss", 81, "Log")
    assert found.evidence["operation_step"] == 82
    steps = [link["step"] for link in found.evidence["chain"]]
    assert steps == sorted(steps)


def test_weights_that_break_first_have_no_operation() -> None:
    broken = run().break_("weight", [3], start=70).break_("gradient", start=71).break_loss(71)
    found = only(break_late(broken, 71, *range(6)).feed().findings())
    assert (found.kind, found.operation, found.source) == ("nonfinite_weight", None, None)


def test_weights_that_break_first_are_not_blamed_on_an_operation_of_the_next_step() -> None:
    """A function that reads broken weights gives NaN for finite inputs."""
    broken = run().break_("weight", [3], start=70).break_("gradient", start=71).break_loss(71)
    broken.break_operation(RATIO_AT, start=71).operation_rows[61:71] = np.nan
    found = only(broken.feed().findings())
    assert (found.kind, found.operation) == ("nonfinite_weight", None)
    assert "operation_step" not in found.evidence


def test_a_slope_behind_a_broken_forward_pass_is_not_the_origin() -> None:
    broken = broken_all(run(), 81).break_operation(RATIO_AT, start=81, n_in=5)
    found = only(broken.break_operation(NORM_SLOPE_AT, start=81, **AT_POINT).feed().findings())
    assert (found.kind, found.operation) == ("nonfinite_gradient", None)
    assert "its input held them already" in found.evidence["summary"]


def test_a_later_step_in_which_all_is_broken_tells_nothing() -> None:
    broken = break_late(broken_all(run(), 82, loss_delay=-1), 82, *range(6))
    broken.operation_rows[1:82] = np.nan
    found = only(broken.feed().findings())
    assert (found.kind, found.first_step, found.operation) == ("nonfinite_loss", 81, None)
    assert "operation_step" not in found.evidence


def test_overflow_of_loss_scaling_is_no_finding_and_hides_no_later_one() -> None:
    scaled = run(n_steps=3_000).scale_loss(2.0**15)
    for step in range(30, 2_800, 30):
        scaled.break_("gradient", start=step, stop=step + 1, value="n_pos_inf")
        scaled.break_operation(NORM_SLOPE_AT, start=step, stop=step + 1)
    assert scaled.feed().findings() == []
    for kind in ("gradient", "weight"):
        scaled.break_(kind, start=2_900)
    scaled.break_operation(NORM_SLOPE_AT, start=2_900, **AT_POINT)
    found = only(scaled.feed().findings())
    assert (found.kind, found.first_step) == ("singular_gradient", 2_900)


def test_what_began_in_the_forward_pass_is_told_although_loss_scaling_skips_it() -> None:
    """A mask of -Inf is usual; a row of nothing else is not, and no loss scale has a part in it."""
    scaled = run(n_steps=300).scale_loss(256.0).break_operation(SOFTMAX_AT, start=0, n=0, n_in=7)
    scaled.break_("gradient", start=100, stop=101).break_operation(SOFTMAX_AT, start=100, stop=101, n=40, n_in=7)
    engine = scaled.announce(Engine())
    scaled.feed_slice(engine, slice(0, 102))
    early = only(engine.findings())
    scaled.feed_slice(engine, slice(102, 300))
    found = only(engine.findings())
    assert (early.severity, found.severity) == ("critical", "warning")
    assert (found.kind, found.first_step, found.layer) == ("nonfinite_gradient", 100, "out")
    assert "softmax of infinite scores in `out`" in found.title
    assert "a lower loss scale does not mend it, but has hidden it: 1 step skipped" in found.evidence["summary"]
    assert any("nothing but -Inf" in hypothesis.cause for hypothesis in found.hypotheses[:2])


def test_what_is_infinite_by_design_while_a_loss_scale_is_sought_is_no_cause() -> None:
    scaled = run(n_steps=300).scale_loss(2.0 ** np.maximum(15 - np.arange(300), 9))
    scaled.break_("gradient", start=0, stop=6, value="n_pos_inf").break_operation(LOG_AT, start=0, n=7, n_singular=7)
    scaled.break_("gradient", start=200, stop=201, value="n_pos_inf")
    assert scaled.feed().findings() == []


def test_other_operations_under_the_same_tensors_begin_anew() -> None:
    engine = run().feed()
    later = broken_all(Run(D4, first_step=300, operations=OPERATIONS[:2] + OPERATIONS[5:]), 400)
    later.break_operation(2, start=400, **AT_POINT).feed(engine)
    assert only(engine.findings()).kind == "singular_gradient"


def test_wrong_shape_of_operations_says_what_was_expected() -> None:
    wrong = run()
    wrong.operation_rows = wrong.operation_rows[:, :2]
    with pytest.raises(ValueError, match=r"found operations of shape \(64, 2, 6\), expected \(64, 6, 6\)"):
        wrong.feed()


@pytest.mark.parametrize("is_backward", [True, False])
def test_of_two_optimizers_in_a_step_the_first_breaks_the_others_loss(is_backward: bool) -> None:
    """Both losses are logged, by names that nobody knows; a gradient broken by the backward pass had a finite one."""
    first = broken_all(run(optimizer="critic"), 81)
    if is_backward:
        first.break_operation(NORM_SLOPE_AT, start=81, stop=82, **AT_POINT)
    else:
        first.break_operation(LOG_AT, start=81, **AT_POINT)
    layers = [("critic/hidden", 64, None)]
    second = broken_all(Run(dense(2), stream=1, optimizer="generator", layers=layers), 81)
    second.break_("activation", start=81)
    for one in (first, second):
        one.present[:, 0] = False  # a custom loop: no loss but what is logged
    engine = second.feed(first.feed())
    values = np.where(first.steps < 81, 0.5, np.nan)
    engine.feed_scalar("other_loss", first.steps, values)
    found = only(engine.findings())
    assert (found.operation or {})["type"] == ("SqrtGrad" if is_backward else "Log")
    told = [link["what"] for link in found.evidence["chain"]]
    if is_backward:
        assert found.kind == "singular_gradient"
        both = ["gradient (critic)", "update (critic)", "weight (critic)", "gradient (generator)"]
        assert told[1:5] == both
        assert told.index("activation (generator)") > told.index("gradient (generator)")
        assert told.index("other_loss") > told.index("gradient (generator)")
    else:
        assert found.kind == "nonfinite_loss"
        assert told.index("other_loss") < told.index("gradient (critic)")


def test_a_divisor_whose_square_is_0() -> None:
    """The quotient is finite, its slope is not."""
    operations = [RATIO, gradient_of(RATIO, "RealDiv")]
    sick = broken_all(Run(D4, operations=operations), 81)
    sick.break_operation(1, start=81, stop=82, margin=7e-22, amplification=MAX, n_singular=0)
    found = sick.feed().findings()[0]
    assert "slope of a division in `scale` (train.py:9)" in found.title
    assert found.hypotheses[0].cause.startswith("A division by a number so small that its slope overflows")
    assert "reduce_logsumexp" in found.hypotheses[0].code


def test_exponentials_that_all_round_to_0() -> None:
    density = LOG | {
        "source": {**LOG["source"], "code": "loss = -tf.math.log(density)"},
        "input": {"type": "Sum", "constant": None, "exponential": True},
    }
    operations = [density, gradient_of(density, "Reciprocal")]
    sick = broken_all(Run(D4, operations=operations), 81, loss_delay=0).break_operation(0, start=81, **AT_POINT)
    first, second = sick.feed().findings()[0].hypotheses[:2]
    assert first.cause == "The logarithm of exponentials that all rounded to 0 (train.py:52)"
    assert "reduce_logsumexp" in first.code
    assert second.cause.startswith("The logarithm of exactly 0")
