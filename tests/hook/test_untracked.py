"""What a layer holds as a plain `tf.Variable` of random numbers is told, whatever the rest of the model learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.script import is_assigned
from gradwatch.target import _looks_drawn
from tests.hook.diagnosis import diagnose, find_line

CAPTURE = ("gradient", "weight")
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(64, 8)).astype(np.float32)
PLACES = np.arange(16)[:, None] / 10 ** (np.arange(8) / 8)


class Held(keras.layers.Layer):
    """Adds what it holds to what a Dense makes of its input."""

    def __init__(self, start: Any, *, mix: Any = tf.matmul, name: str = "held", **options: Any) -> None:
        super().__init__(name=name)
        self.table = tf.Variable(start, **options)  # held
        self.dense = keras.layers.Dense(self.table.shape[-1])
        self.mix = mix

    def call(self, x: Any) -> Any:
        return self.dense(x) + self.mix(x, self.table)


def train(watch: Any, layer: Any, *, n_steps: int = 2, own: Any = None, rate: float = 0.01, **options: Any) -> Any:
    model = keras.Sequential([keras.Input((8,)), layer, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(rate)
    begun = watch(model, budget=0)

    @tf.function(**options)
    def step(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(tf.square(model(x) - x[:, :1]))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        if own is not None:
            own.apply([tape.gradient(loss, layer.table)], [layer.table])
        return loss

    begun.log(loss=step(X))
    for _ in range(n_steps - 1):
        begun.log(loss=step(X))
    return begun


def drawn(shape: Any = (8, 6)) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


def held_in(recording: Any) -> set[str]:
    (table,) = recording.tables.values()
    return {one["tensor"].split("/")[-1] for one in table["tensors"] if one.get("left")}


@pytest.mark.parametrize("jit", [False, True])
def test_it_is_sent(watch: Any, read: Any, jit: bool) -> None:
    assert held_in(read(train(watch, Held(drawn()), jit_compile=jit))) == {"table"}


def through_choice(x: Any, table: Any) -> Any:
    return tf.one_hot(tf.argmax(x @ table, axis=1), table.shape[-1])


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(lambda: Held(drawn(), trainable=False), id="not trainable"),
        pytest.param(lambda: Held(np.ones((8, 6), np.float32)), id="constant"),
        pytest.param(lambda: Held(np.sin(PLACES[:8]).astype(np.float32)), id="sines"),
        pytest.param(lambda: Held(drawn(), name="random_features"), id="random by its name"),
        pytest.param(lambda: Held(drawn(), mix=lambda x, table: 0.0), id="not read"),
        pytest.param(lambda: Held(drawn(), mix=lambda x, table: x @ tf.stop_gradient(table)), id="cut off"),
        pytest.param(lambda: Held(drawn(), mix=through_choice), id="hashes"),
    ],
)
def test_what_is_meant_so_is_not_sent(watch: Any, read: Any, layer: Any) -> None:
    assert held_in(read(train(watch, layer()))) == set()


def test_what_a_line_assigns_is_not_sent(tmp_path: Path) -> None:
    lines = {
        "self.table.assign(x)": False,
        "layer.table[0].assign_add(x)": False,
        "for one in held: one.assign(x)": False,
        "self.other.assign(x)": True,
        "self.table = tf.Variable(x)": True,
    }
    for number, (text, is_told) in enumerate(lines.items()):
        path = tmp_path / f"lines_{number}.py"
        path.write_text(text)
        assert is_assigned([str(path)], "sequential/held/table") is not is_told


@pytest.mark.parametrize(
    ("numbers", "is_drawn"),
    [
        (drawn((5, 4)), True),
        (drawn((40,)), True),
        (RANDOM.uniform(size=(20, 8)), True),
        (keras.initializers.GlorotUniform(1)((64, 64)), True),
        (keras.initializers.Orthogonal(seed=1)((32, 32)), True),
        (drawn((4, 4)), False),
        (np.linspace(-1, 1, 40).reshape(8, 5), False),
        (np.linspace(-1, 1, 40), False),
        (np.eye(8), False),
        (np.sin(PLACES), False),
        (np.sin(np.arange(64)[:, None] * 2.0 ** np.arange(6)), False),
        (np.cos(np.pi / 16 * (np.arange(16) + 0.5) * np.arange(16)[:, None]), False),
        (np.sin(np.linspace(0, 20, 40)), False),
        (RANDOM.normal(size=(20, 8)) + 3.0, False),
        (np.sign(drawn((20, 8))), False),
    ],
)
def test_what_looks_drawn(numbers: Any, is_drawn: bool) -> None:
    assert _looks_drawn(tf.constant(numbers, tf.float32)) is is_drawn


def test_it_is_told_with_its_line_whatever_is_learned(watch: Any, read: Any) -> None:
    recording = read(train(watch, Held(drawn()), n_steps=130, rate=0.03))
    (loss,) = [values for name, values in recording.logged_arrays() if name == "loss"]
    assert loss[1][-1] < 0.02 * loss[1][0]
    (found,) = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert found.title.startswith("table of sequential")
    assert "is never trained: a plain `tf.Variable`, which Keras 3 does not track" in found.title
    assert found.source["line"] == find_line("held", Path(__file__))
    assert found.hypotheses[0].cause == "Keras does not know of some variables"


class Sprung(keras.layers.Layer):
    """Two coefficients that the loss has a gradient for, one of which is said to be trained in so many words."""

    def __init__(self) -> None:
        super().__init__(name="sprung")
        self.stiffness = tf.Variable(1.0, trainable=True)  # stiffness
        self.pace = tf.Variable(1.0)
        self.dense = keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.stiffness * self.dense(x) + self.pace


def test_a_number_is_told_where_it_is_said_to_be_trained(watch: Any, read: Any) -> None:
    recording = read(train(watch, Sprung(), n_steps=130, rate=0.03))
    assert held_in(recording) == {"stiffness"}
    (found,) = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert found.title.startswith("stiffness of sequential")
    assert found.source["line"] == find_line("stiffness", Path(__file__))


def test_what_has_an_optimizer_of_its_own_is_not_told(watch: Any, read: Any) -> None:
    layer, own = Held(drawn()), keras.optimizers.SGD(1e-3)
    own.build([layer.table])
    findings = diagnose(read(train(watch, layer, n_steps=130, own=own))).findings()
    assert "missing_gradient" not in {one.kind for one in findings}
