"""Hidden layers that give hardly anything but the ends of a tanh: told where they start so, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.health.catalogue.play import play, script
from tests.health.streams import COLUMN, Run, dense

N = 240
LAYERS = [(f"dense_{i}", 64, "tanh") for i in range(3)] + [("dense_3", 64, None)]


def run(
    *, square: float = 0.95, std: float = 1.0, which: tuple[int, ...] = (0, 1, 2), start: int = 0, **more: Any
) -> Run:
    """Layers whose tanh is at its ends, and whose kernels have some standard deviation."""
    sick = Run(dense(4), n_steps=N, layers=LAYERS, **more).set_loss(2.0)
    columns = sick.columns("activation", list(which))
    sick.statistics[start:, columns, COLUMN["min"]], sick.statistics[start:, columns, COLUMN["max"]] = -1.0, 1.0
    n_elements = sick.statistics[start:, columns, COLUMN["n_elements"]]
    sick.statistics[start:, columns, COLUMN["norm"]] = np.sqrt(square * n_elements)
    sick.statistics[:, sick.columns("weight", [0, 2, 4, 6]), COLUMN["norm"]] = 64 * std
    return sick


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 8])
def test_layers_at_their_ends_from_the_start(batch: int, every: int) -> None:
    (found,) = run().thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("saturated_activation", "warning", 0)
    assert found.title.startswith("The output of dense_0 (and of 2 more layers) is hardly anything but -1 and 1")
    assert found.layer == "dense_0"
    assert found.evidence["square"] == pytest.approx(0.95, rel=1e-5)
    assert found.evidence["gain"] == pytest.approx(8.0, rel=1e-5)  # the root of 64 inputs, times 1
    assert found.hypotheses[0].cause == "The weights start too large for the depth"


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(run(std=0.125), id="kernels of the usual size"),
        pytest.param(run(square=0.4), id="a tanh of usual numbers"),
        pytest.param(run(square=1.0), id="codes by a sign"),
        pytest.param(run(which=(1,)), id="one layer alone"),
        pytest.param(run(start=50), id="what training came to"),
        pytest.param(run(start=20).thin(8), id="what training came to, seldom looked at"),
        pytest.param(run().set_loss(np.geomspace(2.0, 1e-3, N)), id="a task for which ends will do"),
    ],
)
def test_is_silent(healthy: Run) -> None:
    assert not healthy.feed().findings()


SCRIPT = """
import keras, numpy as np
import gradwatch

random = np.random.default_rng(0)
x = random.normal(size=(640, 32)).astype("float32")
y = np.tanh(x @ random.normal(size=(32, 5))).argmax(-1)
start = keras.initializers.RandomNormal(stddev=STD)
hidden = [keras.layers.Dense(96, activation="tanh", kernel_initializer=start) for _ in range(4)]
model = keras.Sequential([keras.Input((32,)), *hidden, keras.layers.Dense(5)])
gradwatch.watch(model)
model.compile(keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=8, verbose=0)
"""


@pytest.mark.parametrize(("std", "is_told"), [("1.0", True), ("0.1", False)])
def test_a_real_one(std: str, is_told: bool, tmp_path: Path) -> None:
    path = tmp_path / "start.py"
    path.write_text(SCRIPT.replace("STD", std))
    kinds = [found.kind for found in play(script(path)).findings]
    assert kinds == (["saturated_activation"] if is_told else [])


ATTENTION = """
import keras, numpy as np, tensorflow as tf
import gradwatch

random = np.random.default_rng(0)
x = random.normal(size=(640, 10, 16)).astype("float32")
y = x[np.arange(640), x[:, :, 0].argmax(1), 1] * 2

class Attend(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (keras.layers.Dense(width) for _ in range(3))

    def call(self, x):
        scores = tf.matmul(self.query(x), self.key(x), transpose_b=True)
        return tf.matmul(tf.nn.softmax(scores * SCALE), self.value(x))

given = keras.Input((10, 16))
h = keras.layers.LayerNormalization()(keras.layers.Dense(64)(given))
h = keras.layers.GlobalAveragePooling1D()(h + Attend(64)(h))
model = keras.Model(given, keras.layers.Dense(1)(h))
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(1e-3), "mse")
model.fit(x, y, batch_size=32, epochs=8, verbose=0)
"""


@pytest.mark.parametrize(("scale", "is_told"), [("8.0", True), ("0.125", False)])
def test_an_attention_by_hand(scale: str, is_told: bool, tmp_path: Path) -> None:
    """Its softmax is no layer's output: scores that are far apart from the start give it 0 and 1 alone."""
    path = tmp_path / "attend.py"
    path.write_text(ATTENTION.replace("SCALE", scale))
    findings = [found for found in play(script(path)).findings if found.kind == "saturated_activation"]
    assert len(findings) == is_told
    for found in findings:
        assert found.first_step == 0
        assert found.title.startswith("The output of the softmax in attend (attend.py:")
        assert found.source is not None
        assert "tf.nn.softmax" in found.source["code"]
        assert found.hypotheses[0].cause == "What enters the softmax is too large"
        assert "sqrt" in found.hypotheses[0].code


DEAD = """
import keras, numpy as np, tensorflow as tf
import gradwatch

random = np.random.default_rng(0)
x = random.normal(size=(640, 16)).astype("float32")
y = (x @ random.normal(size=(16, 4))).argmax(1)

class Net(keras.Model):
    def __init__(self):
        super().__init__(name="net")
        low = keras.initializers.Constant(BIAS)
        self.first, self.last = keras.layers.Dense(32, bias_initializer=low), keras.layers.Dense(4)

    def call(self, x):
        h = self.first(x)
        return self.last(tf.nn.relu(h))

model = Net()
gradwatch.watch(model)
model.compile(keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=8, verbose=0)
"""


@pytest.mark.parametrize(("bias", "is_told"), [("-9.0", True), ("0.0", False)])
def test_a_relu_that_is_called_by_hand(bias: str, is_told: bool, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(DEAD.replace("BIAS", bias))
    findings = play(script(path)).findings
    assert [found.kind for found in findings] == (["dead_units"] if is_told else [])
    for found in findings:
        assert found.title == "Every unit of the relu in net is dead from the first step on"
        assert found.source is not None
        assert found.source["code"] == "return self.last(tf.nn.relu(h))"
