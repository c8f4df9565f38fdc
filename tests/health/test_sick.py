"""Each sickness is found with its kind, step and place; what it floods is folded under it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from gradwatch_server.health import Engine, Finding
from gradwatch_server.health.episode import NonFinite
from gradwatch_server.health.missing import LEFT_OUT_ROWS
from gradwatch_server.health.verdict import _TELLERS
from tests.health.streams import COLUMN, Run, dense, forward

D4 = dense(4)
N = 300
STEPS = np.arange(N)


@dataclass(frozen=True)
class Case:
    """A run, and what the leading finding must say."""

    run: Run
    kind: str
    first_step: int
    severity: str = "critical"
    layer: str | None = None
    tensor: str | None = None
    words: tuple[str, ...] = ()
    flood: set[str] = field(default_factory=set)
    cause: str = ""
    n_findings: int = 1


def broken_all(run: Run, start: int, *, loss_delay: int = 1) -> Run:
    """Gradients, updates and weights broken from a step on; the loss one step later."""
    for kind in ("gradient", "update", "weight"):
        run.break_(kind, start=start)
    return run.break_loss(start + loss_delay)


def growing(factor: float, start: int, stop: int, n: int = N) -> np.ndarray:
    """Norm factors that grow by a factor per step from start to before stop."""
    return factor ** np.clip(np.arange(n) - start, 0, stop - start)


def norm_of_zero() -> Run:
    run = Run(D4).break_("gradient", [0, 1, 2, 3], start=81)
    return run.break_("update", start=81).break_("weight", start=81).break_loss(82)


CASES = {
    "singular gradient in the middle": Case(
        norm_of_zero(),
        "nonfinite_gradient",
        81,
        layer="dense_1",
        tensor="dense_1/kernel",
        words=("NaN", "step 81", "dense_1", "loss was still finite"),
        flood={"nonfinite_weight", "nonfinite_loss"},
        cause="infinite slope",
    ),
    "singular gradient in the loss floods all": Case(
        broken_all(Run(D4), 81),
        "nonfinite_gradient",
        81,
        tensor="dense_3/kernel",
        words=("Every gradient", "NaN", "loss was still finite"),
        flood={"nonfinite_weight", "nonfinite_loss"},
    ),
    "one gradient of many, partly": Case(
        Run(D4).break_("gradient", [4], start=50, n=3),
        "nonfinite_gradient",
        50,
        tensor="dense_2/kernel",
        words=("dense_2",),
    ),
    "at the very first step": Case(
        broken_all(Run(D4), 0),
        "nonfinite_gradient",
        0,
        words=("very first step",),
        flood={"nonfinite_weight", "nonfinite_loss"},
    ),
    "infinite, not NaN": Case(
        Run(D4).break_("gradient", [0, 1], start=60, value="n_pos_inf", n=5),
        "nonfinite_gradient",
        60,
        words=("infinite",),
        cause="infinite slope",
    ),
    "input that is masked too late": Case(
        Run(D4).break_("gradient", [0], start=0, n=64).break_("gradient", [2], start=0).break_("weight", start=0),
        "nonfinite_gradient",
        0,
        tensor="dense_0/kernel",
        cause="masked too late",
        flood={"nonfinite_weight"},
    ),
    "loss first": Case(
        Run(D4).break_loss(120).break_("gradient", start=120).break_("update", start=120).break_("weight", start=120),
        "nonfinite_loss",
        120,
        words=("Loss became NaN at step 120", "weights were still finite"),
        flood={"nonfinite_gradient", "nonfinite_weight"},
        cause="log(0)",
    ),
    "loss overflows long before its gradient": Case(
        Run(D4).break_loss(100, value=float("inf")).break_("gradient", start=110).break_("weight", start=110),
        "nonfinite_loss",
        100,
        words=("infinite",),
        flood={"nonfinite_gradient", "nonfinite_weight"},
    ),
    "loss that never reaches the gradient": Case(
        Run(D4).break_loss(100), "nonfinite_loss", 100, cause="does not reach the weights"
    ),
    "loss from the first step": Case(
        Run(D4).break_loss(0).break_("gradient", start=0),
        "nonfinite_loss",
        0,
        words=("first step",),
        cause="inputs or labels",
    ),
    "weights after finite gradients": Case(
        Run(D4).break_("weight", [3], start=70).break_("gradient", start=71).break_loss(71),
        "nonfinite_weight",
        70,
        tensor="dense_1/bias",
        words=("Weights of dense_1", "gradients were finite"),
        flood={"nonfinite_loss", "nonfinite_gradient"},
    ),
    "weights that stay alone": Case(
        Run(D4).break_("weight", [2], start=70, n=4), "nonfinite_weight", 70, layer="dense_1"
    ),
    "update before weight": Case(
        Run(D4).break_("update", [2], start=70).break_("weight", [2], start=70),
        "nonfinite_weight",
        70,
        words=("update",),
        flood={"nonfinite_weight"},
    ),
    "half precision": Case(
        Run(dense(4, dtype="float16")).break_("gradient", start=60, value="n_pos_inf"),
        "nonfinite_gradient",
        60,
        cause="Overflow in float16",
    ),
    "growth into Inf and NaN": Case(
        broken_all(Run(D4).scale("gradient", growing(3.0, 150, 175)), 175, loss_delay=0),
        "exploding_gradient",
        155,
        words=("grew", "until the loss became NaN at step 175"),
        flood={"nonfinite_loss", "nonfinite_gradient", "nonfinite_weight"},
    ),
    "growth of two steps into NaN": Case(
        broken_all(Run(D4).scale("gradient", growing(1e4, 199, 201)), 202),
        "exploding_gradient",
        200,
        flood={"nonfinite_loss", "nonfinite_gradient", "nonfinite_weight"},
    ),
    "divergence from the first step": Case(
        broken_all(Run(D4).scale("gradient", growing(1e3, 0, 12)).scale("update", 300.0), 12, loss_delay=0),
        "exploding_gradient",
        1,
        cause="learning rate is too high",
        flood={"nonfinite_loss", "nonfinite_gradient", "nonfinite_weight"},
    ),
    "growth without end": Case(
        Run(D4).scale("gradient", growing(1.5, 150, 250)), "exploding_gradient", 162, severity="warning"
    ),
    "slow growth that the median follows": Case(
        Run(D4, n_steps=2_000, noise=0.05).scale("gradient", 1.01 ** np.arange(2_000)),
        "exploding_gradient",
        950,
        severity="warning",
    ),
    "fading towards the input": Case(
        Run(dense(8)).set_loss(2.3).scale("gradient", 1e-6, range(6)),
        "vanishing_gradient",
        0,
        severity="warning",
        layer="dense_0",
        tensor="dense_0/kernel",
    ),
    "missing": Case(
        Run(D4).miss([2, 3]), "missing_gradient", 0, severity="warning", layer="dense_1", tensor="dense_1/kernel"
    ),
    "zero in some layers": Case(
        Run(D4).scale("gradient", 0.0, [0, 1, 2, 3], start=50),
        "zero_gradient",
        50,
        severity="warning",
        tensor="dense_0/kernel",
    ),
    "zero in all kernels, fed zeros": Case(
        Run(D4).scale("gradient", 0.0, range(7), start=50),
        "zero_gradient",
        50,
        words=("Every kernel",),
        cause="died",
    ),
    "zero after large updates": Case(
        Run(D4).scale("update", 300.0, stop=50).scale("gradient", 0.0, start=50),
        "zero_gradient",
        50,
        cause="learning rate is too high",
    ),
    "updates as large as weights": Case(
        Run(D4).set_loss(2.3).scale("update", 300.0),
        "lr_too_high",
        0,
        severity="warning",
        cause="learning rate is too high",
    ),
    "permanent overflow under loss scaling": Case(
        Run(D4).scale_loss(2.0 ** np.clip(15 - (STEPS - 100), 0, 15)).break_("gradient", start=100, value="n_pos_inf"),
        "loss_scale_floor",
        100,
        words=("has fallen from 32,768 to 1", "200 steps skipped"),
        cause="overflows whatever the scale",
    ),
    "overflow under loss scaling that reaches the weights": Case(
        Run(D4).scale_loss(1024.0).break_("gradient", start=100, stop=103).break_("weight", start=101),
        "nonfinite_gradient",
        100,
        flood={"nonfinite_weight"},
    ),
}


def lead(engine: Engine) -> Finding:
    findings = engine.findings()
    assert findings, "no finding"
    return findings[0]


@pytest.mark.parametrize("name", CASES)
def test_says_what_came_first(name: str) -> None:
    case = CASES[name]
    engine = case.run.feed()
    found = lead(engine)
    assert (found.kind, found.severity) == (case.kind, case.severity), found.title
    growth = case.kind == "exploding_gradient"
    assert abs(found.first_step - case.first_step) <= (80 if "slow" in name else 4 if growth else 0), found.title
    assert case.layer is None or found.layer == case.layer
    assert case.tensor is None or found.tensor == case.tensor
    for word in case.words:
        assert word in found.title
    assert case.flood <= {entry["kind"] for entry in found.evidence["flood"]}
    assert case.cause in found.hypotheses[0].cause
    assert len(engine.findings()) == case.n_findings
    assert engine.level == case.severity


@pytest.mark.parametrize(
    "name", [name for name in CASES if "loss scaling" not in name and "lr" not in CASES[name].kind]
)
def test_thinned_rows_change_nothing_but_what_they_hide(name: str) -> None:
    case = CASES[name]
    run = Run(case.run.variables, n_steps=len(case.run.steps))
    run.statistics, run.scalars, run.present = case.run.statistics.copy(), case.run.scalars, case.run.present
    found = lead(run.thin(9).feed())
    assert found.kind == case.kind or case.kind == "nonfinite_weight"
    assert abs(found.first_step - lead(case.run.feed()).first_step) <= 9


def test_chain_is_the_order_of_onset() -> None:
    found = lead(norm_of_zero().feed())
    assert [(link["what"], link["step"]) for link in found.evidence["chain"]] == [
        ("gradient", 81),
        ("update", 81),
        ("weight", 81),
        ("loss", 82),
    ]
    assert found.evidence["chain"][0]["n"] == 2 * (64 * 64 + 64)


def test_entry_is_bounded_from_both_sides() -> None:
    evidence = lead(norm_of_zero().feed()).evidence
    assert evidence["entered"].startswith("between dense_1/kernel and dense_2/kernel")
    assert (evidence["n_tensors"], evidence["n_tensors_finite"], evidence["side"]) == (4, 4, "backward")
    everything = lead(broken_all(Run(D4), 81).feed()).evidence
    assert "the loss: no variable nearer" in everything["entered"]


def test_loss_that_is_not_recorded_is_not_called_finite() -> None:
    run = norm_of_zero()
    run.present[:, 0] = False
    found = lead(run.feed())
    assert "finite" not in found.title
    assert "not recorded" in found.evidence["summary"]
    assert found.hypotheses[0].confidence <= 0.5


@pytest.mark.parametrize("operations", [[], [forward("Log", "loss/Log")]], ids=["none", "one"])
@pytest.mark.parametrize("eager", [True, False])
def test_how_to_see_the_operation_is_said_where_a_step_runs_eagerly(
    eager: bool, operations: list[dict[str, object]]
) -> None:
    run = Run(D4, operations=operations, eager=eager).break_("gradient", [0, 1, 2, 3], start=81)
    (advice,) = [one for one in lead(run.feed()).hypotheses if "infinite slope" in one.cause]
    assert ("`tf.function`" in advice.fix) == eager


def test_single_step_recovers_and_is_a_warning() -> None:
    run = Run(D4).break_("gradient", start=100, stop=101)
    engine = run.announce(Engine())
    run.feed_slice(engine, slice(0, 105))
    assert lead(engine).severity == "critical"
    run.feed_slice(engine, slice(105, 300))
    found = lead(engine)
    assert (found.severity, found.first_step, found.last_step) == ("warning", 100, 100)
    assert "recovered after 1 step" in found.title


def test_later_incident_is_a_new_one() -> None:
    run = Run(D4).break_("gradient", start=100, stop=102).break_("gradient", [0], start=115, stop=116)
    run.break_loss(200, 201)
    findings = run.feed().findings()
    assert [(f.kind, f.first_step) for f in findings] == [("nonfinite_gradient", 100), ("nonfinite_loss", 200)]
    assert len({f.id for f in findings}) == 2


def test_many_equal_accidents_are_counted_not_listed() -> None:
    run = Run(D4, n_steps=2_000)
    for start in range(100, 2_000, 100):
        run.break_("gradient", start=start, stop=start + 1)
    findings = run.feed().findings()
    assert len(findings) == 5
    assert findings[-1].evidence["n_repeats"] == 19 - 5
    assert findings[-1].last_step == 1_900


def test_memory_is_bounded_in_a_run_that_breaks_for_ever() -> None:
    run = Run(D4, n_steps=4_000)
    for start in range(0, 4_000, 30):
        run.break_("gradient", start=start, stop=start + 1)
    findings = run.feed().findings()
    assert len(findings) == 5
    assert findings[-1].last_step == 3_990


def test_missing_beside_nan_are_two_findings() -> None:
    findings = broken_all(Run(D4).miss([0, 1]), 200).feed().findings()
    assert [f.kind for f in findings] == ["nonfinite_gradient", "missing_gradient"]


def test_words_that_fail_leave_the_others(monkeypatch) -> None:
    """A mistake in one sentence is one in the engine's own tests, and an omission where it is asked to go on."""
    run = broken_all(Run(D4).miss([0, 1]), 200)
    expected = [f for f in run.feed().findings() if f.kind == "missing_gradient"]
    monkeypatch.setitem(_TELLERS, NonFinite, lambda episode, scene: episode.there_is_no_such_field)
    failed: list[str] = []
    assert run.feed(Engine(on_failure=failed.append)).findings() == expected
    assert set(failed) == {"NonFinite"}
    with pytest.raises(AttributeError, match="there_is_no_such_field"):
        run.feed().findings()


