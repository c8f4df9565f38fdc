"""Kernels without a bias that begin as one number: told only where their units never come apart."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.alike import ELEMENTS_MAX, KERNELS_MAX, AlikeKernels
from tests.hook.diagnosis import diagnose

CAPTURE = ("gradient", "weight", "update")
WAYS = {"graph": {"jit_compile": False}, "jit": {"jit_compile": True}, "eagerly": {"run_eagerly": True}}


class Pairs(keras.layers.Layer):
    """The sum of the inner products of all pairs of rows, as a factorization machine has it."""

    def __init__(self, start):
        super().__init__(name="pairs")
        self.factors = self.add_weight(shape=(6, 3), initializer=start, name="factors")

    def call(self, x):
        of_all, of_each = tf.matmul(x, self.factors) ** 2, tf.matmul(x**2, self.factors**2)
        return 0.5 * tf.reduce_sum(of_all - of_each, axis=-1, keepdims=True)


def data(n):
    x = np.random.default_rng(0).normal(size=(n, 6)).astype("float32")
    return x, x[:, :1] * x[:, 1:2] - x[:, 2:3] * x[:, 3:4]


def train(layer, watch, options, *, n_steps=300, targets=1):
    model = keras.Sequential([keras.Input((6,)), layer])
    model.compile(keras.optimizers.Adam(0.01), "mse", **options)
    begun = watch(model)
    x, y = data(8 * n_steps)
    model.fit(x, np.repeat(y, targets, 1) * np.arange(1, targets + 1), batch_size=8, shuffle=False, verbose=0)
    return model, begun


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_units_that_never_come_apart(watch, read, options):
    model, begun = train(Pairs(keras.initializers.Constant(0.1)), watch, options)
    assert np.ptp(model.layers[0].factors.numpy(), axis=-1).max() == 0
    recording = read(begun)
    assert recording.tables[recording.stream]["alike"] == ["pairs/factors"]
    assert set(recording.scalar("alike").values()) == {1.0}
    told = [one for one in diagnose(recording).findings() if one.kind == "dead_units"]
    assert [one.layer for one in told] == ["pairs"]
    assert "copies of one another: its kernel started at 0.1 throughout" in told[0].title


def test_units_that_come_apart(watch, read):
    layer = keras.layers.Dense(3, use_bias=False, kernel_initializer="ones")
    model, begun = train(layer, watch, WAYS["graph"], targets=3)
    assert np.ptp(model.layers[0].kernel.numpy(), axis=-1).max() > 0
    recording = read(begun)
    assert len(recording.tables[recording.stream]["alike"]) == 1
    assert list(recording.scalar("alike").values())[-1] == 0
    assert not [one for one in diagnose(recording).findings() if one.kind == "dead_units"]


def test_a_start_that_is_none(watch, read):
    _, begun = train(Pairs("glorot_uniform"), watch, WAYS["graph"], n_steps=20)
    recording = read(begun)
    table = recording.tables[recording.stream]
    assert table["alike"] == []
    assert "alike" not in table["scalars"]


def test_which_kernels_are_looked_at():
    shapes = {"kernel": (4, 2), "one unit": (4, 1), "bias": (4,), "nothing": (0, 3), "large": (2, ELEMENTS_MAX)}
    variables = [tf.Variable(tf.ones(shape)) for shape in shapes.values()]
    rows = tf.Variable([[1.0, 1.0], [2.0, 2.0]])
    assert AlikeKernels([*shapes, "rows"], [*variables, rows]).names == ("kernel",)
    many = [tf.Variable(tf.zeros((2, 2))) for _ in range(KERNELS_MAX + 1)]
    found = AlikeKernels(list(map(str, range(len(many)))), many)
    assert len(found.names) == KERNELS_MAX
    assert np.float32(found.find()) == 2**KERNELS_MAX - 1


def test_units_that_differ_once_are_looked_at_no_more():
    first, second = (tf.Variable(tf.ones((2, 2))) for _ in range(2))
    found = AlikeKernels(["first", "second"], [first, second])
    assert found.find() == 3
    first.assign([[1.0, 2.0], [1.0, 1.0]])
    assert found.find() == 2
    first.assign(tf.ones((2, 2)))
    assert found.find() == 2
    second.assign([[3.0, 3.0], [4.0, 4.0]])  # rows tell inputs apart, not units
    assert found.find() == 2


class Mixture(keras.layers.Layer):
    """Linear experts, and a choice among them that begins even."""

    def __init__(self, seeds):
        super().__init__(name="mixture")
        self.experts = [
            self.add_weight(
                shape=(6, 2), initializer=keras.initializers.GlorotUniform(seed=seed), name=f"expert_{place}"
            )
            for place, seed in enumerate(seeds)
        ]
        self.choice = self.add_weight(shape=(6, len(seeds)), initializer="zeros", name="choice")

    def call(self, x):
        share = tf.nn.softmax(tf.matmul(x, self.choice))
        return tf.einsum("nk,nko->no", share, tf.stack([tf.matmul(x, one) for one in self.experts], axis=1))


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_experts_that_one_seed_made(watch, read, options):
    model, begun = train(Mixture([0, 0, 0]), watch, options, n_steps=150, targets=2)
    first, second, _ = (one.numpy() for one in model.layers[0].experts)
    assert (first == second).all()
    (told,) = diagnose(read(begun)).findings()
    assert told.title.startswith("mixture/expert_0, mixture/expert_1 and 1 more are copies of one another")
    assert told.kind == "dead_units"


def test_experts_with_seeds_of_their_own(watch, read):
    _, begun = train(Mixture([0, 1, 2]), watch, WAYS["graph"], n_steps=150, targets=2)
    assert not [one for one in diagnose(read(begun)).findings() if "copies" in one.title]


def test_layers_in_a_row_that_one_seed_made(watch, read):
    start = {"kernel_initializer": keras.initializers.GlorotUniform(seed=0)}
    body = keras.Sequential([keras.layers.Dense(6, activation="tanh", **start) for _ in range(3)])
    _, begun = train(body, watch, WAYS["graph"], n_steps=150, targets=6)
    assert not [one for one in diagnose(read(begun)).findings() if "copies" in one.title]
