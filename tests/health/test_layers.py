"""What inputs, layers' outputs and the gradients with respect to them tell; and what they must not be blamed for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine, Finding
from gradwatch_server.health.plateau import WINDOW_VALUES
from tests.health.streams import COLUMN, Run, dense, forward, gradient_of
from tests.health.test_sick import broken_all

N = 300
STEPS = np.arange(N)
D4 = dense(4)
LAYERS = [("dense_0", 64, "relu"), ("dense_1", 64, "relu"), ("patch", 64, None), ("dense_2", 64, "tanh"),
          ("dense_3", 64, None)]  # fmt: skip
INPUTS = [("input", 30), ("target", 1)]
LOG = forward("Log", "patch/Log", code="logits = tf.math.log(p)", layer="patch", line=12)
CLIPPED_LOG = forward("Log", "patch/Log", code="return tf.clip_by_value(tf.math.log(p), -9.0, 9.0)", layer="patch")
EXCERPT = {"first": 11, "lines": ["p = softmax(x)", LOG["source"]["code"]]}
LOG_ALONE = LOG | {"source": LOG["source"] | {"excerpt": EXCERPT}}
LOSS_LOG = forward("Log", "Log", code="loss = -tf.reduce_mean(y * tf.math.log(tf.clip_by_value(p, 1e-8, 1.0)))", line=9)
MUL = forward("Mul", "penalty/mul", code="loss += mask * weight", line=31)
PROD = forward("Prod", "Prod", code="n = tf.math.log(tf.reduce_prod(left, axis=1))", line=40)
PROD_LOG = forward("Log", "Log", code=PROD["source"]["code"], line=40)
MATMUL = forward("MatMul", "dense_2/MatMul", layer="dense_2")


def run(**options: Any) -> Run:
    return Run(D4, **{"layers": LAYERS, "inputs": INPUTS} | options)


def masked_late(start: int = 81) -> Run:
    """NaN in two feature columns, patched after two layers: the loss stays finite, everything else breaks."""
    sick = run().break_input([3, 7], start=start)
    sick.break_("activation", [0, 1], start=start, n=5 * 64)
    sick.break_("backprop", [0], start=start, n=64)
    for kind in ("gradient", "update", "weight"):
        sick.break_(kind, start=start)
    return sick


@dataclass(frozen=True)
class Case:
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


CASES = {
    "input that is masked too late": Case(
        masked_late(),
        "nonfinite_input",
        81,
        tensor="input",
        words=("The inputs held NaN at step 81 in columns 3 and 7, and broke the gradients and weights",),
        flood={"nonfinite_activation", "nonfinite_gradient", "nonfinite_weight"},
        cause="masks the broken inputs too late: only behind `dense_1`",
    ),
    "input that breaks the loss": Case(
        broken_all(run().break_input([3], start=81), 81, loss_delay=0).break_("activation", start=81),
        "nonfinite_input",
        81,
        words=("in column 3", "broke the loss, gradients and weights"),
        flood={"nonfinite_loss", "nonfinite_activation", "nonfinite_gradient", "nonfinite_weight"},
        cause="The data hold NaN",
    ),
    "input from the first batch on": Case(
        broken_all(run().break_input([3], start=0), 0, loss_delay=0).break_("activation", start=0),
        "nonfinite_input",
        0,
        words=("at step 0",),
    ),
    "infinite input": Case(
        broken_all(run().break_input([3], start=81, value="n_pos_inf"), 81, loss_delay=0)
        .break_("activation", start=81, value="n_pos_inf"),
        "nonfinite_input",
        81,
        words=("held infinite values",),
        cause="infinite values",
    ),
    "label": Case(
        broken_all(run().break_("input", [1], start=81, n=3), 81, loss_delay=0),
        "nonfinite_input",
        81,
        tensor="target",
        words=("The labels held NaN",),
        cause="label",
    ),
    "another column than the usual ones": Case(
        broken_all(run().break_input([3], start=0, stop=81).break_input([3, 9], start=81), 81, loss_delay=0)
        .break_("activation", start=81),
        "nonfinite_input",
        81,
        words=("columns 3 and 9",),
    ),
    "usual columns are not to blame": Case(
        broken_all(run().break_input([3], start=0), 81, loss_delay=0),
        "nonfinite_loss",
        81,
    ),
    "masked input beside a steep root": Case(
        broken_all(run().break_input([3], start=0), 0),
        "nonfinite_gradient",
        0,
    ),
    "mask of -Inf beside a broken gradient": Case(
        broken_all(run().break_("activation", [2], start=0, value="n_neg_inf", n=99), 0),
        "nonfinite_gradient",
        0,
    ),
    "layer": Case(
        broken_all(run(operations=[LOG]), 81, loss_delay=0)
        .break_("activation", [2, 3, 4], start=81)
        .break_operation(0, start=81, margin=0.0, n_singular=3),
        "nonfinite_activation",
        81,
        layer="patch",
        tensor="patch",
        words=("The output of patch became NaN at step 81: logarithm of exactly 0 (train.py:12)",),
        flood={"nonfinite_loss", "nonfinite_gradient", "nonfinite_weight"},
        cause="logarithm of a probability of 0 in `patch`",
    ),
    "layer whose operation is not known": Case(
        broken_all(run(), 81, loss_delay=0).break_("activation", [3, 4], start=81),
        "nonfinite_activation",
        81,
        layer="dense_2",
        words=("while patch before it was finite",),
    ),
    "layer that is masked too late": Case(
        broken_all(run(operations=[LOG]), 81)
        .break_("activation", [2], start=81, value="n_neg_inf", n=9)
        .break_("activation", [3], start=81, n=9)
        .break_operation(0, start=81, margin=0.0, n_singular=3),
        "nonfinite_activation",
        81,
        layer="patch",
        cause="masked after the operation",
    ),
    "float16 layer": Case(
        broken_all(run(dtype="float16"), 81, loss_delay=0).break_("activation", [3, 4], start=81, value="n_pos_inf"),
        "nonfinite_activation",
        81,
        layer="dense_2",
        words=("infinite",),
        cause="float16",
    ),
    "dead from the start": Case(
        run(seed=1).flatten([1], 1.0).scale("gradient", 0.0, [0, 1, 2, 3]).set_loss(2.3),
        "dead_units",
        0,
        layer="dense_1",
        words=("Every unit of dense_1 is dead from the first step on",),
        flood={"zero_gradient"},
        cause="relu with only negative inputs",
    ),
    "dying gradually": Case(
        run().flatten([0], np.clip((STEPS - 60) / 100, 0.02, 0.95)).set_loss(2.3),
        "dead_units",
        115,
        severity="warning",
        layer="dense_0",
        words=("of the units of dense_0 have been dead since step",),
        cause="Units that died",
    ),
    "dying where a unit or two still fire for a rare class": Case(
        run().flatten([0], np.where(STEPS < 60, 0.1, np.where(STEPS % 4 == 0, 0.45, 0.6))).set_loss(2.3),
        "dead_units",
        61,
        severity="warning",
        layer="dense_0",
        words=("59% of the units of dense_0 have been dead since step 61",),
        cause="Units that died",
    ),
    "killed by one step": Case(
        run().scale("update", 300.0, start=99, stop=100).flatten([0], 1.0, start=100).set_loss(2.3)
        .scale("gradient", 0.0, [0, 1], start=100),
        "dead_units",
        100,
        words=("Every unit of dense_0 has been dead since step 100",),
        flood={"zero_gradient"},
        cause="learning rate is too high",
    ),
    "saturated": Case(
        run().flatten([3], 0.97, start=100).set_loss(2.3),
        "saturated_activation",
        100,
        severity="warning",
        layer="dense_2",
        words=("97% of the units of dense_2 have been saturated since step 100",),
    ),
    "clip that hides a logarithm": Case(
        run(operations=[LOG], seed=3).cut("backprop", [2], np.clip((STEPS - 100) / 100, 0, 0.6)).set_loss(1.8)
        .break_operation(0, start=50, n=0, margin=1e-9, amplification=1e9),
        "zero_gradient",
        130,
        severity="warning",
        layer="patch",
        words=("cut to 0: a clip hides the steep logarithm (train.py:12)",),
        cause="clip around the logarithm cuts the gradient off",
    ),
    "softmax that is flat at a logarithm, without a clip": Case(
        run(operations=[LOG_ALONE], seed=3).cut("backprop", [2], np.clip((STEPS - 100) / 100, 0, 0.6)).set_loss(1.8)
        .break_operation(0, start=50, n=0, margin=1e-9, amplification=1e9),
        "zero_gradient",
        130,
        severity="warning",
        layer="patch",
        words=("exactly 0 at the steep logarithm (train.py:12)",),
        cause="softmax or sigmoid that is flat",
    ),
    "clip in the line of the logarithm, from the start": Case(
        run(operations=[CLIPPED_LOG]).cut("backprop", [1], 0.4).set_loss(1.8)
        .break_operation(0, start=0, n=0, margin=1e-24, amplification=1e24),
        "zero_gradient",
        0,
        severity="warning",
        layer="patch",
        tensor="dense_1",
        words=("40% of the gradient at dense_1 is cut to 0: a clip hides the steep logarithm in `patch`",),
    ),
    "clip inside the logarithm, from the start": Case(
        run(operations=[LOSS_LOG]).cut("backprop", [4], np.where(STEPS % 2, 0.9999, 0.9998)).set_loss(17.0)
        .break_operation(0, start=0, n=0, margin=1e-8, amplification=1e8),
        "zero_gradient",
        0,
        severity="warning",
        words=("cut to 0",),
    ),
    "rest of the gradient of a kernel, without backprop": Case(
        Run(D4, operations=[LOSS_LOG]).cut("gradient", [6], np.where(STEPS < 100, 0.0, 0.7)).set_loss(17.0)
        .break_operation(0, start=0, n=0, margin=1e-8, amplification=1e8),
        "zero_gradient",
        100,
        severity="warning",
    ),
    "product of 0 and infinity": Case(
        broken_all(run(), 81, loss_delay=0).name_origin(MUL, 81, n_in=2),
        "nonfinite_loss",
        81,
        words=("0 times Inf (train.py:31)",),
        cause="Zero times infinity",
    ),
    "product over an axis": Case(
        broken_all(run(), 81, loss_delay=0).name_origin(PROD, 81),
        "nonfinite_loss",
        81,
        words=("product that overflows (train.py:40)",),
        cause="A product of many numbers becomes infinite",
    ),
    "logarithm of a product that is 0": Case(
        broken_all(run(operations=[PROD_LOG]), 81, loss_delay=0).break_operation(0, start=81, margin=0.0, n_singular=2),
        "nonfinite_loss",
        81,
        cause="A product of many numbers becomes exactly 0",
    ),
    "product of 0 and what float16 cannot hold": Case(
        broken_all(run(dtype="float16"), 81, loss_delay=0)
        .break_("activation", [3, 4], start=81, value="n_pos_inf")
        .name_origin(MUL | {"layer": "dense_2"}, 81, n_in=2),
        "nonfinite_activation",
        81,
        cause="A number that float16 cannot hold",
    ),
    "float16 product": Case(
        broken_all(run(dtype="float16"), 81, loss_delay=0)
        .break_("activation", [3, 4], start=81, value="n_pos_inf")
        .name_origin(MATMUL, 81),
        "nonfinite_activation",
        81,
        layer="dense_2",
        words=("matrix product that overflows float16",),
        cause="matrix product overflows float16",
    ),
    "origin in the backward pass": Case(
        broken_all(run(), 81).name_origin(gradient_of(LOG, "Reciprocal"), 81),
        "singular_gradient",
        81,
        layer="patch",
        words=("slope of a logarithm in `patch` (train.py:12)",),
    ),
    "overflow in the backward pass": Case(
        broken_all(run(), 81).name_origin(gradient_of(MATMUL, "MatMul"), 81),
        "nonfinite_gradient",
        81,
        layer="dense_2",
        words=("matrix product of the backward pass that overflows",),
    ),
    "loss scale that falls without end": Case(
        run(dtype="float16").scale_loss(2.0 ** np.clip(15 - (STEPS - 100), -10, 15))
        .break_("gradient", start=100, value="n_pos_inf").break_("backprop", start=100, value="n_pos_inf")
        .name_origin(gradient_of(MATMUL, "MatMul"), 100),
        "loss_scale_floor",
        100,
        layer="dense_2",
        words=("has fallen from 32,768 to 0.000977 since step 100: matrix product"),
        cause="matrix product overflows float16",
    ),
    "every third step is skipped": Case(
        Run(D4, n_steps=300).scale_loss(2.0**15).break_("gradient", [1], start=0, stop=0),
        "loss_scale_floor",
        100,
        words=("skipped since step 100: gradients overflow at loss scale 32,768",),
    ),
}  # fmt: skip
for step in range(100, 300, 3):
    CASES["every third step is skipped"].run.break_("gradient", [1], start=step, stop=step + 1, value="n_pos_inf")


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
    assert abs(found.first_step - case.first_step) <= (10 if case.severity == "warning" else 0), found.title
    assert case.layer is None or found.layer == case.layer
    assert case.tensor is None or found.tensor == case.tensor
    for word in case.words:
        assert word in found.title
    assert case.flood <= {entry["kind"] for entry in found.evidence["flood"]}
    assert case.cause in found.hypotheses[0].cause
    assert [f.title for f in engine.findings()][case.n_findings :] == []


def test_a_product_that_overflows_all_at_once_may_hold_the_lowest_float() -> None:
    sick = broken_all(run(), 81, loss_delay=0).break_("activation", [3, 4], start=81, value="n_neg_inf")
    causes = [one.cause for one in lead(sick.name_origin(MATMUL, 81).feed()).hypotheses[:2]]
    assert causes[0].startswith("Numbers too large for the matrix product")
    assert causes[1].startswith("The lowest float, of a maximum over nothing")


@pytest.mark.parametrize(("maker", "is_told"), [("Relu", True), ("Softplus", False), (None, False)], ids=str)
def test_a_relu_before_the_operation_is_why_it_gets_0(maker: str | None, *, is_told: bool) -> None:
    log = forward("Log", "Log", code="loss = -tf.math.log(rate)", line=9)
    operation = log | {"input": None if maker is None else {"type": maker, "constant": None}}
    sick = broken_all(run(operations=[operation]), 81, loss_delay=0).break_operation(
        0, start=81, margin=0.0, n_singular=2
    )
    found = lead(sick.feed())
    assert ("the output of a relu: exactly 0" in found.hypotheses[0].why) == is_told
    assert ("`softplus`" in found.hypotheses[0].fix) == is_told


def test_chain_goes_from_the_input_to_the_weights_in_one_step() -> None:
    found = lead(masked_late().feed())
    assert [(link["what"], link["step"]) for link in found.evidence["chain"]] == [
        ("input", 81),
        ("activation", 81),
        ("backprop", 81),
        ("gradient", 81),
        ("update", 81),
        ("weight", 81),
    ]


def test_columns_and_rows_are_named_and_stand_in_the_fix() -> None:
    found = lead(masked_late().feed())
    evidence = found.evidence
    assert (evidence["columns"], evidence["n_columns_nonfinite"], evidence["n_columns"]) == ([3, 7], 2, 30)
    assert (evidence["rows"], evidence["n_rows_nonfinite"]) == ([2, 5], 2)
    assert "2 rows of the batch (rows 2, 5) and columns 3 and 7 of 30" in evidence["summary"]
    codes = [hypothesis.code for hypothesis in found.hypotheses]
    assert any("columns = [3, 7]" in code for code in codes)
    assert "tf.keras.ops.where(tf.keras.ops.isfinite(inputs), inputs, 0.0)" in codes[0]


def test_a_flat_loss_beside_broken_weights_is_called_false() -> None:
    found = lead(masked_late().feed())
    assert found.evidence["loss_is_false"] is True
    assert "with broken weights it is false" in found.evidence["summary"]
    honest = lead(broken_all(run(), 81, loss_delay=1).feed())
    assert honest.evidence["loss_is_false"] is False
    assert "false" not in honest.evidence["summary"]


def test_a_few_broken_rows_of_an_embedding_do_not_make_the_loss_false() -> None:
    sparse = Run([("embedding/embeddings", (20_000, 64), "float32"), *D4]).break_("weight", [0], start=81, n=64)
    assert lead(sparse.feed()).evidence["loss_is_false"] is False


def test_columns_may_come_before_or_after_the_rows() -> None:
    early, late = masked_late(), masked_late()
    engine = early.announce(Engine())
    block = early.input_columns.pop()
    tensor, steps = block.pop("tensor"), block.pop("steps")
    engine.feed_columns(0, tensor, steps, **block)
    early.feed_slice(engine, slice(0, N))
    blocks, late.input_columns = late.input_columns, []
    other = late.feed()
    assert "columns" not in lead(other).evidence
    for entry in blocks:
        other.feed_columns(0, entry.pop("tensor"), entry.pop("steps"), **entry)
    assert lead(engine).to_json() == lead(other).to_json() == lead(masked_late().feed()).to_json()


def test_origin_that_comes_later_names_the_operation() -> None:
    sick = broken_all(run(), 81, loss_delay=0).name_origin(MUL, 81, n_in=2, chain=[LOSS_LOG])
    origins, sick.origins = sick.origins, []
    engine = sick.feed()
    assert lead(engine).operation is None
    revision = engine.revision
    nothing = np.zeros(0, np.int64)
    engine.feed_rows(
        0, nothing, sick.statistics[:0], sick.scalars[:0], sick.present[:0], origins=origins,
    )  # fmt: skip
    found = lead(engine)
    assert engine.revision > revision
    assert found.operation == {"type": "Mul", "name": "penalty/mul"}
    assert [link["type"] for link in found.evidence["chain_operations"]] == ["Mul", "Log"]
    assert "The first operation to break was Mul in penalty" in found.evidence["summary"]


@pytest.mark.parametrize(
    ("chain", "n_in", "expected", "also"),
    [
        ([LOSS_LOG], 0, "Mul", None),  # the product led to the logarithm
        ([], 2, "Log", None),  # the product got its Inf from the logarithm
        ([], 0, "Mul", "Log"),  # both broke
    ],
)
def test_the_earlier_of_origin_and_risky_operation_leads(
    chain: list[dict[str, Any]], n_in: int, expected: str, also: str | None
) -> None:
    sick = broken_all(run(operations=[LOSS_LOG]), 81, loss_delay=0)
    sick.break_operation(0, start=81, margin=0.0, n_singular=2).name_origin(MUL, 81, chain=chain, n_in=n_in)
    found = lead(sick.feed())
    assert (found.operation or {})["type"] == expected
    assert (f"So did {also}." in found.evidence["summary"]) == (also is not None)


def test_backward_pass_is_bounded_by_the_outputs_gradients() -> None:
    sick = broken_all(run(), 81).break_("backprop", [0, 1, 2], start=81)
    assert lead(sick.feed()).evidence["backprop"] == (
        "the gradient with respect to the output of patch was broken, that of dense_2 behind it was still finite"
    )


def test_skipped_steps_under_loss_scaling_are_no_finding_with_layers_either() -> None:
    scaled = run(dtype="float16").scale_loss(2.0**15)
    for step in range(30, N, 90):
        for kind in ("gradient", "backprop"):
            scaled.break_(kind, start=step, stop=step + 1, value="n_pos_inf")
    assert scaled.feed().findings() == []


def test_a_single_bad_batch_recovers_and_is_a_warning() -> None:
    sick = run().break_input([3], start=100, stop=101).break_("activation", start=100, stop=101)
    found = lead(sick.break_("gradient", start=100, stop=101).feed())
    assert (found.kind, found.severity, found.last_step) == ("nonfinite_input", "warning", 100)
    assert "recovered after 1 step" in found.title


def test_two_bad_batches_far_apart_are_two_incidents() -> None:
    sick = run()
    for step in (100, 200):
        sick.break_input([step // 50], start=step, stop=step + 1).break_("gradient", start=step, stop=step + 1)
        sick.break_("activation", start=step, stop=step + 1)
    findings = sick.feed().findings()
    assert [(f.kind, f.first_step, f.evidence["columns"]) for f in findings] == [
        ("nonfinite_input", 100, [2]),
        ("nonfinite_input", 200, [4]),
    ]


def test_accumulation_steps_do_not_lower_the_update_ratio() -> None:
    """Weights move at every fourth step only: the ratio is that of those."""
    sick = Run(D4, n_steps=600).set_loss(2.3).scale("update", 300.0)
    sick.scale("update", np.where(np.arange(600) % 4 == 3, 1.0, 0.0))
    engine = Engine()
    names = ["loss", "is_update"]
    engine.add_stream(0, "adam", sick.tensors, names)
    scalars = np.stack([sick.scalars[:, 0], np.arange(600) % 4 == 3], 1).astype(np.float32)
    engine.feed_rows(0, sick.steps, sick.statistics, scalars, np.ones((600, 2), bool))
    assert lead(engine).kind == "lr_too_high"


def distributed(*broken: int, n_replicas: int = 2) -> Engine:
    """What is applied, and the replicas' own gradients, of which some break."""
    applied = Run(D4)
    own = [Run(D4, stream=1 + i, optimizer=f"adam@replica_{i}", replica=i, seed=i) for i in range(n_replicas)]
    if broken:
        broken_all(applied, 81, loss_delay=0)
    for replica in broken:
        own[replica].break_("gradient", start=81).break_loss(81)
    engine = Engine()
    for one in (applied, *own):
        one.announce(engine)
    for start in range(0, N, 50):
        for one in (applied, *own):
            one.feed_slice(engine, slice(start, start + 50))
    return engine