def test_left_out_is_told_late_and_said_to_be() -> None:
    findings = Run(D4, n_steps=LEFT_OUT_ROWS).leave_out([0, 1]).feed().findings()
    assert [(f.kind, f.first_step, f.layer) for f in findings] == [("missing_gradient", 0, "dense_0")]
    assert "drops them before the optimizer is called" in str(findings[0].evidence)
    assert not Run(D4, n_steps=LEFT_OUT_ROWS - 1).leave_out([0, 1]).feed().findings()


def test_what_is_missing_in_one_stream_and_trained_in_another_is_not_missing() -> None:
    """Tasks that take turns: each optimizer, or each trace, is a stream of its own."""
    for other in (Run(D4, stream=1, first_step=500), Run(D4, stream=1).miss([3])):
        engine = Run(D4).miss([2, 3]).leave_out([0]).feed()
        before = {name for f in engine.findings() for name in f.evidence["tensors"]}
        assert before == {"dense_1/kernel", "dense_1/bias", "dense_0/kernel"}
        other.feed(engine)
        after = {name for f in engine.findings() for name in f.evidence["tensors"]}
        assert after == ({"dense_1/bias"} if other.first_step == 0 else set())


def test_what_is_left_out_is_told_once_and_by_whom_it_is_given_to() -> None:
    given = Run(D4, stream=1).miss([7])
    engine = given.feed(Run(D4).leave_out([7]).feed())
    (found,) = engine.findings()
    assert "although the optimizer was given it" in found.evidence["summary"]
    both = Run(D4, stream=1).leave_out([7]).feed(Run(D4).leave_out([7]).feed())
    assert [f.tensor for f in both.findings()] == ["dense_3/bias"]


