"""Trainings that never become NaN: gradients lost to float16, unread outputs, weights blown up, games that are over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine
from gradwatch_server.health.table import TensorTable
from tests.health.streams import BATCH, COLUMN, NORMS, Run, dense, forward
from tests.numerics.reference import row

N = 300
RELUS = [(f"dense_{i}", 32, "relu") for i in range(4)]


def run(**options: Any) -> Run:
    return Run(dense(4), **({"n_steps": N} | options)).set_loss(2.3)


def half() -> Run:
    """A model that computes in float16: its outputs are, its variables are not."""
    return run(layers=RELUS, dtype="float16").scale("gradient", 0.0).set_loss(2e-7)


def causes(finding: Any) -> list[str]:
    return [hypothesis.cause for hypothesis in finding.hypotheses]


# -- zeros -------------------------------------------------------------------------------------------------------------


def test_gradients_lost_to_float16_are_told_however_small_the_loss() -> None:
    (found,) = half().feed().findings()
    assert (found.kind, found.severity, found.first_step) == ("zero_gradient", "critical", 0)
    assert causes(found)[0] == "Underflow in float16"
    assert "LossScaleOptimizer" in found.hypotheses[0].code


@pytest.mark.parametrize(("size", "is_underflow"), [(1e-6, True), (1e-3, False)])
def test_underflow_of_the_first_layers_leaves_the_others_small(size: float, is_underflow: bool) -> None:
    sick = run(layers=RELUS, dtype="float16").scale("gradient", 64 * size / NORMS["gradient"])
    for kind in ("gradient", "backprop"):
        sick.scale(kind, 0.0, [0, 1] if kind == "gradient" else [0])
    (found,) = sick.feed().findings()
    assert (found.kind, found.first_step, found.layer) == ("zero_gradient", 0, "dense_0")
    assert (causes(found)[0] == "Underflow in float16") == is_underflow
    if is_underflow:
        assert "what is left elsewhere is no larger than" in found.hypotheses[0].why


def test_underflow_is_told_though_the_loss_has_fallen_far() -> None:
    """What is left learns on: that the first layers stand still does not show in the loss."""
    loss = np.linspace(1e-5, 1e-5, N)
    loss[100:] = 5e-7

    def trained(dtype: str) -> Run:
        sick = run(layers=RELUS, dtype=dtype).set_loss(loss)
        return (
            sick.scale("gradient", 1e-6).scale("gradient", 0.0, [0, 1], start=60).scale("backprop", 0.0, [0], start=60)
        )

    (found,) = trained("float16").feed().findings()
    assert (found.kind, found.first_step, causes(found)[0]) == ("zero_gradient", 60, "Underflow in float16")
    assert not trained("float16").scale_loss(32_768.0).feed().findings()
    assert not trained("float32").feed().findings()


@pytest.mark.parametrize(
    ("function", "dead", "is_named"), [("relu", [3], True), (None, [3], False), ("relu", [2, 3], False)]
)
def test_a_relu_that_closes_the_last_layer(function: str | None, dead: list[int], is_named: bool) -> None:
    layers = [*RELUS[:3], ("out", 1, function)]
    sick = run(layers=layers).scale("gradient", 0.0, start=40).scale("activation", 0.0, dead, start=40)
    (found,) = sick.feed().findings()
    assert (causes(found)[0] == "The relu of the last layer, out, gives nothing but 0") == is_named


def test_with_a_loss_scale_underflow_is_less_likely() -> None:
    (found,) = half().scale_loss(32_768.0).feed().findings()
    confidence = {hypothesis.cause: hypothesis.confidence for hypothesis in found.hypotheses}
    (lost,) = half().feed().findings()
    assert confidence["Underflow in float16"] < lost.hypotheses[0].confidence


def test_a_loss_that_fell_to_nothing_needs_no_gradient() -> None:
    loss = np.where(np.arange(N) < 100, 2.3, 1e-9)
    assert not run().set_loss(loss).scale("gradient", 0.0, start=100).feed().findings()


@pytest.mark.parametrize("batch", [1, 64])
def test_gradients_that_come_back_close_the_finding_at_once(batch: int) -> None:
    (found,) = run(n_steps=600).scale("gradient", 0.0, start=100, stop=320).feed(batch=batch).findings()
    assert found.title == "Every kernel's gradient was exactly zero from step 100 to step 319"
    assert (found.severity, found.last_step) == ("warning", 319)


def cancelled(share: float, places: list[int], variables: Any = None) -> Run:
    """Some kernels' gradients are next to nothing beside the whole."""
    sick = Run(variables or dense(4), n_steps=N).set_loss(2.3)
    whole = np.sqrt((sick.statistics[:, sick.columns("gradient"), COLUMN["norm"]] ** 2).sum(axis=1))
    for column in sick.columns("gradient", places):
        sick.statistics[:, column, COLUMN["norm"]] = share * whole
    return sick


@pytest.mark.parametrize("batch", [1, 64])
def test_what_rounding_leaves_of_a_gradient_is_none(batch: int) -> None:
    (found,) = cancelled(3e-8, [2, 3, 4, 5]).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("zero_gradient", "warning", 0)
    assert "nothing but rounding from the first step on" in found.title
    assert 3e-8 <= found.evidence["rounding"] < 6e-8  # of what the others leave
    assert "softmax or a normalisation over an axis of length one" in causes(found)[0]
    assert found.evidence["fed_zeros"] is None, "the bias has as little"


@pytest.mark.parametrize(("n_targets", "whole", "is_outweighed"), [(2, 1e6, True), (1, 1e6, False), (2, 1e-2, False)])
def test_an_output_of_several_that_is_outweighed(n_targets: int, whole: float, *, is_outweighed: bool) -> None:
    """Its gradient is of some size, and nothing beside the whole."""
    targets = [("target/price", 1), ("target/kind", 1)][:n_targets]
    sick = Run(dense(4), n_steps=N, inputs=targets).set_loss(2.3)
    columns = sick.columns("gradient")
    sick.statistics[:, columns, COLUMN["norm"]] = whole
    sick.statistics[:, sick.columns("gradient", [2, 3, 4, 5]), COLUMN["norm"]] = 3e-8 * whole
    (found,) = [one for one in sick.feed().findings() if one.kind == "zero_gradient"]
    assert ("next to nothing" in found.title) == is_outweighed
    assert causes(found)[0].startswith("Another term of the loss is so large") == is_outweighed


def test_a_softmax_over_an_axis_of_one_is_named_where_the_step_shows_it() -> None:
    sick = cancelled(3e-8, [2, 3, 4, 5])
    source = {"file": "/home/me/train.py", "line": 47, "code": "weights = tf.nn.softmax(score)"}
    sick.slips = [{"type": "Softmax", "name": "pool/Softmax", "layer": "pool", "source": source}]
    (found,) = sick.feed().findings()
    assert causes(found) == ["A softmax runs over an axis of length one (train.py:47)"]
    sick.slips[0]["source"] = None
    (found,) = sick.feed().findings()
    assert "The softmax of pool is given one number" in found.hypotheses[0].why


