"""Activation functions that the user's own code calls in layers: their numbers, their lines, and what is left out."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.test_layers import train
from tests.hook.training import N_CLASSES, WIDTH, dense
from tests.numerics.reference import NAMES, row

N_UNITS = 5


class Gate(keras.layers.Layer):
    """A gate by hand: what it gives is neither of the two functions."""

    def __init__(self, **options):
        super().__init__(**options)
        self.value, self.share = dense(N_UNITS, "value"), dense(N_UNITS, "share", seed=3)

    def build(self, shape):
        self.value.build(shape)
        self.share.build(shape)

    def call(self, x):
        value = tf.tanh(8 * self.value(x))
        return value * tf.sigmoid(9 * self.share(x))


class Net(keras.Model):
    """Functions between layers, of the model's own code; one of them is hidden in a function that goes on."""

    def __init__(self):
        super().__init__(name="net")
        self.gate, self.last = Gate(name="gate"), dense(N_CLASSES, "last", seed=2)

    def call(self, x):
        x = tf.nn.relu(self.gate(x) - 0.2)
        weights = tf.nn.softmax(3 * x)
        return self.last(tf.nn.gelu(x * weights, approximate=True) + tf.nn.silu(x))


def batch():
    random = np.random.default_rng(0)
    return random.normal(size=(32, WIDTH)).astype("float32"), random.integers(0, N_CLASSES, 32)


def functions_of(model, x):
    """What the functions of `Net` give, computed by NumPy in float64."""
    value, share, *_ = (layer.kernel.numpy().astype(np.float64) for layer in (model.gate.value, model.gate.share))
    tanh, sigmoid = np.tanh(8 * (x @ value)), 1 / (1 + np.exp(-9 * (x @ share)))
    relu = np.maximum(tanh * sigmoid - 0.2, 0)
    powers = np.exp(3 * relu)
    softmax = powers / powers.sum(-1, keepdims=True)
    return {"gate/tanh": tanh, "gate/sigmoid": sigmoid, "net/relu": relu, "net/softmax": softmax}


def entries_within(recording):
    return [one for one in recording.tables[recording.stream]["tensors"] if one.get("within")]


@pytest.mark.parametrize(
    "way", ["fit", "fit, jit", "fit, eagerly", "tf.function", "tf.function, jit", "eager loop", "eager loop, later"]
)
def test_functions_in_the_users_own_code(watch, read, way):
    x, y = batch()
    model = Net()
    model(x[:1])
    expected = functions_of(model, x.astype(np.float64))
    begun = watch(model, every=1, budget=0)
    is_later = way.endswith("later")
    rate = 0.0 if is_later else 0.01
    train(way.removesuffix(", later"), model, keras.optimizers.SGD(rate), [(x, y)] * (1 + 2 * is_later))
    recording = read(begun)
    entries = entries_within(recording)
    assert [one["tensor"].removeprefix("net/") for one in entries] == [
        name.removeprefix("net/") for name in expected
    ]  # in the order in which they run, and neither a gelu's tanh nor a silu's sigmoid
    for one, values in zip(entries, expected.values(), strict=True):
        found = recording.statistics("activation", one["tensor"])[-1]
        wanted = row(values.astype(np.float32))
        is_known = [name not in ("n_saturated", "cosine_distance") for name in NAMES]
        scale = np.maximum(wanted[NAMES.index("norm")], 1e-12)
        assert (np.abs(found - wanted)[is_known] / scale).max() < 1e-4, one["tensor"]
        assert np.isnan(found[NAMES.index("cosine_distance")])
    lines = [one["source"]["code"] for one in entries]
    assert lines == [
        "value = tf.tanh(8 * self.value(x))",
        "return value * tf.sigmoid(9 * self.share(x))",
        "x = tf.nn.relu(self.gate(x) - 0.2)",
        "weights = tf.nn.softmax(3 * x)",
    ]
    assert [one["layer"].rpartition("/")[2] for one in entries] == ["gate", "gate", "net", "net"]


def test_units_without_slope_are_counted(watch, read):
    x, y = batch()
    model = Net()
    model(x[:1])
    far = np.zeros((WIDTH, N_UNITS), np.float32)
    model.gate.value.set_weights([far, np.array([9, -9, 0, 1, -1], "float32")])
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.0), [(x, y)])
    recording = read(begun)
    tanh = recording.statistics("activation", entries_within(recording)[0]["tensor"])[0]
    assert tanh[NAMES.index("n_saturated")] == 4 * 32  # 1 - tanh(8) is 2.3e-7


class Squash(keras.layers.Layer):
    """A layer whose output is what a function of its own code gives."""

    def call(self, x):
        return tf.tanh(x)


def test_what_a_layer_gives_is_told_once_with_its_function(watch, read):
    model = keras.Sequential([keras.Input((WIDTH,)), dense(4, "first"), Squash(name="squash"), dense(3, "last")])
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.0), [batch()])
    recording = read(begun)
    assert not entries_within(recording)
    outputs = [one for one in recording.tables[recording.stream]["tensors"] if one["kind"] == "activation"]
    assert [one["activation"] for one in outputs] == ["linear", "tanh", "linear"]


def test_functions_of_what_nothing_is_trained_for_are_left_out(watch, read):
    """A threshold on the inputs, and what a loss takes of the outputs."""

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.last = dense(N_CLASSES, "last")

        def call(self, x):
            return self.last(tf.sigmoid(100 * x))

    def loss(y, scores):
        return -tf.reduce_mean(tf.math.log(tf.gather(tf.nn.softmax(scores) + 1e-6, tf.cast(y, tf.int32), batch_dims=1)))

    model = Model()
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.0), [batch()], loss)
    assert not entries_within(read(begun))


def test_without_layers_none_is_looked_at(watch, read):
    begun = watch(model := Net(), capture=("gradient", "operation"))
    train("tf.function", model, keras.optimizers.SGD(0.0), [batch()])
    assert not entries_within(read(begun))
