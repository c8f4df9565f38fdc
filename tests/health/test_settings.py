"""Settings of the optimizer that undo, delay or throw its steps: real trainings, each beside one that is as usual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

from gradwatch_server.health.verdict.advice_settings import keep_share
from tests.health.catalogue.play import Watch, play

N_STEPS, BATCH = 400, 64


def causes(make: Callable[[], Any]) -> list[str]:
    """All causes that are named where a small network learns, or does not, the signs of two products."""

    def train(watch: Watch, seed: int) -> None:
        keras.utils.set_random_seed(seed)
        random = np.random.default_rng(seed)
        x = random.normal(size=(BATCH * N_STEPS, 6)).astype(np.float32)
        y = 2 * (x[:, 0] * x[:, 1] > 0) + (x[:, 2] * x[:, 3] > 0)
        hidden = [keras.layers.Dense(64, activation="relu") for _ in range(2)]
        model = keras.Sequential([keras.Input((6,)), *hidden, keras.layers.Dense(4)])
        model.compile(optimizer=make(), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        watch(model)
        model.fit(x, y, batch_size=BATCH, verbose=0)

    return [hypothesis.cause for finding in play(train).findings for hypothesis in finding.hypotheses]


def warm_up(n_steps: int) -> Any:
    schedules = keras.optimizers.schedules
    return schedules.CosineDecay(0.0, 10 * n_steps, warmup_target=1e-2, warmup_steps=n_steps)


CASES: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
    (
        "writes the average of the weights",
        lambda: keras.optimizers.Adam(1e-3, use_ema=True, ema_momentum=0.999, ema_overwrite_frequency=1),
        lambda: keras.optimizers.Adam(1e-2, use_ema=True, ema_momentum=0.99, ema_overwrite_frequency=100),
    ),
    (
        "waits for more gradients",
        lambda: keras.optimizers.Adam(1e-2, gradient_accumulation_steps=500),
        lambda: keras.optimizers.Adam(1e-2, gradient_accumulation_steps=4),
    ),
    (
        "epsilon of Adam is far above the gradients",
        lambda: keras.optimizers.Adam(1e-2, epsilon=1e3),
        lambda: keras.optimizers.Adam(1e-2, epsilon=1e-3),
    ),
    ("Adadelta finds the size", keras.optimizers.Adadelta, lambda: keras.optimizers.Adadelta(1.0)),
    (
        "look swapped",
        lambda: keras.optimizers.Adam(3e-2, beta_1=0.999, beta_2=0.9),
        lambda: keras.optimizers.Adam(1e-2, beta_1=0.9, beta_2=0.95),
    ),
    (
        "weight decay, 50, keeps",
        lambda: keras.optimizers.AdamW(1e-2, weight_decay=50.0),
        lambda: keras.optimizers.AdamW(1e-2, weight_decay=0.05),
    ),
    (
        "The warm-up takes longer",
        lambda: keras.optimizers.Adam(warm_up(100_000)),
        lambda: keras.optimizers.Adam(warm_up(40)),
    ),
    (
        "A momentum of 0.999",
        lambda: keras.optimizers.SGD(0.02, momentum=0.999),
        lambda: keras.optimizers.SGD(0.02, momentum=0.9),
    ),
]


@pytest.mark.parametrize(
    ("said", "broken", "usual"),
    [pytest.param(*case, marks=[pytest.mark.thorough] * (number % 2), id=case[0]) for number, case in enumerate(CASES)],
)
def test_the_setting_is_named_where_it_does_harm(
    said: str, broken: Callable[[], Any], usual: Callable[[], Any]
) -> None:
    assert any(said in cause for cause in causes(broken))
    assert not any(said in cause for cause in causes(usual))


@pytest.mark.parametrize(("momentum", "period"), [(0.9, 1), (0.99, 1), (0.99, 100), (0.5, 7), (0.999, 10)])
def test_what_an_average_leaves(momentum: float, period: int) -> None:
    weight = average = 0.0
    for _ in range(period):
        weight += 1.0
        average = momentum * average + (1 - momentum) * weight
    assert keep_share(momentum, period) == pytest.approx(average / period)