def test_what_is_left_out_and_moves_is_an_average_of_others() -> None:
    run = Run(D4).leave_out([0])
    assert [f.tensor for f in run.feed().findings()] == ["dense_0/kernel"]
    for start in (1, 250):  # before it could be told, and after
        run = Run(D4).leave_out([0]).scale("weight", 1.5, [0], start=start)
        assert not run.feed().findings()


def test_what_is_left_out_says_nothing_of_the_others() -> None:
    """A branch that is never trained, last in the table, beside gradients that fade towards the input."""
    run = Run(dense(8)).set_loss(2.3).scale("gradient", 1e-6, range(6)).leave_out([14, 15])
    assert "vanishing_gradient" in {f.kind for f in run.feed().findings()}
    zero = Run(D4).scale("gradient", 0.0, range(6), start=50).leave_out([6, 7])
    assert any("Every kernel" in f.title and f.severity == "critical" for f in zero.feed().findings())


@pytest.mark.parametrize(("order", "first"), [((0, 1), "argmax"), ((1, 0), "does not depend")])
def test_whether_a_gradient_ends_on_its_way_is_read_off_the_layers_order(order: tuple[int, ...], first: str) -> None:
    layers = [(f"dense_{place}", 64, "relu") for place in order]
    found = lead(Run(dense(2), layers=layers).miss([0, 1]).feed())
    assert first in found.hypotheses[0].cause + found.hypotheses[0].why