def test_a_softmax_over_an_axis_of_one_is_told_though_the_rest_learns() -> None:
    sick = Run(dense(4), n_steps=N).scale("gradient", 0.0, [2, 3]).set_loss(0.01 + 2 * np.exp(-np.arange(N) / 20))
    assert sick.feed().findings() == []
    sick.slips = [{"type": "Softmax", "name": "pool/Softmax", "layer": "pool", "source": None}]
    (found,) = sick.feed().findings()
    assert found.kind == "zero_gradient"
    assert causes(found) == ["A softmax runs over an axis of length one"]


@pytest.mark.parametrize(("places", "n_found"), [([3], 0), ([2, 3], 1)], ids=["bias", "kernel and bias"])
def test_a_layer_is_read_where_one_of_its_variables_has_a_gradient(places: list[int], n_found: int) -> None:
    """Attention does not see what is added to all keys alike: their bias, of two axes, never has a gradient."""
    variables = dense(4)
    variables[3] = ("dense_1/bias", (4, 16), "float32")
    assert len(cancelled(3e-8, places, variables).feed().findings()) == n_found


@pytest.mark.parametrize(("n_scores", "kind"), [(1, "zero_gradient"), (4, "vanishing_gradient")])
def test_a_layer_of_scores_that_no_other_stands_before(n_scores: int, kind: str) -> None:
    """One number for each item, of which a softmax over the one item is always 1."""
    kernels = [("hidden", (8, 32)), ("scores", (32, n_scores)), ("dense", (8, 32)), ("out", (32, 1))]
    variables = [(f"{name}/kernel", shape, "float32") for name, shape in kernels]
    (found,) = cancelled(3e-9, [0, 1], variables).feed().findings()
    assert found.kind == kind


def test_a_small_gradient_is_one_and_so_is_one_that_fades_with_depth() -> None:
    assert not cancelled(1e-6, [2, 3, 4, 5]).feed().findings()
    told = {finding.kind for finding in cancelled(3e-8, [0, 1, 2, 3]).feed().findings()}
    assert told == {"vanishing_gradient"}


def unread(*, is_dead: bool) -> Run:
    """The first two layers get no gradient; of a dead layer the output is zero too."""
    sick = run(layers=RELUS).scale("gradient", 0.0, [0, 1, 2, 3], start=20).scale("backprop", 0.0, [0, 1], start=20)
    return sick.scale("activation", 0.0, [1], start=20) if is_dead else sick


def test_outputs_that_nothing_reads_are_not_dead_units() -> None:
    (found,) = unread(is_dead=False).feed().findings()
    assert (found.kind, found.first_step) == ("zero_gradient", 20)
    assert "did compute something" in found.evidence["summary"]
    assert found.evidence["unread"] == ["dense_0", "dense_1"]


@pytest.mark.parametrize("function", [None, "relu"])
def test_a_layer_that_gives_zeros_from_the_start_explains_zero_gradients(function: str | None) -> None:
    """One whose function kills units may have died; another has no weights or no input but zeros."""
    sick = Run(dense(3), n_steps=N, layers=[("table", 8, function), *((f"dense_{i}", 32, "relu") for i in range(3))])
    sick.set_loss(0.7).scale("gradient", 0.0, [0])
    for name in ("norm", "min", "max", "mean", "std"):
        sick.statistics[:, sick.columns("activation", [0])[0], COLUMN[name]] = 0.0
    found = [one for one in sick.feed().findings() if one.kind == "zero_gradient"]
    is_told = any(cause == "table outputs only zeros" for one in found for cause in causes(one))
    assert (len(found), is_told) == (1, function is None)


def test_behind_a_layer_that_gives_only_zeros_nothing_is_called_unread() -> None:
    found = unread(is_dead=True).feed().findings()
    assert not any("Nothing reads" in cause for one in found for cause in causes(one))


# -- growth ------------------------------------------------------------------------------------------------------------


def blown_up(factor: float = 22.0, **options: Any) -> Run:
    """Three rows of a large gradient, after which the weights are larger for good."""
    sick = run(**options).scale("gradient", [300.0, 3e4, 800.0], start=150, stop=153)
    return sick.scale("weight", factor, start=152)


@pytest.mark.parametrize("every", [1, 10])
def test_a_burst_that_leaves_larger_weights_is_told(every: int) -> None:
    sick = blown_up()
    found = (sick.thin(every) if every > 1 else sick).feed().findings()
    (burst,) = [one for one in found if one.kind == "exploding_gradient"]
    assert (burst.severity, burst.first_step) == ("critical", 150)
    assert "left the weights 22" in burst.title
    assert burst.evidence["weight_factor"] == pytest.approx(22, rel=0.1)


@pytest.mark.parametrize("function", ["relu", None])
def test_a_recurrence_that_nothing_limits_is_named(function: str | None) -> None:
    cell = [("lstm/kernel", (4, 160)), ("lstm/recurrent_kernel", (40, 160)), ("lstm/bias", (160,))]
    variables = [(name, shape, "float32") for name, shape in cell]
    sick = Run(variables, n_steps=N).set_loss(0.5).scale("gradient", [300.0, 3e4, 800.0], start=150, stop=153)
    slip = {"type": "While", "name": "lstm", "layer": "lstm", "source": None}
    sick.slips = [slip | {"unbounded": function}] if function else []
    (burst,) = [one for one in sick.scale("weight", 22.0, start=152).feed().findings() if "exploding" in one.kind]
    named = "The recurrence of lstm has a function without an end: relu"
    assert (causes(burst)[0] == named) == (function is not None)


def test_a_burst_that_left_no_trace_is_noise() -> None:
    assert not blown_up(1.0).feed().findings()


def test_larger_weights_without_a_burst_are_no_explosion() -> None:
    assert not run().scale("weight", 22.0, start=150).feed().findings()


def test_a_loss_without_a_bottom_is_named() -> None:
    loss = -np.exp(np.arange(N) / 30.0)
    found = blown_up().set_loss(loss).feed().findings()[0]
    assert causes(found)[0] == "The loss has no lower bound, and training follows it down"
    assert not any("no lower bound" in cause for one in blown_up().feed().findings() for cause in causes(one))


def test_labels_beyond_one_are_why_a_cross_entropy_has_no_bottom() -> None:
    loss = -np.exp(np.arange(N) / 30.0)
    for units, is_named in ((1, True), (2, False)):
        layers = [*RELUS[:-1], ("last", units, "linear")]
        sick = Run(dense(3), n_steps=N, layers=layers, inputs=[("target", units)]).set_loss(loss)
        sick.statistics[:, sick.columns("input"), COLUMN["max"]] = 255
        sick.scale("gradient", 1e4, start=150).scale("weight", 22.0, start=150)
        found = [cause for one in sick.feed().findings() for cause in causes(one)]
        assert ("Labels lie outside of 0 to 1" in found) is is_named
        assert any("no lower bound" in cause for cause in found)


@pytest.mark.parametrize(("largest", "is_named"), [(4.0, True), (4.5, False), (255.0, False)])
def test_numbers_of_classes_are_why_a_cross_entropy_has_no_bottom(largest: float, is_named: bool) -> None:
    loss = -np.exp(np.arange(N) / 30.0)
    sick = Run(dense(3), n_steps=N, layers=[*RELUS[:-1], ("last", 1, "linear")], inputs=[("target", 1)]).set_loss(loss)
    for name, value in {"min": 0.0, "max": largest, "mean": 1.5, "n_elements": BATCH}.items():
        sick.statistics[:, sick.columns("input"), COLUMN[name]] = value
    sick.scale("gradient", 1e4, start=150).scale("weight", 22.0, start=150)
    found = [cause for one in sick.feed().findings() for cause in causes(one)]
    assert any("numbers of several classes" in cause for cause in found) is is_named


