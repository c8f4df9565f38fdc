"""Operations that come near their singular point are told before anything is NaN; guarded and masked ones are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwatch.protocol import OPERATION_STATISTICS
from tests.health.streams import SCALARS, Run, dense, forward
from tests.health.test_sick import broken_all

N = 400
STEPS = np.arange(N)
LOG = forward("Log", "Log", code="logits = tf.math.log(p)", line=12)
MARGIN, SLOPE = OPERATION_STATISTICS.index("margin"), OPERATION_STATISTICS.index("amplification")


def near(margin: Any, *, operation: dict[str, Any] = LOG, norm: Any = 1.0, seed: int = 0) -> Run:
    """A logarithm with this smallest input, and gradient norms times some factor."""
    run = Run(dense(4), n_steps=N, operations=[operation], seed=seed)
    noise = np.exp(0.5 * np.random.default_rng(seed).standard_normal(N))
    run.operation_rows[:, 0, MARGIN] = margin * noise
    run.operation_rows[:, 0, SLOPE] = 1 / (margin * noise)
    return run.scale("gradient", np.broadcast_to(norm, N))


def falling(start: float, end: float, rows: int = 200) -> np.ndarray:
    """From start to end within some rows, then level."""
    return start * (end / start) ** np.minimum(STEPS / rows, 1)


def test_slope_that_the_gradient_feels() -> None:
    engine = near(falling(0.3, 1e-4), norm=np.sqrt(0.3 / falling(0.3, 1e-4))).feed()
    (found,) = engine.findings()
    assert (found.kind, found.severity, found.layer) == ("steep_gradient", "warning", None)
    assert found.operation == {"type": "Log", "name": "Log"}
    assert found.source is not None
    assert found.source["line"] == 12
    assert 100 < found.first_step < 250
    assert "logarithm (train.py:12) multiplies the gradient by up to" in found.title
    assert "tf.math.log(tf.maximum(p, 1e-7))" in found.hypotheses[0].code
    assert found.evidence["margin"] < 1e-3 < found.evidence["margin_before"]


def test_slope_that_a_clip_of_the_norm_cuts() -> None:
    run = near(falling(0.3, 1e-4), norm=np.sqrt(0.3 / falling(0.3, 1e-4)))
    run.scalars[:, SCALARS.index("clipped_norm")] = 0.05
    run.present[:, SCALARS.index("clipped_norm")] = True
    assert not [found for found in run.feed().findings() if found.kind == "steep_gradient"]


def test_input_that_nothing_holds_is_warned_of_before_it_breaks() -> None:
    run = near(falling(0.3, 1e-30, 300))
    run = broken_all(run, 350, loss_delay=0).break_operation(0, start=350, margin=0, n_singular=2)
    engine = run.announce(type(run.feed())())
    run.feed_slice(engine, slice(0, 300))
    (early,) = engine.findings()
    assert (early.kind, early.severity) == ("steep_gradient", "warning")
    assert "comes close to the point where it breaks" in early.title
    run.feed_slice(engine, slice(300, N))
    broken, warned = engine.findings()
    assert (broken.kind, broken.first_step, warned.id) == ("nonfinite_loss", 350, early.id)
    assert broken.operation == warned.operation


def test_growth_beside_a_steep_operation_names_it() -> None:
    margin = 0.3 * 10.0 ** -np.clip((STEPS - 200) / 10, 0, 5)
    engine = near(margin, norm=0.3 / margin).feed()
    (found,) = engine.findings()
    assert (found.kind, found.operation) == ("exploding_gradient", {"type": "Log", "name": "Log"})
    assert found.source == LOG["source"]
    assert "steep_gradient" in {entry["kind"] for entry in found.evidence["flood"]}
    assert any("logarithm" in hypothesis.cause for hypothesis in found.hypotheses)


def test_it_says_until_when() -> None:
    margin = np.where((STEPS > 100) & (STEPS < 150), 1e-4, 0.3)
    (found,) = near(margin, norm=np.where(margin < 1e-3, 50.0, 1.0)).feed().findings()
    assert found.title.endswith("until step 149")


WIDTH = forward("RealDiv", "truediv", code="z = (y - mean) / tf.exp(log_std)") | {"input": {"type": "Exp"}}


def narrowing(end: float, *, operation: dict[str, Any] = WIDTH, seed: int = 0) -> Run:
    """A density whose width falls as it is learned, and the gradient's norm with it."""
    width = falling(0.7, end)
    run = near(width, operation=operation, norm=0.7 / width, seed=seed)
    run.operation_rows[:, 0, SLOPE] = 1 / run.operation_rows[:, 0, MARGIN] ** 2
    return run