def test_missing_that_comes_back_says_until_when() -> None:
    found = lead(Run(D4).miss([2], stop=100).feed())
    assert (found.first_step, found.last_step) == (0, 99)
    assert "until step 99" in found.title


def test_what_is_zero_in_one_phase_and_trained_in_a_later_one_is_no_finding() -> None:
    """Pretraining with a head whose loss weighs nothing yet: the next optimizer trains it."""
    early = Run(D4).scale("gradient", 0.0, [6, 7])
    engine = early.feed()
    assert [(f.kind, f.layer) for f in engine.findings()] == [("zero_gradient", "dense_3")]
    at_once = Run(D4, stream=1, optimizer="second").feed(early.feed())  # beside it, which makes nothing well
    assert [f.kind for f in at_once.findings()] == ["zero_gradient"]
    Run(D4, stream=1, optimizer="second", first_step=len(early.steps)).feed(engine)
    assert not engine.findings()


def test_zero_after_growth_is_its_consequence() -> None:
    run = Run(D4).scale("gradient", growing(10.0, 100, 110)).scale("gradient", 0.0, start=111)
    (found,) = run.feed().findings()
    assert found.kind == "exploding_gradient"
    assert "zero_gradient" in {entry["kind"] for entry in found.evidence["flood"]}


def test_rate_that_was_too_high_leads_the_growth() -> None:
    run = Run(D4).set_loss(2.3).scale("update", 300.0).scale("gradient", growing(3.0, 200, 225))
    (found,) = broken_all(run, 225, loss_delay=0).feed().findings()
    assert (found.kind, found.severity, found.first_step) == ("lr_too_high", "critical", 0)
    assert "until the loss became NaN at step 225" in found.title
    assert [link["what"] for link in found.evidence["chain"]][:2] == ["updates that are too large", "gradient norm"]