@pytest.mark.parametrize(
    ("is_clipped", "level", "weights", "is_told"),
    [
        pytest.param(True, 0.3, 1.0, False, id="held by clipping, and the loss is lower since"),
        pytest.param(False, 0.3, 1.0, True, id="no clipping"),
        pytest.param(True, 1.5, 1.0, True, id="the loss is not lower"),
        pytest.param(True, 0.3, 3.0, True, id="the weights are others"),
    ],
)
def test_growth_that_clipping_held(is_clipped: bool, level: float, weights: float, is_told: bool) -> None:
    n = 700
    sick = Run(dense(3), n_steps=n).set_loss(np.where(np.arange(n) < 150, 1.0, level))
    sick.scale("gradient", 300.0, start=150, stop=190).scale("weight", weights, start=160)
    sick.add_scalar("clipped_share", 1.0 if is_clipped else np.nan)
    found = [one for one in sick.feed().findings() if one.kind == "exploding_gradient"]
    assert bool(found) is is_told


# -- inputs out of all proportion --------------------------------------------------------------------------------------


def struck(value: float) -> Run:
    """One batch with a finite value in column 3, and a loss that overflows there."""
    sick = run(inputs=[("input", 8)])
    column = sick.columns("input")[0]
    sick.statistics[:, column, COLUMN["min"]], sick.statistics[:, column, COLUMN["max"]] = -2.0, 2.0
    sick.statistics[120, column, COLUMN["max"]] = value
    block = np.zeros((N, 8, 3), np.float32)
    block[:, :, 1], block[:, :, 2] = -2.0, 2.0
    block[120, 3, 2] = value
    rows, none = np.full((N, 8), -1, np.int64), np.zeros(N, np.int64)
    sick.input_columns.append(
        {"tensor": "input", "steps": sick.steps, "columns": block, "bad_rows": rows, "n_bad_rows": none}
    )
    for kind in ("gradient", "update", "weight"):
        sick.break_(kind, start=120)
    return sick.break_loss(120, value=float("inf"))


@pytest.mark.parametrize("batch", [1, 64])
def test_a_finite_outlier_is_named_with_its_column(batch: int) -> None:
    found = struck(1e22).feed(batch=batch).findings()[0]
    assert (found.kind, found.first_step) == ("nonfinite_loss", 120)
    assert "input reached 1e+22" in found.title
    assert causes(found)[0] == "A value in the inputs of this batch is out of all proportion"
    assert "(column 3), after at most 2 in all steps before" in found.evidence["summary"]


def test_what_is_usual_is_no_outlier() -> None:
    found = struck(200.0).feed().findings()[0]
    assert not any("out of all proportion" in cause for cause in causes(found))


# -- weights that were broken before training --------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "is_given"), [("float32", True), ("float16", False)])
def test_weights_broken_at_the_first_row(dtype: str, is_given: bool) -> None:
    sick = Run(dense(4, dtype=dtype), n_steps=60).set_loss(2.3)
    for kind in ("update", "weight"):
        sick.break_(kind, [0], start=0, n=64)
    (found,) = sick.feed().findings()
    assert (found.kind, found.first_step) == ("nonfinite_weight", 0)
    assert (found.title == "Weights of dense_0 were NaN at the first step already (step 0)") == is_given
    assert causes(found)[0].startswith("The weights were broken before" if is_given else "The optimizer turned")


@pytest.mark.parametrize(("broken", "is_given"), [(None, True), (("dense_0/kernel",), True), ((), False)])
def test_weights_that_are_known_to_have_been_whole_before(broken: tuple[str, ...] | None, is_given: bool) -> None:
    sick = Run(dense(4), n_steps=60, broken=broken).set_loss(2.3)
    for kind in ("update", "weight"):
        sick.break_(kind, [0], start=0, n=64)
    (found,) = sick.feed().findings()
    assert (found.kind, found.first_step) == ("nonfinite_weight", 0)
    assert causes(found)[0].startswith("The weights were broken before" if is_given else "The optimizer turned")
    assert ("no batch has asked for" in found.hypotheses[0].why) != is_given


# -- kernels that a penalty shrinks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "is_told"), [(0.0, True), (0.5, False)])
@pytest.mark.parametrize("batch", [1, 64])
def test_kernels_whose_gradient_is_nothing_but_themselves(noise: float, is_told: bool, batch: int) -> None:
    """They shrink to a twentieth: what a penalty does where its gradient is all there is, and learning may do too."""
    n = 400
    layers = [(f"dense_{i}", 64, None) for i in range(4)]
    sick = Run(dense(4), n_steps=n, layers=layers).set_loss(2.3 - np.arange(n) / n)
    share = np.maximum(np.exp(-np.arange(n) / 60.0), 0.05)
    random = np.random.default_rng(4)
    for place in (2, 4):
        weight, gradient, update = (int(sick.columns(kind, [place])[0]) for kind in ("weight", "gradient", "update"))
        sick.statistics[:, update, COLUMN["norm"]] = 0.02 * 3.9 * share
        numbers = {"std": 0.06, "mean": 0.004, "min": -0.31, "max": 0.18, "norm": 3.9}
        for name, value in ((name, value * (1 + place / 100)) for name, value in numbers.items()):
            sick.statistics[:, weight, COLUMN[name]] = value * share
            sick.statistics[:, gradient, COLUMN[name]] = 0.2 * value * share * np.exp(noise * random.standard_normal(n))
    found = [one for one in sick.feed(batch=batch).findings() if "kernel" in one.title]
    assert [one.title.partition(" has ")[0] for one in found] == [
        "The kernel of dense_1 (and of 1 more layer)"
    ] * is_told
    if is_told:
        assert causes(found[0])[0] == "Regularisation or weight decay outweighs the loss"
        assert "times 0.2: so is that of an L2 penalty with the factor 0.1" in found[0].hypotheses[0].why


# -- a loss that guesses among the samples of a batch ------------------------------------------------------------------


def guessing(level: float, n: int = N, n_classes: int = 10, others: Sequence[Any] = (), **options: Any) -> Run:
    noise = 0.01 * np.random.default_rng(1).standard_normal(n)
    return Run(dense(4, n_classes), n_steps=n, inputs=[("input", 8), *others], **options).set_loss(level + noise)


@pytest.mark.parametrize("batch", [1, 64, N])
def test_a_loss_at_the_logarithm_of_the_batch(batch: int) -> None:
    (found,) = guessing(float(np.log(64))).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert "guessing among the 64 samples of a batch" in found.title
    assert causes(found)[0] == "A broadcast made the batch an axis of the scores"


def test_pairs_that_are_none() -> None:
    """Scores begin with some spread, so the loss a little above; a step of two inputs may ask which belong together."""
    sick = Run(dense(4, 10), n_steps=N, inputs=[("input/0", 8), ("input/1", 8)])
    loss = np.log(64) * (1 + 0.08 * np.exp(-np.arange(N) / 10)) + 0.01 * np.random.default_rng(1).standard_normal(N)
    (found,) = sick.set_loss(loss).feed().findings()
    assert "guessing among the 64 samples of a batch" in found.title
    assert causes(found)[0] == "The two halves of the pairs do not belong together"