def test_replica_that_went_bad_is_named() -> None:
    (found,) = distributed(1).findings()
    assert (found.kind, found.first_step) == ("nonfinite_loss", 81)
    assert (found.evidence["replica"], found.evidence["replicas"]) == (1, [1])
    assert "Of 2 replicas it was in the own numbers of replica 1 alone." in found.evidence["summary"]
    (everywhere,) = distributed(0, 1).findings()
    assert everywhere.evidence["replicas"] == [0, 1]
    assert "alone" not in everywhere.evidence["summary"]


def test_what_is_odd_in_all_replicas_is_told_once() -> None:
    assert distributed().findings() == []
    applied = Run(dense(8)).set_loss(2.3).scale("gradient", 1e-6, range(6))
    own = Run(dense(8), stream=1, replica=0).set_loss(2.3).scale("gradient", 1e-6, range(6))
    (found,) = own.feed(applied.feed()).findings()
    assert (found.kind, found.evidence["replica"]) == ("vanishing_gradient", None)


# -- a loss that never left guessing -----------------------------------------------------------------------------------


def stuck(level: float, n: int = 2_000, *, noise: float = 0.02, width: int = 10, seed: int = 0, **options: Any) -> Run:
    variables = [*dense(2), ("logits/kernel", (64, width), "float32"), ("logits/bias", (width,), "float32")]
    random = np.random.default_rng(seed)
    return Run(variables, n_steps=n, seed=seed, **options).set_loss(level + noise * random.standard_normal(n))