def test_a_width_that_collapses() -> None:
    (found,) = narrowing(1e-4).feed().findings()
    assert (found.kind, found.severity) == ("steep_gradient", "warning")


def test_a_divisor_that_is_no_width() -> None:
    (found,) = narrowing(0.015, operation=WIDTH | {"input": {"type": "Sub"}}).feed().findings()
    assert found.kind == "steep_gradient"


BATCH_NORM = forward("Rsqrt", "bn/batchnorm/Rsqrt", code="y = model(x, training=True)")
LIBRARY = forward("Log", "loss/Log")
DIVISION = forward("DivNoNan", "div_no_nan", code="loss = tf.math.divide_no_nan(a, b)")
HEALTHY: dict[str, Callable[[int], Run]] = {
    "level": lambda seed: near(0.3, seed=seed),
    "steep from the first row on": lambda seed: near(1e-8, seed=seed),
    "steep for a few rows": lambda seed: near(np.where(STEPS % 50 < 4, 1e-5, 0.3), norm=50.0, seed=seed),
    "steep but not felt (softmax before log)": lambda seed: near(falling(0.3, 1e-9), seed=seed),
    "held by a common epsilon": lambda seed: near(np.maximum(falling(0.3, 1e-20), 1e-12), seed=seed),
    "gradient grows, slope does not": lambda seed: near(0.3, norm=np.minimum(1 + STEPS / 10, 30), seed=seed),
    "normalisation of a model": lambda seed: near(falling(1, 1e-5), operation=BATCH_NORM, norm=20.0, seed=seed),
    "loss of a library": lambda seed: near(
        falling(0.3, 1e-5), operation=LIBRARY, norm=np.minimum(1 + STEPS / 10, 30), seed=seed
    ),
    "safe division": lambda seed: near(
        falling(0.3, 1e-20), operation=DIVISION, norm=np.minimum(1 + STEPS / 10, 30), seed=seed
    ),
    "a width that is learned": lambda seed: narrowing(0.02, seed=seed),
    "exactly zero by design": lambda seed: near(
        np.where(STEPS > 100, 0.0, 0.3) + 1e-38 * (STEPS <= 100), seed=seed
    ).break_operation(0, start=101, n=0, margin=0.0, n_singular=5),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_is_silent(name: str) -> None:
    for seed in range(4):
        with np.errstate(divide="ignore"):
            engine = HEALTHY[name](seed).feed()
        assert [finding.title for finding in engine.findings()] == []


def test_a_tiny_epsilon_is_a_floor() -> None:
    run = near(falling(0.3, 1e-20))
    run.operation_rows[:, 0, MARGIN] = np.maximum(run.operation_rows[:, 0, MARGIN], 1e-16)
    at = run.operation_rows[:, 0, MARGIN]
    # It falls through the range below all usual epsilons within few rows, and then rests.
    at[(at < 1e-13) & (at > 1e-16)] = 1e-16
    assert run.feed().findings() == []


def test_what_comes_near_again_and_again_is_told_once() -> None:
    is_near = (STEPS > 60) & (STEPS % 80 < 25)
    margin = np.where(is_near, 1e-4, 0.3)
    (found,) = near(margin, norm=np.where(is_near, 50.0, 1.0)).feed().findings()
    assert (found.kind, found.first_step) == ("steep_gradient", 80)
    assert found.evidence["n_repeats"] == 3
    assert found.title.endswith("until step 344")