@pytest.mark.parametrize(("others", "is_twice"), [([], True), (["Log"], False)])
def test_a_softmax_that_no_logarithm_is_taken_of_is_taken_twice(others: list[str], is_twice: bool) -> None:
    own = [forward(kind, kind, code=f"{kind.lower()}(scores)", line=9) for kind in ["Softmax", *others]]
    (found,) = guessing(float(np.log(64)), operations=own).feed().findings()
    assert (causes(found)[0] == "A softmax taken twice (train.py:9)") == is_twice


def test_targets_that_are_one_number_are_no_labels() -> None:
    """What a generator wants to hear of every sample that it makes: its loss may stay at that of guessing."""

    def play(*, low: float) -> list[str]:
        well = Run(dense(4, 2), n_steps=N, layers=RELUS, inputs=[("input", 8), ("target", 1)])
        column = well.columns("input", [1])[0]
        for name, value in {"min": low, "max": 1.0, "mean": (1 + low) / 2, "std": (1 - low) / 2}.items():
            well.statistics[:, column, COLUMN[name]] = value
        engine = well.set_loss(0.7 + 0.01 * np.random.default_rng(0).standard_normal(N)).feed()
        engine.finish()
        return [found.kind for found in engine.findings()]

    assert play(low=1.0) == []
    assert play(low=0.0) == ["loss_plateau"]


def test_another_level_or_one_that_is_come_to_is_none() -> None:
    assert not guessing(3.9).feed().findings()
    late = guessing(float(np.log(64)))
    late.scalars[:30, 0] = 5.0
    assert not late.feed().findings()


@pytest.mark.parametrize(("role", "is_told"), [("target", True), ("sample_weight", False)])
def test_a_mean_of_what_is_weighed_is_at_no_level(role: str, is_told: bool) -> None:
    """Pairs that count as often as they were seen, six times on average: six times ln 2 is ln 64."""
    well = guessing(float(np.log(64)), others=[(role, 1)])
    assert bool(well.feed().findings()) == is_told


@pytest.mark.parametrize(("n_classes", "is_told"), [(64, False), (65, False), (60, False), (80, True)])
def test_as_many_classes_as_samples_are_no_broadcast(n_classes: int, is_told: bool) -> None:
    assert bool(guessing(float(np.log(64)), n_classes=n_classes).feed().findings()) == is_told


def test_a_level_that_is_left_and_long_over_was_no_trouble() -> None:
    sick = guessing(float(np.log(64)), 600)
    sick.scalars[350:, 0] = 1.0
    assert sick.feed().findings() == []


def test_a_level_that_is_left_is_told_in_the_past() -> None:
    sick = guessing(float(np.log(64)), 600)
    sick.scalars[450:, 0] = 1.0
    (found,) = sick.feed().findings()
    assert found.title.startswith("The loss stood at 4.16, guessing among the 64 samples of a batch, until step")


def test_gates_that_are_flat_are_explained_by_far_inputs() -> None:
    sick = Run(dense(3), n_steps=N, layers=RELUS, inputs=[("input", 4)]).set_loss(2.3)
    sick.statistics[:, sick.columns("input"), COLUMN["max"]] = 3e6
    (found,) = sick.scale("gradient", 0.0, [0, 1]).feed().findings()
    assert (found.kind, causes(found)) == ("zero_gradient", ["The inputs are not scaled"])
    assert "no slope" in found.hypotheses[0].why


def test_the_two_biases_of_a_gru_are_no_factor() -> None:
    """They begin at 0 side by side, as one variable of two rows."""
    cell = [("gru/kernel", (4, 48)), ("gru/recurrent_kernel", (16, 48)), ("gru/bias", (2, 48))]
    variables = [(name, shape, "float32") for name, shape in cell] + dense(1)
    sick = Run(variables, n_steps=N).set_loss(2.3).scale("weight", 0.0, [2]).scale("gradient", 0.0, [0, 1, 2])
    (found,) = sick.feed().findings()
    assert not any("began at exactly 0" in cause for cause in causes(found))


# -- what holds units and factors at 0 ---------------------------------------------------------------------------------


def residual(*, is_kernel_zero: bool) -> Run:
    """A block times a gate that begins at 0: gate and second kernel, if that begins at 0 too, stay so."""
    variables = [*dense(4)[:6], ("gate", (1,), "float32"), *dense(4)[6:]]
    sick = Run(variables, n_steps=N, layers=RELUS).set_loss(2.3)
    zero = [4, 6] if is_kernel_zero else [6]
    sick.scale("weight", 0.0, zero).scale("gradient", 0.0, [2, 3, 4, 5, *zero])
    return sick


@pytest.mark.parametrize("every", [1, 10])
def test_factors_that_all_begin_at_zero(every: int) -> None:
    (found,) = residual(is_kernel_zero=True).thin(every).feed().findings()
    assert (found.kind, found.severity, found.first_step) == ("zero_gradient", "warning", 0)
    assert causes(found) == ["Factors of one product all began at exactly 0: dense_2/kernel and gate"]


def test_one_factor_that_begins_at_zero_explains_nothing() -> None:
    (found,) = residual(is_kernel_zero=False).feed().findings()
    assert not any("Factors" in cause for cause in causes(found))


@pytest.mark.parametrize(
    ("kernel", "bias"),
    [
        pytest.param((8, 4), (4,), id="dense"),
        pytest.param((3, 3, 8, 4), (4,), id="convolution"),
        pytest.param((8, 2, 3), (2, 3), id="heads of an attention"),
    ],
)
def test_biases_that_begin_at_zero_are_no_further_factors(kernel: tuple[int, ...], bias: tuple[int, ...]) -> None:
    shapes = {"kernel": kernel, "bias": bias}
    parts = [(f"{layer}/{part}", shape, "float32") for layer in "ab" for part, shape in shapes.items()]
    sick = Run([*parts, *dense(1)], n_steps=N).set_loss(2.3)
    found = sick.scale("weight", 0.0, [0, 1, 3]).scale("gradient", 0.0, [0, 1, 2, 3]).feed().findings()
    assert [one.kind for one in found] == ["zero_gradient"]
    assert not any("Factors" in cause for cause in causes(found[0]))


@pytest.mark.parametrize(
    ("shapes", "n_kernels"),
    [
        pytest.param([(8, 2, 3), (2, 3)], 1, id="heads of an attention"),
        pytest.param([(4, 8, 6), (8, 6), (6,)], 2, id="two kernels, and the bias of both"),
        pytest.param([(8, 6), (6,)], 1, id="dense"),
    ],
)
def test_what_counts_as_a_kernel(shapes: list[tuple[int, ...]], n_kernels: int) -> None:
    table = Run([(f"a/{i}", shape, "float32") for i, shape in enumerate(shapes)], n_steps=1).tensors
    assert len(TensorTable.from_message(table).kernels) == n_kernels


@pytest.mark.parametrize(("bias", "is_low"), [(-4.6, True), (-0.2, False), (0.5, False)])
def test_a_bias_that_holds_a_layer_below_zero(bias: float, is_low: bool) -> None:
    sick = run(layers=RELUS).flatten([1], 1.0).scale("gradient", 0.0, [0, 1, 2, 3])
    sick.statistics[:, sick.columns("weight", [3]), COLUMN["max"]] = bias
    found = sick.feed().findings()[0]
    assert (found.kind, found.layer) == ("dead_units", "dense_1")
    assert causes(found)[0].startswith("The bias holds every unit below 0" if is_low else "Units that died")