@pytest.mark.parametrize(("width", "n_classes"), [(10, 10), (1, 2), (1_000, 1_000)])
def test_loss_of_guessing_is_told(width: int, n_classes: int) -> None:
    (found,) = stuck(math.log(n_classes), width=width).feed().findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert f"guessing among {n_classes:,} classes" in found.title
    assert found.evidence["n_classes"] == n_classes


@pytest.mark.parametrize(
    ("share", "kernels", "kinds"),
    [
        pytest.param(1.0, [0, 2, 4], ["saturated_activation"], id="its own and those before it"),
        pytest.param(1.0, [4], ["saturated_activation"], id="its own"),
        pytest.param(1.0, [0, 2, 4, 6], ["saturated_activation", "zero_gradient"], id="one behind it as well"),
        pytest.param(0.95, [0, 2, 4], ["saturated_activation", "zero_gradient"], id="not all of its units"),
    ],
)
def test_zeros_where_all_units_are_at_their_ends_are_of_these(
    share: float, kernels: list[int], kinds: list[str]
) -> None:
    sick = run().flatten([3], share).set_loss(2.3).scale("gradient", 0.0, kernels)
    assert sorted(one.kind for one in sick.feed().findings()) == kinds


@pytest.mark.parametrize(
    ("loss", "titles"),
    [
        pytest.param(133.0 * np.exp(-STEPS / 20) + 25.0, [], id="sums of 192 bits, of which few can be wrong"),
        pytest.param(133.0 + 600.0 * (STEPS > 100), ["35% of the gradient"], id="sums, of which many are"),
        pytest.param(0.69 * np.exp(-STEPS / 20) + 0.6, ["35% of the gradient"], id="means, of which many are"),
        pytest.param(0.69 * np.exp(-STEPS / 20) + 0.1, [], id="means, of which few can be wrong"),
    ],
)
def test_a_bound_before_the_logarithms_of_a_bit_and_of_its_rest(loss: np.ndarray, titles: list[str]) -> None:
    """Told once, for both; and not where what is left of the loss has no room for what it would hide."""
    line = {"layer": "", "is_gradient": False, "forward": None} | {
        "source": {"file": "/home/me/train.py", "line": 58, "code": "bits = x * log(p) + (1.0 - x) * log(1.0 - p)"},
        "input": {"type": "Maximum", "constant": 1e-6},
    }
    logs = [line | {"type": "Log", "name": name} for name in ("Log", "Log_1")]
    sick = run(operations=logs, seed=3).cut("backprop", [4], np.clip((STEPS - 100) / 100, 0, 0.35)).set_loss(loss)
    for place in range(2):
        sick.break_operation(place, start=0, n=0, margin=1e-6, amplification=1e6)
    assert [one.title.partition(" at ")[0] for one in sick.feed().findings()] == titles