def test_growth_to_a_power_that_overflows() -> None:
    power = forward("Pow", "memory/Pow", code="decay = tf.pow(base, lags)", layer="memory", line=44)
    run = Run(D4).set_loss(2.3).scale("gradient", growing(30.0, 220, 224))
    (found,) = broken_all(run, 224, loss_delay=0).name_origin(power, 224).feed().findings()
    assert (found.kind, found.operation and found.operation["type"]) == ("exploding_gradient", "Pow")
    assert (
        found.hypotheses[0].cause
        == "A number above 1 to a high power grows beyond all bounds in `memory` (train.py:44)"
    )


def overflowing(step: int, *, target: float = 1.0, value: float = 1.0) -> Run:
    """A loss that overflows in plain arithmetic, of targets and of one input column as large as this."""
    run = Run(D4, inputs=[("input", 3), ("target", 1)]).set_loss(2.3)
    of_input, of_target = run.columns("input")
    run.statistics[:, of_input, [COLUMN["min"], COLUMN["max"]]] = -1.0, value
    run.statistics[:, of_target, [COLUMN["min"], COLUMN["max"]]] = -1.0, target
    ends = np.zeros((N, 3, 3), np.float32)
    ends[:, :, 1], ends[:, :, 2] = -1.0, [1.0, value, 1.0]
    nothing = {"bad_rows": np.full((N, 8), -1, np.int64), "n_bad_rows": np.zeros(N, np.int64)}
    run.input_columns.append({"tensor": "input", "steps": STEPS, "columns": ends, **nothing})
    mean = forward("Sum", "compile_loss/mse/Sum")
    return broken_all(run.break_loss(step, value=float("inf")), step + 1).name_origin(mean, step)


SIZES = {"target": 488.0, "value": 1_790.0}
UNSCALED = {"target": "The targets are not scaled", "value": "The inputs are not scaled"}


@pytest.mark.parametrize("what", SIZES)
def test_an_overflow_within_the_first_steps_is_of_what_they_followed(what: str) -> None:
    found = lead(overflowing(1, **{what: SIZES[what]}).feed())
    assert (found.kind, found.first_step) == ("nonfinite_loss", 1)
    assert [one.cause for one in found.hypotheses[:2]] == [UNSCALED[what], "Numbers too large for the sum"]
    assert ("(column 1, counted from 0)" in found.hypotheses[0].why) == (what == "value")


@pytest.mark.parametrize("what", SIZES)
@pytest.mark.parametrize(("step", "size"), [(0, 1.0), (100, 1.0), (1, 1e-3)], ids=["first", "late", "small"])
def test_an_overflow_is_of_nothing_else(what: str, step: int, size: float) -> None:
    """At the first step nothing was followed yet, and later ones had long gone well."""
    found = lead(overflowing(step, **{what: size * SIZES[what]}).feed())
    assert UNSCALED[what] not in [one.cause for one in found.hypotheses]


@pytest.mark.parametrize("what", SIZES)
def test_a_gradient_that_grows_within_the_first_steps_is_of_what_they_followed(what: str) -> None:
    run = overflowing(12, **{what: SIZES[what]}).scale("gradient", growing(30.0, 6, 11))
    found = lead(run.feed())
    assert (found.kind, found.hypotheses[0].cause) == ("exploding_gradient", UNSCALED[what])