# -- a squared error that is the variance of the targets ---------------------------------------------------------------


def mean_guesser(level: float = 1.0, *, mean: float = 0.2, std: float = 1.0, n: int = 600, rank: int = 2) -> Run:
    """A regression whose loss falls to a multiple of the variance of its targets and stays there, with noise."""
    random = np.random.default_rng(2)
    layers = [*RELUS[:3], ("dense_3", 1, None)]
    sick = Run(dense(4, 1), n_steps=n, layers=layers, inputs=[("input", 8), ("target", 1)])
    column = sick.columns("input", [1])[0]
    means = mean + std / np.sqrt(32) * random.standard_normal(n)
    for name, values in {"min": means - 2 * std, "max": means + 2 * std, "mean": means, "std": std}.items():
        sick.statistics[:, column, COLUMN[name]] = values
    sick.tensors[column]["shape"] = [None, 1][:rank]
    variance = float(std**2 + means.var())
    noise = 1 + 0.2 * random.standard_normal(n)
    return sick.set_loss(variance * (level * noise + 2 * np.exp(-np.arange(n) / 15)))


@pytest.mark.parametrize("batch", [1, 64, N])
@pytest.mark.parametrize("every", [1, 20])
def test_a_loss_at_the_variance_of_the_targets(batch: int, every: int) -> None:
    (found,) = mean_guesser(std=3.0).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 100)
    assert found.title.endswith("in 500 steps: that is about the variance of the targets")
    assert found.evidence["guess"] == pytest.approx(9.0, rel=0.1)
    assert causes(found)[0].startswith("The labels do not belong")


def test_targets_of_another_rank_than_the_outputs_are_broadcast() -> None:
    sick = mean_guesser(rank=1)
    sick.statistics[:, sick.columns("backprop", [3])] = np.nan
    (found,) = sick.feed().findings()
    assert causes(found)[0] == "A broadcast compares each prediction with every target"


def test_not_where_the_gradient_shows_that_each_sample_has_a_target_of_its_own() -> None:
    (found,) = mean_guesser(rank=1).feed().findings()
    assert causes(found)[0].startswith("The labels do not belong")
    assert not any("broadcast" in cause for cause in causes(found))


@pytest.mark.parametrize("level", [0.3, 0.9, 1.1, 4.0])
def test_another_level_than_the_variance_says_nothing(level: float) -> None:
    assert not mean_guesser(level).feed().findings()


@pytest.mark.parametrize("batch", [1, 64, N])
def test_targets_that_the_outputs_do_not_come_to(batch: int) -> None:
    """The loss is the mean square of the targets, of which the variance is a hundredth: the model gives 0."""
    sick = mean_guesser(101.0, mean=30.0, std=3.0)
    sick.scalars[:, 0] = 909.0 * (1 + 0.01 * np.random.default_rng(3).standard_normal(len(sick.steps)))
    (found,) = sick.feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title.endswith("in 600 steps: the outputs are still near 0, and the targets far from it")
    assert found.evidence["guess"] == pytest.approx(909.0, rel=0.01)
    assert "30" in found.evidence["summary"]
    assert causes(found)[0] == "The targets are not scaled"
    assert not sick.set_loss(1.3 * sick.scalars[:, 0]).feed().findings(), "another level says nothing"


@pytest.mark.parametrize(("given", "is_told"), [(0.5, True), (20.0, False)])
def test_an_absolute_error_of_targets_that_the_outputs_do_not_come_to(given: float, is_told: bool) -> None:
    """The loss is the mean size of the targets, and the outputs are near 0, or not."""
    sick = mean_guesser(mean=30.0, std=3.0)
    output = sick.columns("activation", [3])[0]
    sick.statistics[:, output, COLUMN["mean"]] = sick.statistics[:, output, COLUMN["std"]] = given
    found = sick.set_loss(30.0 * (1 + 0.01 * np.random.default_rng(3).standard_normal(600))).feed().findings()
    assert bool(found) == is_told
    if is_told:
        assert found[0].title.endswith("in 600 steps: the outputs are still near 0, and the targets far from it")
        assert found[0].evidence["guess"] == pytest.approx(30.0, rel=0.01)
        assert found[0].evidence["is_target_size"]
        assert causes(found[0])[0] == "The targets are not scaled"


def test_targets_around_0_are_no_reason_to_stay_there() -> None:
    (found,) = mean_guesser(std=3.0).feed().findings()
    assert "is_target_square" not in found.evidence


def test_what_hardly_moves_has_not_settled_anywhere() -> None:
    assert not mean_guesser().scale("update", 0.02).feed().findings()


def test_the_variance_of_labels_is_no_loss() -> None:
    labels = mean_guesser(std=0.5, mean=0.5)
    column = labels.columns("input", [1])[0]
    share = labels.statistics[:, column, COLUMN["mean"]]
    for name, values in {"min": 0.0, "max": 1.0, "std": np.sqrt(share * (1 - share))}.items():
        labels.statistics[:, column, COLUMN[name]] = values
    assert not labels.feed().findings()


def test_a_variance_that_is_left_is_told_in_the_past() -> None:
    late = mean_guesser(n=1_000)
    late.scalars[700:, 0] *= 0.2
    (found,) = late.feed().findings()
    assert found.title == "The loss stood at 1, the variance of the targets, until step 699"


def given_back(spread: float) -> Run:
    """An autoencoder without targets, whose loss is the variance of its input, and whose output varies so much."""
    sick = mean_guesser()
    target, output = sick.columns("input", [1])[0], sick.columns("activation", [3])[0]
    sick.tensors[target]["tensor"] = "input"
    sick.statistics[:, output, COLUMN["std"]] = spread
    sick.tensors = [
        one | {"kind": "slot"} if one["tensor"] == "input" and one["shape"][-1] == 8 else one for one in sick.tensors
    ]
    return sick


def test_an_input_that_is_given_back_as_its_mean() -> None:
    (found,) = given_back(0.05).feed().findings()
    assert found.title.endswith("that is about the variance of the input, which the model is to give back")
    assert causes(found)[0].startswith("A penalty outweighs")


def test_a_loss_that_is_as_large_as_the_inputs_variance_by_chance() -> None:
    assert not given_back(0.7).feed().findings()


@pytest.mark.parametrize(("narrow", "n_found"), [(1e-4, 2), (1e-2, 0), (0.0, 0)])
def test_columns_that_hardly_vary_beside_another_one(narrow: float, n_found: int) -> None:
    sick = mean_guesser()
    block = np.zeros((600, 8, 3), np.float32)
    block[:, :, 1], block[:, :, 2] = -1.0, 1.0
    block[:, [2, 5], 1], block[:, [2, 5], 2] = 3.0, 3.0 + 2 * narrow
    nothing = np.full((600, 8), -1, np.int64)
    sick.input_columns.append(
        {"tensor": "input", "steps": sick.steps, "columns": block, "bad_rows": nothing, "n_bad_rows": nothing[:, 0] + 1}
    )
    (found,) = sick.feed().findings()
    first = found.hypotheses[0]
    assert first.cause.startswith("The inputs are not scaled: column 0 is over 1,000 times as wide as 2 others") == (
        n_found > 0
    )
    assert ("Columns 2 and 5 take less" in first.why) == (n_found > 0)