def test_plateau_that_ends_says_until_when() -> None:
    run = stuck(math.log(10), 3_000)
    run.scalars[2_000:, 0] = 1.0
    (found,) = run.feed().findings()
    assert "until step 1,9" in found.title


def test_plateau_is_folded_under_what_explains_it() -> None:
    run = stuck(math.log(10)).scale("gradient", 0.0, [0, 1], start=200)
    (found,) = run.feed().findings()
    assert found.kind == "zero_gradient"
    assert "loss_plateau" in {entry["kind"] for entry in found.evidence["flood"]}


NO_PLATEAU: dict[str, Callable[[int], Run]] = {
    "converged": lambda seed: stuck(0.1, seed=seed),
    "converged near another number's guess": lambda seed: stuck(math.log(2), seed=seed),
    "too short": lambda seed: stuck(math.log(10), WINDOW_VALUES - 1, seed=seed),
    "slowly falling": lambda seed: stuck(math.log(10), seed=seed).set_loss(2.3 - np.arange(2_000) * 2e-5),
    "constant and far from guessing": lambda seed: stuck(7.0, noise=0.0, seed=seed),
    "reward-like": lambda seed: stuck(0.0, noise=3.0, seed=seed),
}


@pytest.mark.parametrize("name", NO_PLATEAU)
def test_is_no_plateau(name: str) -> None:
    for seed in range(3):
        assert [f.title for f in NO_PLATEAU[name](seed).feed(batch=512).findings()] == []