def test_rate_that_is_known_afterwards_is_a_cause_and_renames_nothing() -> None:
    run = Run(D4).set_loss(2.3).scale("update", 300.0).scale("gradient", growing(3.0, 40, 55))
    run = broken_all(run, 56)
    engine = run.announce(Engine())
    names = set()
    for start in range(0, N, 10):
        run.feed_slice(engine, slice(start, start + 10))
        names |= {finding.id for finding in engine.findings()}
    assert len(names) == 1, names
    assert lead(engine).hypotheses[0].cause == "The learning rate is too high"


def test_rate_in_the_fix_brings_the_ratio_to_the_usual_one() -> None:
    run = Run(D4, noise=0.01).set_loss(2.3).scale("update", 200.0)  # ratio 0.2 at rate 1e-3
    fix = lead(run.feed()).hypotheses[0]
    assert "from 0.001, tenfold at a time: about 5e-06" in fix.fix
    assert "5e-06" in fix.code


def test_two_optimizers_share_one_incident() -> None:
    """A critic breaks, then the generator that it trains."""
    critic = broken_all(Run(dense(3), optimizer="critic_adam"), 100)
    generator = (
        Run(dense(2), optimizer="generator_adam", stream=1).break_("gradient", start=102).break_("weight", start=102)
    )
    generator.present[:, 0] = False
    engine = generator.announce(critic.announce(Engine()))
    for start in range(0, N, 50):
        critic.feed_slice(engine, slice(start, start + 50))
        generator.feed_slice(engine, slice(start, start + 50))
    (found,) = engine.findings()
    assert (found.kind, found.first_step, found.layer) == ("nonfinite_gradient", 100, "dense_2")
    whats = [link["what"] for link in found.evidence["chain"]]
    assert whats[0] == "gradient (critic_adam)"
    assert whats[-2:] == ["gradient (generator_adam)", "weight (generator_adam)"]


def test_from_which_step_on_the_weights_are_lost() -> None:
    found = lead(broken_all(Run(D4), 200).feed())
    assert found.evidence["weights_lost_step"] == 200
    assert "The weights have been broken since step 200, and so is every checkpoint" in found.evidence["summary"]
    assert "those of step 199 are whole" in found.evidence["summary"]
    seldom = lead(broken_all(Run(D4), 200).thin(9).feed())
    assert "they were last seen whole at step 198" in seldom.evidence["summary"]


def test_weights_that_stayed_whole_or_came_back_are_not_lost() -> None:
    skipped = lead(Run(D4).break_("gradient", start=200, stop=203).feed())
    assert "weights_lost_step" not in skipped.evidence
    restored = lead(Run(D4).break_("gradient", start=100, stop=103).break_("weight", start=100, stop=103).feed())
    assert "weights_lost_step" not in restored.evidence
    assert "checkpoint" not in restored.evidence["summary"]


@pytest.mark.parametrize("batch", [1, 64])
def test_what_layers_give_of_broken_weights_is_not_judged(batch: int) -> None:
    """Half of the units idle by chance; then the weights are NaN, of which a relu may make 0, so that all look dead."""
    share = np.select([np.arange(300) < 9, np.arange(300) < 30], [0.2, 0.53], 1.0)
    sick = Run(dense(4), layers=[(f"dense_{i}", 64, "relu") for i in range(4)]).set_loss(2.3).flatten([1], share)
    sick.draw_together([1, 2], np.where(np.arange(300) < 30, 1.0, 1e-5))
    (found,) = sick.break_("gradient", start=30).break_("weight", start=30).break_loss(31).feed(batch=batch).findings()
    assert (found.kind, found.first_step) == ("nonfinite_gradient", 30)


@pytest.mark.parametrize(("step", "is_named"), [(119, True), (120, False), (40, False)])
def test_a_rate_that_was_not_finite_in_the_step_before(step: int, *, is_named: bool) -> None:
    run = Run(dense(2), n_steps=200).break_loss(120).break_("gradient", start=120).thin(50, keep_bad=False)
    run.scalars[step, 1] = np.nan
    found = run.feed().findings()[0]
    assert (found.kind, found.first_step) == ("nonfinite_loss", 120)
    assert (found.title == "Loss became NaN at step 120: the learning rate was not finite at step 119") == is_named
    assert (found.hypotheses[0].cause == "The learning rate itself was not finite") == is_named