# -- games -------------------------------------------------------------------------------------------------------------


def game(factor: float, losses: tuple[str, ...]) -> Engine:
    """Two optimizers; the second one's gradient falls to a factor of its start within ten steps."""
    engine = Engine()
    for stream, name in enumerate(("critic", "generator")):
        player = Run(dense(3), n_steps=N, stream=stream, optimizer=name, seed=stream)
        player.present[:, 0] = False
        if stream:
            player.scale("gradient", np.maximum(np.exp(-np.arange(N) / 1.0), factor))
        player.feed(engine)
    for name in losses:
        engine.feed_scalar(name, np.arange(N), np.exp(-np.arange(N) / 10.0) + 1e-7)
    return engine


def test_a_side_that_is_left_without_a_gradient() -> None:
    (found,) = game(1e-6, ("d_loss", "g_loss")).findings()
    assert (found.kind, found.severity) == ("vanishing_gradient", "warning")
    assert "of what it was" in found.title
    assert causes(found)[0].startswith("One side has won")


def test_a_side_that_still_has_one_is_well() -> None:
    assert not game(1e-3, ("d_loss", "g_loss")).findings()


def test_two_optimizers_of_one_loss_that_is_done_are_no_game() -> None:
    assert not game(1e-6, ("loss",)).findings()


def test_a_gradient_that_fades_while_the_loss_stands_still() -> None:
    faded = np.maximum(np.exp(-np.arange(N) / 5.0), 1e-6)
    found = [one for one in run().scale("gradient", faded).feed().findings() if "fallen to" in one.title]
    assert [one.kind for one in found] == ["vanishing_gradient"]
    assert causes(found[0])[0] == "The outputs stand where the loss is flat"
    loss = 2.3 * np.exp(-np.arange(N) / 20.0)
    assert not run().set_loss(loss).scale("gradient", faded).feed().findings(), "that is what training is for"


# -- parts that do not fit together ------------------------------------------------------------------------------------


def answered(function: str, low: float, high: float) -> Run:
    """A last layer with an activation, and targets between two numbers."""
    sick = run(layers=[*RELUS[:3], ("dense_3", 8, function)], inputs=[("input", 8), ("target", 8)])
    column = sick.columns("input", [1])[0]
    for name, value in {"min": low, "max": high, "mean": (low + high) / 2, "std": (high - low) / 4}.items():
        sick.statistics[:, column, COLUMN[name]] = value
    return sick


@pytest.mark.parametrize(
    ("function", "low", "high"), [("sigmoid", 25.0, 346.0), ("tanh", -4.0, 4.0), ("relu", -2.0, 2.0)]
)
@pytest.mark.parametrize("batch", [1, 64])
def test_targets_that_the_last_layer_cannot_give(function: str, low: float, high: float, batch: int) -> None:
    (found,) = answered(function, low, high).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("saturated_activation", "warning", 0)
    assert found.layer == "dense_3"
    assert causes(found)[0].startswith(f"The activation of {found.layer} does not fit the targets")


@pytest.mark.parametrize(("lowest", "is_entropy"), [(-400.0, True), (-0.9, False)], ids=str)
def test_a_loss_far_below_0_beside_targets_beyond_1_is_a_cross_entropy(lowest: float, *, is_entropy: bool) -> None:
    sick = answered("sigmoid", 0.0, 90.0).set_loss(np.linspace(0.7, lowest, N))
    (found,) = sick.feed().findings()
    assert causes(found)[0].startswith("A cross-entropy is given labels") == is_entropy


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [("sigmoid", 0.0, 1.0), ("tanh", -1.0, 1.0), ("relu", -0.1, 9.0), ("linear", 25.0, 346.0)],
)
def test_targets_within_reach_are_well(function: str, low: float, high: float) -> None:
    assert not answered(function, low, high).feed().findings()


def test_targets_out_of_reach_in_few_batches_are_outliers() -> None:
    seldom = answered("sigmoid", 0.0, 1.0)
    seldom.statistics[::5, seldom.columns("input", [1])[0], COLUMN["max"]] = 300.0
    assert not seldom.feed().findings()


def shrinking(weights: float, layers: list[tuple[str, int, str | None]] = RELUS, **options: Any) -> Run:
    """The second layer's output falls to a thousandth, and its kernel to some part, while the loss falls far."""
    factor = np.maximum(np.exp(-np.arange(N) / 10.0), 1e-3)
    sick = run(layers=layers, **options).set_loss(2.3 * np.exp(-np.arange(N) / 20.0))
    column = sick.columns("activation", [1])[0]
    sick.statistics[:, column, COLUMN["std"]] *= factor
    return sick.scale("weight", np.where(np.arange(N) < 20, 1.0, weights), [2])


@pytest.mark.parametrize(
    ("weights", "cause"), [(1.0, "A penalty on the output of dense_1 is"), (0.01, "Regularisation or")]
)
@pytest.mark.parametrize("batch", [1, 64])
def test_an_output_that_shrinks_to_nothing(weights: float, cause: str, batch: int) -> None:
    (found,) = shrinking(weights).feed(batch=batch).findings()
    assert (found.kind, found.layer) == ("dead_units", "dense_1")
    assert 20 <= found.first_step <= 45
    assert causes(found)[0].startswith(cause)


@pytest.mark.parametrize(("kind", "rate", "is_rate"), [("Adam", 0.1, True), ("Adam", 1e-3, False), ("SGD", 0.1, False)])
def test_relus_whose_output_shrinks_while_nothing_is_learned_have_died(kind: str, rate: float, is_rate: bool) -> None:
    sick = shrinking(1.0, settings={"class": kind, "learning_rate": rate}).set_loss(2.3)
    sick.scalars[:, sick.scalar_names.index("learning_rate")] = rate
    (found,) = [one for one in sick.feed().findings() if one.kind == "dead_units"]
    first = ["The learning rate is too high"] if is_rate else []
    assert causes(found)[:2] == [*first, "Units that died: relu with only negative inputs", PRIOR][:2]


PRIOR = "A penalty on the output of dense_1 is stronger than the rest of the loss"


@pytest.mark.parametrize("is_bound", [True, False])
@pytest.mark.parametrize("batch", [1, 64])
def test_weights_that_are_cut_to_a_bound_by_hand_are_a_new_start(is_bound: bool, batch: int) -> None:
    """All outputs shrink with them, from one step to the next, and learning goes on."""
    sick = run(layers=RELUS).set_loss(2.3 * np.exp(-np.arange(N) / 20.0))
    sick.scale("weight", 0.05, start=2).scale("activation", 0.01, start=2)
    if is_bound:  # nearly all weights are at it
        columns = sick.columns("weight")
        size = np.sqrt(sick.statistics[2:, columns, COLUMN["n_elements"]])
        ends = 1.05 * sick.statistics[2:, columns, COLUMN["norm"]] / size
        sick.statistics[2:, columns, COLUMN["min"]], sick.statistics[2:, columns, COLUMN["max"]] = -ends, ends
    told = [found.title for found in sick.feed(batch=batch).findings() if " has shrunk to " in found.title]
    assert bool(told) == (not is_bound)