def test_a_game_of_two_optimizers_may_stand_still() -> None:
    critic, generator = stuck(math.log(2), width=1), stuck(math.log(2), width=1, stream=1)
    engine = generator.announce(critic.announce(Engine()))
    for start in range(0, 2_000, 500):
        critic.feed_slice(engine, slice(start, start + 500))
        generator.feed_slice(engine, slice(start, start + 500))
    assert engine.findings() == []


# -- healthy -----------------------------------------------------------------------------------------------------------

N_LONG = 1_200
LONG = np.arange(N_LONG)
FALLING = 2.3 * np.exp(-LONG / 300) + 0.2


def long(seed: int, **options: Any) -> Run:
    return run(n_steps=N_LONG, seed=seed, **options)


def spares(seed: int) -> Run:
    """A wide layer sheds units, and learns with the others."""
    return long(seed).flatten([0], np.minimum(LONG / 1_000, 0.7)).set_loss(2.3 * np.exp(-LONG / 100) + 0.2)


def idle_batches(seed: int) -> Run:
    """Sparse features: in some batches nearly all units are idle."""
    random = np.random.default_rng(seed)
    return long(seed).flatten([0, 1], np.where(random.random(N_LONG) < 0.3, 0.95, 0.2))


def small_batches(seed: int) -> Run:
    """Batches of 4: half of the units are idle in many by chance."""
    small = long(seed)
    columns = small.columns("activation")
    small.statistics[:, columns, 9] = 4 * 64
    small.statistics[:, columns, 8] = 0.8 * 4 * 64
    small.statistics[:, columns, 10] = 0.7 * 4 * 64
    return small.set_loss(2.0)


