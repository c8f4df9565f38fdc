"""Optimizers that follow one another: told of where each begins as the one before, and no stage of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine
from tests.health.catalogue.play import play, script
from tests.health.streams import Run, dense


def engine_of(
    rates: list[tuple[float, float]], *, n_steps: int = 40, depths: tuple[int, ...] = (2,) * 9, last_loss: float = 2.0
) -> Engine:
    """A stream for each pair of the first and the last learning rate, one after another."""
    engine = Engine()
    for number, (first, last) in enumerate(rates):
        place_of_run = {"stream": number, "first_step": number * n_steps}
        one = Run(dense(depths[number]), n_steps=n_steps, settings={"class": "SGD"}, **place_of_run)
        one.set_loss(2.0 if number < len(rates) - 1 else last_loss)
        place = one.scalar_names.index("learning_rate")
        one.scalars[:, place] = np.linspace(first, last, n_steps)
        one.present[:, place] = True
        one.feed(engine)
    return engine


def told(engine: Engine) -> list[Any]:
    return [one for one in engine.findings() if one.title.startswith("The optimizer was made anew")]


def test_a_warm_up_that_begins_again_and_again() -> None:
    (found,) = told(engine_of([(1e-5, 1e-3)] * 5))
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 40)
    assert found.title == "The optimizer was made anew 4 times: each begins again after 40 steps"
    assert "learning rate began at 1e-05 each time, and came to 0.001" in found.evidence["summary"]
    assert found.evidence["n_optimizers"] == 5


def test_a_new_one_for_every_few_steps() -> None:
    (found,) = told(engine_of([(1e-3, 1e-3)] * 6, n_steps=10))
    assert found.title == "The optimizer was made anew 5 times: each begins again after 10 steps"


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(engine_of([(1e-5, 1e-3)] * 3), id="three stages"),
        pytest.param(engine_of([(1e-3, 1e-3)] * 6), id="at one rate, of many steps each"),
        pytest.param(engine_of([(10.0**-n, 0.5 * 10.0**-n) for n in range(2, 8)]), id="each at a lower rate"),
        pytest.param(engine_of([(1e-5, 1e-3)] * 5, last_loss=0.01), id="and learns all the same"),
        pytest.param(engine_of([(1e-5, 1e-3)] * 5, depths=(2, 3, 4, 5, 6)), id="of other variables each"),
    ],
)
def test_is_silent(healthy: Engine) -> None:
    assert told(healthy) == []


SCRIPT = """
import keras, numpy as np, tensorflow as tf
import gradwatch

random = np.random.default_rng(0)
x = random.normal(size=(2048, 8)).astype("float32")
y = x @ random.normal(size=(8, 1)).astype("float32") + random.normal(size=(2048, 1)).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
gradwatch.watch(model)


def compile():
    schedule = keras.optimizers.schedules.CosineDecay(0.0, 400, warmup_target=1e-2, warmup_steps=200)
    model.compile(optimizer=keras.optimizers.SGD(schedule), loss="mse")


compile()
for chunk in range(6):
    {again}
    rows = slice(320 * chunk, 320 * chunk + 320)
    model.fit(x[rows], y[rows], batch_size=16, epochs=1, verbose=0)
"""


@pytest.mark.parametrize(("again", "n"), [("compile()", 1), ("pass", 0)])
def test_a_real_training(tmp_path: Path, again: str, n: int) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.format(again=again))
    titles = [one.title for one in play(script(path)).findings if "made anew" in one.title]
    assert titles == ["The optimizer was made anew 5 times: each begins again after 20 steps"] * n


EAGER = """
import keras, numpy as np, tensorflow as tf
import gradwatch

random = np.random.default_rng(0)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
gradwatch.watch(model)
for step in range(30):
    optimizer = keras.optimizers.Adam(1e-3)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(random.normal(size=(16, 8)).astype("float32")) - 1.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


def test_one_for_every_step(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(EAGER)
    titles = [one.title for one in play(script(path)).findings if "made anew" in one.title]
    assert titles == ["The optimizer was made anew 11 times: each begins again after 1 step"]  # no more are followed