def test_an_output_that_shrinks_beside_an_input_far_out_of_scale() -> None:
    sick = shrinking(1.0, inputs=[("input/ph", 1), ("input/pressure", 1)])
    sick.statistics[:, sick.columns("input", [1])[0], COLUMN["max"]] = 2.8e6
    (found,) = sick.feed().findings()
    assert causes(found)[0] == "The inputs are not scaled"
    assert "enter the model in `pressure`," in found.hypotheses[0].why


@pytest.mark.parametrize("batch", [1, 64])
def test_an_output_that_steps_of_its_own_size_shrank_is_the_rates_doing(batch: int) -> None:
    (found,) = shrinking(1.0).scale("update", 700.0, stop=20).feed(batch=batch).findings()
    assert causes(found) == ["The learning rate is too high"]
    (found,) = shrinking(0.01).scale("update", 700.0, stop=20).feed(batch=batch).findings()
    assert causes(found)[0].startswith("Regularisation or"), "the weights shrank with it"


def test_an_output_that_shrank_and_is_exactly_0_then_did_not_come_back() -> None:
    sick = shrinking(1.0)
    sick.statistics[60:, sick.columns("activation", [1])[0], COLUMN["std"]] = 0.0
    (found,) = sick.feed().findings()
    assert found.title.startswith("The output of dense_1 has shrunk")


def test_a_sigmoid_that_is_exactly_0_may_be_at_its_end() -> None:
    at_end = shrinking(1.0, [(f"dense_{i}", 32, "sigmoid") for i in range(4)])
    at_end.statistics[60:, at_end.columns("activation", [1])[0], COLUMN["std"]] = 0.0
    assert not at_end.feed().findings()


def test_the_last_output_may_shrink() -> None:
    well = run(layers=RELUS)
    well.statistics[:, well.columns("activation", [3])[0], COLUMN["std"]] *= np.maximum(
        np.exp(-np.arange(N) / 10.0), 1e-3
    )
    assert not well.feed().findings()


def clipped(left: float, ratio: float = 1e-6) -> Run:
    sick = run().scale("update", ratio / 1e-3)
    sick.scalars[:, 5], sick.present[:, 5] = left * sick.scalars[:, 2], True
    return sick


@pytest.mark.parametrize("batch", [1, 64])
def test_clipping_that_leaves_nothing(batch: int) -> None:
    (found,) = clipped(1e-3).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("vanishing_gradient", "warning", 0)
    assert found.title.startswith("Clipping leaves 0.001 of the gradient in every step")
    assert causes(found)[0] == "The limit of the clipping is far below the usual gradient"


def test_clipping_that_leaves_enough_or_does_no_harm_is_well() -> None:
    assert not clipped(0.05).feed().findings()
    assert not clipped(1e-3, 1e-3).feed().findings(), "an optimizer that does not care for the gradient's size"
    falling = 2.3 * np.exp(-np.arange(N) / 100.0)
    assert not clipped(1e-3).set_loss(falling).feed().findings()


@pytest.mark.parametrize(("sign", "cause"), [(-1.0, "The loss has no lower bound"), (1.0, "The learning rate")])
@pytest.mark.parametrize("batch", [1, 64])
def test_a_loss_that_runs_away(sign: float, cause: str, batch: int) -> None:
    loss = sign * (2.0 + np.maximum(np.arange(N) - 100.0, 0.0) * 10.0)
    sick = run().scale("gradient", 1.0 + np.maximum(np.arange(N) - 100.0, 0.0) / 5.0).set_loss(loss)
    sick.scalars[:, 2] *= 1.0 + np.maximum(np.arange(N) - 100.0, 0.0) / 5.0
    (found,) = sick.feed(batch=batch).findings()
    assert (found.kind, found.severity) == ("exploding_gradient", "warning")
    assert found.title.startswith("The loss has run away")
    assert causes(found)[0].startswith(cause)


def climbing(weights: float, loss: float = 12.0, n_back: int = 0) -> Run:
    """A loss that rises to a multiple of its start within 40 steps, and weights that grow likewise."""
    share = np.minimum(np.arange(N) / 40.0, 1.0)
    level = 2.0 * (1.0 + (loss - 1.0) * share)
    level[N - n_back :] = 2.0
    return run().scale("weight", 1.0 + (weights - 1.0) * share).set_loss(level)


def directed(run: Run, share: float) -> Run:
    """Gradients with a mean of either sign, and updates of which a share has the same one."""
    random = np.random.default_rng(5)
    kinds = np.array([tensor["kind"] for tensor in run.tensors])
    signs = random.choice([-1.0, 1.0], (run.n_steps, int((kinds == "gradient").sum())))
    run.statistics[:, kinds == "gradient", COLUMN["mean"]] = 1e-3 * signs
    run.statistics[:, kinds == "update", COLUMN["mean"]] = (
        1e-6 * signs * np.where(random.random(signs.shape) < share, 1.0, -1.0)
    )
    return run


@pytest.mark.parametrize("share", [0.9, 1.0])
@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 10])
def test_updates_that_go_up_the_gradient_are_why_a_loss_climbs(batch: int, every: int, share: float) -> None:
    (found,) = directed(climbing(20.0), share).thin(every).feed(batch=batch).findings()
    assert causes(found) == ["A sign is wrong: the weights are moved up the gradient"]
    assert "variable.assign_sub" in found.hypotheses[0].code


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_updates_that_go_down_or_anywhere_are_not(share: float) -> None:
    (found,) = directed(climbing(20.0), share).feed().findings()
    assert causes(found)[0] == "The learning rate is too high"


def test_updates_that_go_up_are_no_finding_of_themselves() -> None:
    """What is assigned may be meant to become larger."""
    assert not directed(run(), 1.0).feed().findings()


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 10])
def test_a_loss_that_climbs_while_the_weights_grow(batch: int, every: int) -> None:
    (found,) = climbing(20.0).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity) == ("exploding_gradient", "warning")
    assert found.title.startswith("The loss has run away: 2 at first, 24")
    assert causes(found)[:2] == ["The learning rate is too high", "Nothing limits the gradient"]
    assert "All kernels together are" in found.evidence["summary"]


def test_a_loss_that_climbs_while_the_weights_do_not_grow_may_be_a_players() -> None:
    assert not climbing(1.5).feed().findings()
    assert not climbing(20.0, loss=2.5).feed().findings(), "nor are weights that grow a climb"


@pytest.mark.parametrize(
    ("loss", "inputs", "is_told"), [(12.0, "target", True), (8.0, "target", False), (12.0, "x", False)]
)
def test_a_loss_of_targets_that_climbs_far_is_no_players(loss: float, inputs: str, is_told: bool) -> None:
    sick = Run(dense(4), n_steps=N, inputs=[("input", 8), (inputs, 1)])
    sick.set_loss(climbing(1.5, loss=loss).scalars[:, 0])
    assert [one.title.partition(":")[0] for one in sick.feed().findings()] == ["The loss has run away"] * is_told


def test_a_climb_that_is_over_is_told_in_the_past() -> None:
    (found,) = climbing(20.0, n_back=60).feed().findings()
    assert found.title.startswith("The loss ran away to 24 and came back at step")


def test_what_the_grown_weights_make_of_a_layer_is_a_consequence() -> None:
    layers = [(f"dense_{i}", 32, "tanh") for i in range(4)]
    share = np.minimum(np.arange(N) / 40.0, 1.0)
    sick = run(layers=layers).scale("weight", 1.0 + 19.0 * share).set_loss(2.0 + 22.0 * share)
    (found,) = sick.flatten([1], 0.8, start=100).feed().findings()
    assert found.title.startswith("The loss has run away")
    assert [one["kind"] for one in found.evidence["flood"]] == ["saturated_activation"]