def idle_by_chance(seed: int) -> Run:
    """A unit that answers to one sample in a hundred is idle in half of the batches of 64."""
    sparse = long(seed).set_loss(2.0)
    columns = sparse.columns("activation", [0, 1])
    random = np.random.default_rng(seed)
    share = 0.52 + 0.05 * random.standard_normal((N_LONG, 2))
    share[:20] = 0.1
    sparse.statistics[:, columns, 10] = share * 64 * 64
    sparse.statistics[:, columns, 8] = 0.99 * 64 * 64
    return sparse


def saturating_outputs(seed: int) -> Run:
    """A sigmoid or tanh output that has become sure of itself: the loss is down."""
    return long(seed).flatten([3], np.minimum(LONG / 600, 1.0)).set_loss(2.3 * np.exp(-LONG / 60) + 1e-3)


def clipped_tail(seed: int) -> Run:
    """A cross-entropy by hand with an epsilon: steep by 1e7 from the first step, with one-hot labels."""
    steep = long(seed, operations=[LOSS_LOG]).cut("backprop", [4], 63 / 64)
    return steep.break_operation(0, start=0, n=0, margin=1e-7, amplification=1e7)


def masked_norm(seed: int, margin: float = 1e-12) -> Run:
    """From step 500 on a mask sets most of what enters a norm with an epsilon in it to 0."""
    norm = forward("Sqrt", "Sqrt", code="return tf.sqrt(tf.reduce_sum(x**2, axis=0) + epsilon)", line=9)
    norm |= {"input": {"type": "AddV2", "constant": 1e-12}}
    masked = long(seed, operations=[norm]).cut("backprop", [4], np.where(LONG < 500, 0.0, 0.97))
    return masked.break_operation(0, start=500, n=0, margin=margin, amplification=5e5)


def masked_by_design(seed: int) -> Run:
    masked = long(seed).break_("activation", [2], start=0, value="n_neg_inf", n=99)
    return masked.break_("input", [0], start=0, value="n_neg_inf", n=64)


def filled_gaps(seed: int) -> Run:
    """NaN that the model fills before its first layer; which columns changes from batch to batch."""
    gaps = long(seed)
    random = np.random.default_rng(seed)
    for start in range(0, N_LONG, 40):
        gaps.break_input([int(random.integers(30))], start=start, stop=start + 10)
    return gaps


def test_growth_may_run_into_an_output() -> None:
    """The gradient grows, then a layer's output is NaN before anything else is."""
    factors = np.where(np.arange(300) >= 200, 1e4, 1.0)
    run = Run(dense(3), layers=[("dense_0", 64, "relu"), ("dense_1", 64, None)]).scale("gradient", factors)
    run.break_("activation", [1], start=206).break_loss(206).break_("gradient", start=206)
    found = run.feed().findings()[0]
    assert (found.kind, found.severity) == ("exploding_gradient", "critical")
    assert "until a layer's output became NaN at step 206" in found.title


def float16(seed: int) -> Run:
    scaled = long(seed, dtype="float16").scale_loss(2.0 ** (15 + (LONG % 300 > 150)))
    for step in (0, 1, 2, *range(299, N_LONG, 300)):
        scaled.break_("gradient", start=step, stop=step + 1, value="n_pos_inf")
        scaled.break_("backprop", [0, 1], start=step, stop=step + 1, value="n_pos_inf")
    return scaled


HEALTHY: dict[str, Callable[[int], Run]] = {
    "plain": long,
    "thinned": lambda seed: long(seed).thin(20),
    "units to spare": spares,
    "idle batches": idle_batches,
    "small batches": small_batches,
    "idle by chance": idle_by_chance,
    "idle every other batch": lambda seed: long(seed).flatten([0], np.where(LONG % 2 == 0, 0.6, 0.45), start=100),
    "outputs that are sure": saturating_outputs,
    "dropout and pooling": lambda seed: long(seed).cut("backprop", [0, 1, 2, 3, 4], 0.75),
    "hinge that is satisfied": lambda seed: long(seed).cut("backprop", [4], np.minimum(LONG / 1_000, 0.97)),
    "cross-entropy with an epsilon": clipped_tail,
    "mask before a norm with an epsilon": masked_norm,
    "masks of -Inf": masked_by_design,
    "gaps that the model fills": filled_gaps,
    "mixed precision": float16,
    "clipping at every step": lambda seed: long(seed).scale("gradient", 50.0),
}


