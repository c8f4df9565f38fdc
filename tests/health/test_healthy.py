"""Healthy runs have no finding: noise, warm-up, spikes, convergence, tiny gradients, sparse embeddings, heavy tails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.health.streams import Run, dense

N_STEPS = 1_200
SEEDS = range(8)
STEPS = np.arange(N_STEPS)
PLAIN = dense(5)


def plain(seed: int, **options: float) -> Run:
    return Run(PLAIN, n_steps=N_STEPS, seed=seed, **options)


def spikes(seed: int, random: np.random.Generator) -> Run:
    factors = np.ones(N_STEPS)
    factors[random.integers(0, N_STEPS, 10)] = random.choice([30.0, 300.0, 3_000.0], 10)
    return plain(seed).scale("gradient", factors)


def burst(seed: int, random: np.random.Generator) -> Run:
    factors = np.ones(N_STEPS)
    start = random.integers(100, N_STEPS - 20)
    factors[start : start + 3] = 500.0
    return plain(seed).scale("gradient", factors)


def slow_swing(seed: int, random: np.random.Generator) -> Run:
    level = np.zeros(N_STEPS)
    for i in range(1, N_STEPS):
        level[i] = 0.97 * level[i - 1] + 0.35 * random.standard_normal()
    return plain(seed).scale("gradient", np.exp(level))


def embedding(seed: int, random: np.random.Generator) -> Run:
    run = Run([("embedding/embeddings", (20_000, 64), "float32"), *PLAIN], n_steps=N_STEPS, seed=seed)
    run.statistics[:, 0, 8] = 0.995 * 20_000 * 64
    return run.scale("gradient", random.choice([0.0, 0.05, 0.3], N_STEPS, p=[0.4, 0.4, 0.2]), [0])


def back_to_work(seed: int, random: np.random.Generator) -> Run:
    """Converged, then given new data: gradients come back from 1e-4 to their first level."""
    level = np.exp(-STEPS / 60)
    level[700:] = 1.0
    return plain(seed).scale("gradient", np.maximum(level, 1e-4))


def converging(seed: int, random: np.random.Generator) -> Run:
    """A fit to the last digit: everything fades, and the first layers fade before the last."""
    run = plain(seed).set_loss(2.3 * np.exp(-STEPS / 40)).scale("gradient", np.exp(-STEPS / 80))
    return run.scale("gradient", np.exp(-STEPS / 60), [0, 1, 2, 3])


def late_zero(seed: int, random: np.random.Generator) -> Run:
    """A hinge loss that is satisfied: no gradient is left, and none is needed."""
    loss = np.maximum(1 - STEPS / 400, 0.0)
    return plain(seed).set_loss(loss).scale("gradient", 0.0, start=400)


def zero_start(seed: int, random: np.random.Generator) -> Run:
    """A last layer that starts at zero: nothing reaches the others in the first step."""
    growth = np.minimum(1e-4 * np.arange(N_STEPS), 1.0)
    return plain(seed).scale("gradient", growth, range(8))


def loss_scaled(seed: int, random: np.random.Generator) -> Run:
    """Mixed precision: the scale doubles every 300 steps and halves at an overflow, which is Inf once, with finite
    weights."""
    run = plain(seed).scale_loss(2.0 ** (15 + (STEPS % 300 > 150)))
    for step in range(299, N_STEPS, 300):
        run.break_("gradient", start=step, stop=step + 1, value="n_pos_inf")
    return run.break_("gradient", [9], start=0, stop=9, value="n_pos_inf").break_("gradient", start=450, stop=452)


RUNS: dict[str, Callable[[int, np.random.Generator], Run]] = {
    "little noise": lambda seed, random: plain(seed, noise=0.05),
    "usual noise": lambda seed, random: plain(seed),
    "much noise": lambda seed, random: plain(seed, noise=1.0),
    "independent heavy noise": lambda seed, random: plain(seed, noise=2.0).set_loss(random.standard_normal(N_STEPS)),
    "heavy tails (Pareto 1), loss of a policy gradient": lambda seed, random: (
        plain(seed).scale("gradient", random.pareto(1.0, N_STEPS) + 1).set_loss(random.standard_cauchy(N_STEPS))
    ),
    "heavy tails (Cauchy)": lambda seed, random: plain(seed).scale(
        "gradient", np.abs(random.standard_cauchy(N_STEPS)) + 1e-3
    ),
    "single spikes": spikes,
    "burst of three": burst,
    "slow swing": slow_swing,
    "warm-up": lambda seed, random: plain(seed).scale("gradient", np.minimum(1 + STEPS / 20, 30.0)),
    "high at first": lambda seed, random: plain(seed).scale("gradient", 1 + 100 * np.exp(-STEPS / 8)),
    "summed loss": lambda seed, random: plain(seed).scale("gradient", 1e6).set_loss(1e7 * np.exp(-STEPS / 200)),
    "fine-tuning with tiny gradients": lambda seed, random: plain(seed).scale("gradient", 1e-7).set_loss(2.3),
    "sparse embedding": embedding,
    "back to work": back_to_work,
    "converging": converging,
    "satisfied hinge": late_zero,
    "last layer starts at zero": zero_start,
    "loss scaling": loss_scaled,
    "thinned to one row in 50": lambda seed, random: plain(seed).thin(50),
    "thinned from an odd step": lambda seed, random: Run(PLAIN, n_steps=N_STEPS, seed=seed, first_step=13).thin(7),
    "large updates while the loss falls": lambda seed, random: plain(seed).scale("update", 250.0),
    "high rate at first": lambda seed, random: plain(seed).scale("update", 1 + 200 * np.exp(-STEPS / 5)),
}


@pytest.mark.parametrize("name", RUNS)
def test_has_no_finding(name: str) -> None:
    for seed in SEEDS:
        engine = RUNS[name](seed, np.random.default_rng(1_000 + seed)).feed(batch=256)
        assert [finding.title for finding in engine.findings()] == [], f"seed {seed}"
        assert engine.level == "healthy"
        assert engine.revision == 0


def test_alternating_losses_leave_no_variable_out() -> None:
    run = Run(PLAIN, n_steps=60)
    for start in range(0, 60, 2):
        run.miss([0, 1], start=start, stop=start + 1)
    assert run.feed().findings() == []


def test_empty_engine_is_healthy() -> None:
    engine = Run(PLAIN, n_steps=0).feed()
    assert (engine.level, engine.findings(), engine.revision) == ("healthy", [], 0)