def test_the_log_of_a_density_may_fall_far_while_its_gradient_does_not_grow() -> None:
    assert not run().set_loss(-2.0 - np.maximum(np.arange(N) - 100.0, 0.0) * 10.0).feed().findings()


def test_a_loss_that_comes_back_or_was_large_from_the_start_does_not_run_away() -> None:
    burst = np.where((np.arange(N) > 100) & (np.arange(N) < 130), 1e4, 2.0)
    assert not run().set_loss(burst).feed().findings()
    assert not run().set_loss(3e4 - 50.0 * np.arange(N)).feed().findings()


# -- a loss that is back where it began -------------------------------------------------------------------------------


def lost(after: float = 2.3, *, dtype: str = "int64", noise: float = 0.1) -> Run:
    """A loss that falls from 2.3 to 0.2, and leaves it at step 120; trained on ten classes."""
    random = np.random.default_rng(0)
    loss = np.where(np.arange(N) < 120, 0.2 + 2.1 * np.exp(-np.arange(N) / 10.0), after)
    inputs = [("input", 8), ("target", 1)]
    sick = run(layers=RELUS, inputs=inputs).set_loss(loss * (1 + noise * random.uniform(-1, 1, N)))
    sick.tensors[-1] |= {"dtype": dtype, "shape": [None]}
    sick.statistics[:, -1] = [row(batch) for batch in random.integers(0, 10, (N, 16)).astype(np.float64)]
    return sick


@pytest.mark.parametrize("batch", [1, 64])
def test_a_loss_that_is_back_where_it_began(batch: int) -> None:
    (found,) = lost().feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 120)
    assert found.title.startswith("What was learned is lost: the loss has been back at 2.")
    assert found.evidence["best_step"] < 120
    assert found.evidence["best"] == pytest.approx(0.2, rel=0.2)
    assert "The learning rate is too high" in causes(found)


def test_a_loss_that_comes_half_way_back_or_falls_again_is_well() -> None:
    assert not lost(after=1.2).feed().findings(), "harder data, or noise that is added"
    falls_again = np.where(np.arange(N) < 120, lost().scalars[:, 0], 2.3 * np.exp(-(np.arange(N) - 120) / 60.0))
    assert not lost().set_loss(falls_again).feed().findings()


def test_noise_that_reaches_as_far_is_no_relapse() -> None:
    noise = np.random.default_rng(0).gamma(0.5, 2.0, N)
    assert not lost().set_loss(noise).feed().findings()


def test_what_an_agent_learns_may_have_a_loss_that_grows() -> None:
    """Without labels a loss has no scale of its own: values, and with them their errors, grow as rewards are found."""
    assert not lost(dtype="float32").feed().findings()


@pytest.mark.parametrize("is_moving", [True, False], ids=["weights move", "weights stand"])
def test_gradients_that_never_change_are_not_those_of_the_batch(is_moving: bool) -> None:
    sick = lost(dtype="float32")
    for column in sick.columns("gradient"):
        sick.statistics[120:, column] = sick.statistics[120, column]
    if not is_moving:
        sick.scale("update", 0.0, start=120)
    found = sick.feed().findings()
    assert [causes(one)[0].startswith("The gradients that are applied") for one in found if "lost" in one.title] == [
        True
    ] * is_moving
    if is_moving:
        assert found[0].evidence["stale_step"] == 120


# -- why a gradient is zero --------------------------------------------------------------------------------------------


def test_behind_all_that_gets_no_gradient_stands_a_step_function() -> None:
    """From the input to some layer nothing learns, and what comes behind does: no router does that."""
    (found,) = unread(is_dead=False).feed().findings()
    assert causes(found)[0].startswith("An operation without a slope stands behind dense_1")


def test_some_in_the_middle_are_left_out_by_a_router() -> None:
    sick = run(layers=RELUS).scale("gradient", 0.0, [2, 3], start=20).scale("backprop", 0.0, [1], start=20)
    (found,) = sick.feed().findings()
    assert causes(found)[0] == "Nothing reads what dense_1 gives"


@pytest.mark.parametrize(
    ("correlation", "linear_fit", "is_told"),
    [(0.0, 0.0, True), (0.9, 0.0, False), (0.35, 0.33, False), (0.35, 0.8, True), (0.02, 0.02, True)],
)
def test_an_error_that_is_as_large_as_a_variance_by_chance(
    correlation: float, linear_fit: float, is_told: bool
) -> None:
    """What follows the targets, as far as they can be followed, does not give their mean."""
    run = mean_guesser(std=3.0).correlate("target", correlation).add_scalar("linear_fit", linear_fit)
    findings = run.feed().findings()
    assert any("variance of the targets" in one.title for one in findings) == is_told


def two_labels(low: float, high: float, zeros: bool = False) -> Run:
    """A loss that falls without end, of so small and so large targets."""
    sick = Run(dense(4), n_steps=N, inputs=[("input", 8), ("target", 1)])
    sick.set_loss(2.0 - np.maximum(np.arange(N) - 100.0, 0.0) * 10.0)
    growth = 1.0 + np.maximum(np.arange(N) - 100.0, 0.0) / 5.0
    sick.scale("gradient", growth)
    sick.scalars[:, 2] *= growth
    column = sick.columns("input", [1])[0]
    n_elements = sick.statistics[0, column, COLUMN["n_elements"]]
    sick.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = [low, high]
    n_zero = np.round(0.4 * n_elements) if zeros else 0.0
    sick.statistics[:, column, COLUMN["norm"]] = np.sqrt(n_elements - n_zero)
    sick.statistics[:, column, COLUMN["n_zero"]] = n_zero
    sick.statistics[:, column, COLUMN["mean"]] = 0.0
    return sick


@pytest.mark.parametrize(
    ("sick", "cause"),
    [
        (two_labels(-1.0, 1.0), "The labels are -1 and 1, and the cross-entropy expects 0 and 1"),
        (two_labels(-1.0, 1.0, zeros=True), "Labels of -1 are given to a cross-entropy, which expects 0 and 1"),
        (two_labels(0.0, 1.0), None),
        (two_labels(-0.5, 1.0), None),
        (two_labels(-0.5, 1.0, zeros=True), None),
    ],
    ids=["-1 and 1", "0 among them", "0 and 1", "others", "others, 0 among them"],
)
def test_labels_of_both_signs_have_no_lower_bound(sick: Run, cause: str | None) -> None:
    (found,) = [one for one in sick.feed().findings() if one.title.startswith("The loss has run away")]
    named = [one for one in causes(found) if "cross-entropy" in one]
    assert named == ([] if cause is None else [cause])
    assert any(one.startswith("The loss has no lower bound") for one in causes(found))


def test_a_gradient_that_explodes_as_a_loss_is_followed_down_is_a_consequence() -> None:
    sick = two_labels(0.0, 1.0).scale("gradient", np.geomspace(1.0, 1e9, N - 300), start=300)
    sick.scalars[300:, 2] *= np.geomspace(1.0, 1e9, N - 300)
    (found,) = sick.feed().findings()
    assert found.title.startswith("The loss has run away")