@pytest.mark.parametrize(("loss", "is_told"), [(1.8, True), (0.2, False)])
def test_a_clip_before_a_logarithm_leaves_its_mark_in_the_loss(loss: float, is_told: bool) -> None:
    """What a bound of 1e-6 holds on the wrong side adds 13.8 each: where the loss has no room for it, it is right."""
    held = LOG | {"input": {"type": "Maximum", "constant": 1e-6}}
    sick = run(operations=[held], seed=3).cut("backprop", [2], np.clip((STEPS - 100) / 100, 0, 0.6))
    sick.set_loss(np.where(STEPS < 5, 1.9, loss)).break_operation(0, start=50, n=0, margin=1e-6, amplification=1e6)
    titles = [one.title for one in sick.feed().findings()]
    assert any("a clip hides the steep logarithm" in title for title in titles) == is_told


def test_zeros_where_a_norm_with_an_epsilon_is_not_at_zero_are_told() -> None:
    (found,) = masked_norm(0, margin=2e-12).feed().findings()
    assert (found.kind, found.first_step) == ("zero_gradient", 500)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_layers_have_no_finding(name: str) -> None:
    for seed in range(3):
        engine = HEALTHY[name](seed).feed(batch=256)
        assert [finding.title for finding in engine.findings()] == [], f"seed {seed}"
        assert engine.revision == 0


@pytest.mark.parametrize(("share", "is_told"), [(0.52, False), (0.8, True)])
def test_a_bound_on_what_a_relu_makes_0_cuts_nothing(share: float, *, is_told: bool) -> None:
    """A generalised mean holds its inputs from 0; of those that a relu gave as 0 no gradient would pass that."""
    sick = run(operations=[CLIPPED_LOG]).cut("backprop", [1], share).cut("activation", [1], 0.5).set_loss(1.8)
    sick.break_operation(0, start=0, n=0, margin=1e-24, amplification=1e24)
    assert any("a clip hides" in found.title for found in sick.feed().findings()) == is_told


@pytest.mark.parametrize(("dead", "is_told"), [(0.7, False), (0.1, True)])
def test_units_that_give_0_for_a_whole_batch_are_no_clip(dead: float, *, is_told: bool) -> None:
    """A contrast of normed outputs: what is 0 in all samples of a batch is given no gradient by any of them."""
    sick = run(operations=[CLIPPED_LOG]).cut("backprop", [1], 0.7).cut("activation", [1], 0.85).set_loss(1.8)
    columns = sick.columns("activation", [1])
    n_elements = sick.statistics[:, columns, COLUMN["n_elements"]]
    sick.statistics[:, columns, COLUMN["n_saturated"]] = dead * n_elements
    sick.break_operation(0, start=0, n=0, margin=1e-24, amplification=1e24)
    assert any("a clip hides" in found.title for found in sick.feed().findings()) == is_told


def test_the_zeros_of_a_jacobian_are_no_clips() -> None:
    """One sample of each batch at a time has a gradient; the last batch of an epoch is smaller."""
    sick = run(operations=[LOSS_LOG]).set_loss(17.0).break_operation(0, start=0, n=0, margin=1e-8, amplification=1e8)
    (column,) = sick.columns("backprop", [4])
    sick.statistics[31::32, column, COLUMN["n_elements"]] /= 4
    n_elements = sick.statistics[:, column, COLUMN["n_elements"]]
    sick.statistics[:, column, COLUMN["n_zero"]] = n_elements - n_elements.max() * 1e-3
    assert not sick.feed().findings()


@pytest.mark.parametrize(
    ("share", "n_steps", "is_told"),
    [
        pytest.param(0.6, 300, False, id="over for longer than it lasted"),
        pytest.param(0.6, 170, True, id="just over"),
        pytest.param(0.95, 300, True, id="hardly a unit was left"),
    ],
)
def test_units_that_were_dead_for_a_while(share: float, n_steps: int, is_told: bool) -> None:
    sick = run(n_steps=n_steps).set_loss(2.3).flatten([1], share, start=20, stop=100)
    titles = [one.title for one in sick.feed().findings() if one.kind == "dead_units"]
    assert bool(titles) is is_told
    assert all(" from step 20 to step " in title for title in titles)


@pytest.mark.parametrize(
    ("after", "cause"),
    [
        ([("softmax", 64, "softmax")], "A relu stands right before the softmax"),
        ([("dense_1", 64, "softmax")], ""),  # which has a kernel of its own: a hidden layer is no output
        ([], "The model's output passes a relu"),
    ],
)
def test_a_relu_whose_output_is_taken_for_scores(after: list[tuple[str, int, str]], cause: str) -> None:
    sick = Run(dense(2), layers=[("dense_0", 64, "relu"), *after])
    found = sick.flatten([0], np.where(STEPS < 60, 0.1, 0.6)).set_loss(2.3).feed().findings()[0]
    told = [one.cause for one in found.hypotheses if "relu stands" in one.cause or "passes a relu" in one.cause]
    assert told == ([cause] if cause else [])


