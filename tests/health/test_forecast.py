"""Trends towards the end of numbers are told before anything is NaN, with what came of it; healthy ones are not."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gradwatch.protocol import OPERATION_STATISTICS
from gradwatch_server.health import Engine, Finding
from gradwatch_server.health.trend import extrapolate
from gradwatch_server.health.window import N_POINTS, Ladder, Window
from tests.health.streams import Run, dense, forward

N = 700
STEPS = np.arange(N)
LAYERS = [("conv", 32, "relu"), ("head", 8, None)]
LOG = forward("Log", "loss/Log", code="loss = -tf.reduce_mean(y * tf.math.log(p))", line=12)
EXP = forward("Exp", "energy/Exp", code="z = tf.reduce_sum(tf.exp(score))", line=31)
ACOS = forward("Acos", "angle/Acos", code="angle = tf.acos(cosine)", line=7)
MARGIN = OPERATION_STATISTICS.index("margin")


def half(factors: Any, seed: int = 0, **options: Any) -> Run:
    """A float16 model whose outputs, about 0.1 at first, grow by some factors."""
    run = Run(dense(3), n_steps=N, layers=LAYERS, dtype="float16", seed=seed, **options)
    return run.scale("activation", np.broadcast_to(factors, N), [0])


def near(margin: Any, operation: dict[str, Any], seed: int = 0, noise: float = 0.5) -> Run:
    """A model with an operation whose input comes as near to its singular point as said."""
    run = Run(dense(3), n_steps=N, operations=[operation], seed=seed)
    shake = np.random.default_rng(seed).standard_normal(N)
    run.operation_rows[:, 0, MARGIN] = (
        margin + noise * shake if operation["type"] == "Exp" else margin * np.exp(noise * shake)
    )
    return run


def grow(rate: float, start: int, stop: int = N) -> np.ndarray:
    """1 until a step, then exponential growth until another."""
    return np.exp(rate * np.clip(STEPS - start, 0, stop - start))


def break_at(run: Run, step: int) -> Run:
    """NaN everywhere from a step on."""
    return run.break_("gradient", start=step).break_("weight", start=step).break_loss(step)


def forecasts(engine: Engine) -> list[Finding]:
    return [finding for finding in engine.findings() if finding.evidence["forecast"] is not None]


@dataclass
class Case:
    """A run that breaks at a step, with the forecast that must stand before it."""

    run: Run
    kind: str
    breaks: int
    words: tuple[str, ...]
    code: str
    lead_min: int = 20
    limit: float = 65_504.0
    layer: str | None = None
    told_by: tuple[str, ...] = field(default=())


def overflow_step(start: float, rate: float, limit: float, since: int) -> int:
    return since + int(np.ceil(np.log(limit / start) / rate))


FLOAT32 = 3.4028235e38
BREAKS = {
    "output": overflow_step(
        float(half(1.0).statistics[0, half(1.0).columns("activation", [0])[0], 2]), 0.03, 65_504, 100
    ),
    "gradient": overflow_step(1.0, 0.4, FLOAT32, 200),
}
CASES: dict[str, Case] = {
    "output in float16": Case(
        break_at(half(grow(0.03, 100)), BREAKS["output"]),
        "nonfinite_activation",
        BREAKS["output"],
        ("The output of conv", "overflow float16"),
        "mixed_bfloat16",
        layer="conv",
    ),
    "gradient": Case(
        break_at(Run(dense(4), n_steps=N).scale("gradient", grow(0.4, 200)), BREAKS["gradient"]),
        "exploding_gradient",
        BREAKS["gradient"],
        ("Gradient norm grew",),
        "clipnorm",
        limit=FLOAT32,
        layer="any",
    ),
    "weights": Case(
        break_at(Run(dense(4), n_steps=N).scale("weight", grow(0.2, 100), [2]), 560),
        "nonfinite_weight",
        560,
        ("The weight dense_1/kernel", "overflow float32"),
        "clipnorm",
        limit=FLOAT32,
        layer="dense_1",
    ),
    "logarithm": Case(
        break_at(near(0.1 * np.exp(-0.2 * STEPS), LOG), 430).break_operation(0, start=430, margin=0, n_singular=3),
        "steep_gradient",
        430,
        ("The logarithm (train.py:12) comes close to the point where it breaks",),
        "tf.math.log(tf.maximum(p, 1e-7))",
        limit=1.18e-38,
    ),
    "exponential": Case(
        break_at(near(np.maximum(80 - 0.25 * STEPS, 0.0), EXP), 320).break_operation(0, start=320, margin=0),
        "steep_gradient",
        320,
        ("The exponential (train.py:31)", "overflow float32"),
        "tf.exp(tf.minimum(score, 30.0))",
        limit=0.0,
    ),
    "arc": Case(
        break_at(near(np.exp(-0.05 * STEPS), ACOS), 330).break_operation(0, start=330, margin=0, n_singular=1),
        "steep_gradient",
        330,
        ("The input of the arc cosine (train.py:7)", "reach ±1"),
        "clip_by_value(cosine",
        limit=5.96e-8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_is_told_before_it_breaks_and_comes_true(name: str) -> None:
    case = CASES[name]
    engine = Engine()
    case.run.announce(engine)
    case.run.feed_slice(engine, slice(0, case.breaks))
    (early,) = forecasts(engine)
    assert (early.kind, early.severity) == (case.kind, "warning")
    pending = early.evidence["forecast"]
    assert pending["outcome"] == "pending"
    assert pending["outcome_step"] is None
    assert pending["limit"] == pytest.approx(case.limit, rel=0.01)
    assert pending["known_step"] <= case.breaks - case.lead_min
    assert pending["at_step_low"] <= case.breaks <= pending["at_step_high"]
    case.run.feed_slice(engine, slice(case.breaks, N))
    after = next(finding for finding in engine.findings() if finding.id == early.id)
    known = after.evidence["forecast"]
    assert (known["outcome"], known["outcome_step"]) == ("came_true", case.breaks)
    assert known["lead_steps"] == case.breaks - known["known_step"]
    assert {key: value for key, value in known.items() if "outcome" not in key and key != "lead_steps"} == {
        key: value for key, value in pending.items() if "outcome" not in key and key != "lead_steps"
    }, "what was said stays said"
    assert all(word in after.title for word in case.words), after.title
    assert any(case.code in hypothesis.code for hypothesis in early.hypotheses)
    if case.layer != "any":
        assert early.layer == case.layer


@pytest.mark.parametrize("name", [name for name in CASES if name != "gradient"])
def test_the_incident_names_the_early_warning(name: str) -> None:
    case = CASES[name]
    broken, *_ = case.run.feed().findings()
    (early,) = forecasts(case.run.feed())
    assert (broken.severity, broken.first_step) == ("critical", case.breaks)
    known = early.evidence["forecast"]
    assert broken.evidence["early_warning"] == {
        "id": early.id,
        "kind": early.kind,
        "step": known["known_step"],
        "lead_steps": known["lead_steps"],
    }
    assert (
        f"It was forecast at step {known['known_step']}, {known['lead_steps']} steps before"
        in (broken.evidence["summary"])
    )
    assert broken.evidence["forecast"] is None, "one forecast is counted once"


def test_it_says_what_moved_and_whither() -> None:
    case = CASES["logarithm"]
    engine = Engine()
    case.run.announce(engine)
    case.run.feed_slice(engine, slice(0, 300))
    (early,) = forecasts(engine)
    number = early.evidence["forecast"]
    assert number["what"] == "Log's smallest input"
    assert number["slope"] == pytest.approx(-0.2, rel=0.15)
    ahead = float(f"{number['at_step'] - number['known_step']:.2g}")
    assert f"in about {ahead:.0f} steps" in early.title
    assert f"At this pace it is exactly 0 at about step {number['at_step']}" in early.evidence["summary"]
    json.dumps(early.to_json(), allow_nan=False)


def test_one_minus_something_ends_where_it_rounds() -> None:
    """The hook tells that the input is ``1 - p``: it is exactly 0 at 6e-8, and not at 1e-38."""
    told = near(0.3 * np.exp(-0.05 * STEPS), LOG | {"input": {"type": "Sub", "constant": 1.0}})
    run = break_at(told, 310).break_operation(0, start=310, margin=0, n_singular=1)
    (early,) = forecasts(run.feed())
    forecast = early.evidence["forecast"]
    assert forecast["limit"] == pytest.approx(5.96e-8)
    assert forecast["outcome_step"] == 310
    assert forecast["lead_steps"] > 50


def test_growth_that_stops_was_a_wrong_forecast() -> None:
    (early,) = half(grow(0.05, 20, 150)).feed().findings()
    forecast = early.evidence["forecast"]
    assert forecast["outcome"] == "did_not"
    assert forecast["lead_steps"] is None
    assert early.last_step == forecast["at_step_high"] < N
    assert early.title.endswith("it did not")
    assert early.evidence["is_over"]


def test_what_breaks_for_another_reason_is_no_merit() -> None:
    run = half(grow(0.05, 100, 230) * np.where(STEPS > 240, 0.01, 1.0))
    known = forecasts(run.feed())[0].evidence["forecast"]
    engine = break_at(run, known["at_step_low"] - 1).feed()
    (early,) = forecasts(engine)
    assert early.evidence["forecast"]["outcome"] == "did_not"
    assert engine.findings()[0].evidence["early_warning"] is None


def test_a_forecast_amid_a_growth_is_part_of_it() -> None:
    found = CASES["gradient"].run.feed().findings()
    (finding,) = found
    assert (finding.kind, finding.severity) == ("exploding_gradient", "critical")
    assert finding.evidence["forecast"]["outcome"] == "came_true"


def test_loss_scale_that_does_not_come_to_rest() -> None:
    run = Run(dense(3), n_steps=N).scale_loss(2.0 ** np.maximum(15 - STEPS // 25, 1))
    for step in range(25, 350, 25):
        run.break_("gradient", start=step, stop=step + 1, value="n_pos_inf")
    (found,) = [finding for finding in run.feed().findings() if finding.evidence["forecast"]]
    assert (found.kind, found.severity) == ("loss_scale_floor", "warning")
    assert "The loss scale" in found.title


def walk(random: np.random.Generator) -> np.ndarray:
    return np.exp(np.cumsum(0.03 * random.standard_normal(N)))


def search(seed: int) -> Run:
    run = Run(dense(3), n_steps=N, seed=seed).scale_loss(2.0 ** np.maximum(15 - STEPS, 3))
    return run.break_("gradient", start=0, stop=12, value="n_pos_inf")


def written(code: str) -> dict[str, Any]:
    return {"source": {"file": "train.py", "line": 7, "code": code}}


HEALTHY: dict[str, Callable[[int], Run]] = {
    "level": lambda seed: half(1e4, seed),
    "warm-up": lambda seed: half(1 + 3_000 * np.minimum(STEPS / 200, 1), seed),
    "grows as the root": lambda seed: half(100 * np.sqrt(1 + STEPS), seed),
    "levels off": lambda seed: half(1e3 * (1 - np.exp(-(STEPS + 1) / 80)), seed),
    "drifts": lambda seed: half(1e3 * walk(np.random.default_rng(seed)), seed),
    "schedule": lambda seed: half(1.0, seed).scale("gradient", 0.5 * (1 + np.cos(np.pi * STEPS / N)) + 1e-4),
    "margin as 1 / n": lambda seed: near(0.3 / (1 + STEPS), LOG, seed),
    "margin as 1 / n, unguarded": lambda seed: near(
        0.3 / (1 + STEPS), LOG | {"input": {"type": "Softmax", "constant": None}}, seed
    ),
    "margin down to an epsilon": lambda seed: near(np.maximum(np.exp(-0.2 * STEPS), 1e-10), LOG, seed, 0.01),
    "margin held by a bound": lambda seed: near(
        np.maximum(np.exp(-0.2 * STEPS), 1e-20), LOG | {"input": {"type": "Maximum", "constant": 1e-20}}, seed
    ),
    "margin of what a clip leaves of 1": lambda seed: near(
        np.maximum(np.exp(-0.1 * STEPS), 1e-6), LOG | {"input": {"type": "Sub", "constant": 1.0, "least": 1e-6}}, seed
    ),
    "exponent bounded": lambda seed: near(
        80 - 0.1 * STEPS, EXP | {"input": {"type": "Minimum", "constant": 80.0}}, seed
    ),
    "exponential of a density's logarithm, of which the top is near 0": lambda seed: near(
        np.maximum(198 - 0.4 * STEPS, 87.3), EXP, seed
    ),
    "exponent that rises and levels off": lambda seed: near(30 + 50 * np.exp(-STEPS / 60), EXP, seed),
    "arc with a clip": lambda seed: near(
        np.maximum(np.exp(-0.1 * STEPS), 1e-6), ACOS | written("tf.acos(tf.clip_by_value(c, -m, m))"), seed
    ),
    "loss scale that is found": search,
    "diverging loss of a density": lambda seed: half(1.0, seed).set_loss(-np.exp(0.01 * STEPS)),
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_is_silent(name: str) -> None:
    for seed in range(5):
        assert [finding.title for finding in HEALTHY[name](seed).feed(batch=128).findings()] == []


@pytest.mark.parametrize("name", CASES)
def test_does_not_depend_on_batches(name: str) -> None:
    run = CASES[name].run
    said = [json.dumps([f.to_json() for f in run.feed(batch=batch).findings()]) for batch in (3, 8, 61, N)]
    assert len(set(said)) == 1


def test_is_rebuilt_by_replay() -> None:
    run = CASES["output in float16"].run
    live = Engine()
    run.announce(live)
    for start, stop in itertools.pairwise([0, 3, 250, 251, 400, N]):
        run.feed_slice(live, slice(start, stop))
        _ = live.findings()
    assert [f.to_json() for f in live.findings()] == [f.to_json() for f in run.feed().findings()]


def window_of(values: np.ndarray, first_step: int = 0) -> Window:
    steps = first_step + np.arange(len(values), dtype=np.float64)
    return Window(steps, values[:, None], first_step, first_step + len(values) - 1, len(values))


def test_slope_is_that_of_theil_and_sen() -> None:
    random = np.random.default_rng(3)
    values = 0.5 * np.arange(N_POINTS) + 0.4 * random.standard_normal(N_POINTS)
    values[5] += 9.0  # a third may be outliers
    found = extrapolate(window_of(values, 1_000), 0, 20.0)
    assert found is not None
    expected = stats.theilslopes(values, np.arange(N_POINTS))
    assert found.slope == pytest.approx(expected.slope)
    assert abs(found.at_step - (1_000 + 40)) <= 2
    assert found.at_step_low < 1_040 < found.at_step_high


@pytest.mark.parametrize("limit", [-100.0, 60.0])
def test_the_wrong_way_and_far_away_are_no_forecast(limit: float) -> None:
    assert extrapolate(window_of(np.arange(N_POINTS) * 1.0), 0, limit) is None


def test_a_power_of_the_steps_is_followed_as_such() -> None:
    steps = 1 + np.arange(N_POINTS) * 4.0
    window = Window(steps, np.log(1 + steps)[:, None], 1, int(steps[-1]), 64)
    # Straight on, it would be there soon; as a power of the steps it takes e times as long.
    assert extrapolate(window, 0, float(np.log(1 + steps[-1]) + 1.0)) is None or (
        extrapolate(window, 0, float(np.log(1 + steps[-1]) + 1.0)).at_step  # type: ignore[union-attr]
        >= np.floor(np.e * (1 + steps[-1])) - 2
    )


def test_ladder_gives_means_of_what_is_known() -> None:
    random = np.random.default_rng(0)
    values = random.standard_normal((1_024, 3))
    values[::3, 1] = np.nan
    values[:, 2] = np.nan
    seen = [
        window for window, _ in Ladder(3).feed(np.arange(1_024), values, lambda first, _: np.ones(first.shape, bool))
    ]
    coarse = [window for window in seen if window.n_rows == 128]
    assert len(coarse) == 128 - 15
    last = coarse[-1]
    assert (last.first_step, last.last_step) == (896, 1_023)
    np.testing.assert_allclose(last.steps, 896 + 8 * np.arange(16) + 3.5)
    np.testing.assert_allclose(last.values[:, 0], values[896:, 0].reshape(16, 8).mean(axis=1))
    np.testing.assert_allclose(last.values[:, 1], np.nanmean(values[896:, 1].reshape(16, 8), axis=1))
    assert np.isnan(last.values[:, 2]).all()