@pytest.mark.parametrize(("correlation", "is_told"), [(0.4, True), (0.95, False)])
def test_units_to_spare_beside_outputs_that_follow_their_targets_closely(correlation: float, is_told: bool) -> None:
    sick = run().flatten([0], np.where(STEPS < 60, 0.1, 0.6)).set_loss(0.3)
    assert bool(sick.correlate("target", correlation).feed().findings()) == is_told


@pytest.mark.parametrize(("function", "is_masked"), [("relu", False), ("tanh", True), (None, True)])
def test_nan_that_a_relu_makes_0_of_is_masked_by_nobody(function: str | None, is_masked: bool) -> None:
    layers = [*LAYERS[:3], ("dense_2", 64, function), LAYERS[4]]
    sick = broken_all(run(operations=[LOG], layers=layers), 81).break_("activation", [2], start=81, n=9)
    found = lead(sick.break_operation(0, start=81, margin=0.0, n_singular=3).feed())
    assert found.kind == "nonfinite_activation"
    assert any("masked after" in one.cause for one in found.hypotheses) == is_masked


@pytest.mark.parametrize(("factor", "is_exploded"), [(1e21, True), (1.0, False)])
def test_a_gradient_whose_square_overflows_in_the_optimizer(factor: float, is_exploded: bool) -> None:
    sick = run().scale("gradient", factor).break_("update", start=1).break_("weight", start=1)
    sick.scalars[:, 2] *= factor
    found = lead(sick.break_("gradient", start=2).break_loss(2).feed())
    assert (found.kind, found.first_step) == ("nonfinite_weight", 1)
    assert ("its square overflows" in found.hypotheses[0].cause) == is_exploded


@pytest.mark.parametrize(
    ("largest", "slope", "causes"),
    [
        (255.0, 1e28, ["The inputs are not scaled", "An exponential gave numbers up to 1e+28 (train.py:12)"]),
        (1.0, 1e28, ["An exponential gave numbers up to 1e+28 (train.py:12)"]),
        (255.0, 20.0, ["The gradient has exploded: its square overflows in the optimizer"]),
    ],
)
def test_a_gradient_that_an_exponential_made_as_large(largest: float, slope: float, causes: list[str]) -> None:
    exponential = forward("Exp", "Exp", code="kl = tf.exp(z_log_var)", line=12)
    sick = run(operations=[exponential], inputs=[("input", 4)]).scale("gradient", 1e21)
    sick.statistics[:, sick.columns("input", [0]), COLUMN["max"]] = largest
    sick.break_operation(0, start=0, stop=1, n=0, amplification=slope)
    sick.scalars[:, 2] *= 1e21
    broken = sick.break_("update", start=1).break_("weight", start=1).break_("gradient", start=2).break_loss(2)
    found = lead(broken.feed())
    assert (found.kind, found.first_step) == ("nonfinite_weight", 1)
    assert [one.cause for one in found.hypotheses][: len(causes)] == causes


@pytest.mark.parametrize(("level", "is_told"), [(2.0, True), (0.7, False)])
def test_a_softmax_whose_temperature_is_lowered_becomes_a_choice(level: float, is_told: bool) -> None:
    division = forward("RealDiv", "patch/RealDiv", code="choice = tf.exp(score / heat)", layer="patch", line=12)
    cut = run(operations=[division], seed=3).cut("backprop", [2], np.clip((STEPS - 100) / 100, 0, 0.6))
    cut.set_loss(np.maximum(2.3 - STEPS / 50, level)).break_operation(0, start=50, n=0, margin=1e-9, amplification=1e9)
    assert ("zero_gradient" in {one.kind for one in cut.feed().findings()}) == is_told


@pytest.mark.parametrize(("share", "is_told"), [(0.6, False), (0.95, True)])
def test_units_to_spare_where_an_adversary_keeps_the_loss_up(share: float, is_told: bool) -> None:
    sick = run().flatten([0], np.where(STEPS < 60, 0.1, share)).set_loss(2.3)
    assert sick.feed().findings()
    sick.slips = [{"type": "IdentityN", "name": "turned", "layer": "net", "source": None, "opposes": ["net/judge"]}]
    titles = [one.title for one in sick.feed().findings()]
    assert any("have been dead" in one for one in titles) is is_told


@pytest.mark.parametrize("margin", [None, 0.4])
def test_samples_that_are_far_enough_apart_have_no_gradient(margin: float | None) -> None:
    """A margin loss leaves them alone: whatever is steep in it, no clip has cut that off."""
    sick = Run(D4, operations=[LOSS_LOG]).cut("gradient", [6], np.where(STEPS < 100, 0.0, 0.7)).set_loss(17.0)
    sick.break_operation(0, start=0, n=0, margin=1e-8, amplification=1e8)
    sick.slips = [] if margin is None else [{"type": "Relu", "name": "Relu", "layer": "", "margin": margin}]
    kinds = [found.kind for found in sick.feed().findings()]
    assert ("zero_gradient" in kinds) == (margin is None)


@pytest.mark.parametrize(("level", "is_told"), [(0.0, False), (-0.1, True)])
def test_steps_whose_loss_is_exactly_0_ask_for_nothing(level: float, is_told: bool) -> None:
    """The rewards of most batches are all alike: of the others it learns."""
    is_idle = (STEPS >= 60) & (STEPS % 4 > 0)
    sick = run().set_loss(np.where(is_idle, level, -0.3))
    sick.statistics[np.ix_(is_idle, sick.columns("gradient"), range(5))] = 0
    sick.scalars[is_idle, 2] = 0
    titles = [one.title for one in sick.feed().findings()]
    assert any(one.startswith("Every kernel's gradient has been exactly zero in 75%") for one in titles) == is_told
