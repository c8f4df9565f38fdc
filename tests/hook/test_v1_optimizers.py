"""The optimizers of TensorFlow 1, in eager loops and compiled steps of today: what an upgraded script trains with."""

import numpy as np
import pytest
import tensorflow as tf

from tests.hook.training import assert_close, batches, data
from tests.numerics.reference import block

X, Y = data()
train = tf.compat.v1.train
OPTIMIZERS = {
    "descent": lambda: train.GradientDescentOptimizer(0.05),
    "adam": lambda: train.AdamOptimizer(0.05),
    "momentum": lambda: train.MomentumOptimizer(lambda: 0.05, 0.9),
}


class Perceptron(tf.Module):
    def __init__(self):
        super().__init__(name="perceptron")
        self.first = tf.Variable(tf.random.stateless_normal((X.shape[1], 4), (1, 2)))
        self.second = tf.Variable(tf.random.stateless_normal((4, 1), (3, 4)))

    def __call__(self, x):
        return tf.tanh(x @ self.first) @ self.second


@pytest.mark.parametrize("compiler", [None, tf.function], ids=["eager", "graph"])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_steps_of_the_oldest_optimizers(watch, read, make, compiler):
    model = Perceptron()
    optimizer, begun = make(), watch(model)

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - 1.0) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, *gradients

    run = step if compiler is None else compiler(step)
    seen = [[np.asarray(one) for one in run(tf.constant(x))] for x, _ in batches(X, Y, epochs=2)]
    recording = read(begun)
    assert recording.steps() == list(range(len(seen)))
    assert list(recording.scalar("learning_rate").values()) == pytest.approx([0.05] * len(seen))
    assert list(recording.scalar("loss").values()) == pytest.approx([float(one[0]) for one in seen], rel=1e-5)
    for place, path in enumerate(recording.tensors()):
        assert_close(recording.statistics("gradient", path), np.stack([block(one[place + 1])[0] for one in seen]), path)
    for path in recording.tensors("update"):
        assert (recording.statistics("update", path)[:, 0] > 0).all()


def test_minimize_of_plain_variables(watch, read):
    w = tf.Variable(tf.ones((X.shape[1], 1)), name="w")
    optimizer = train.GradientDescentOptimizer(0.05)
    begun = watch(optimizer)
    for x, _ in batches(X, Y, epochs=1):
        optimizer.minimize(lambda x=x: tf.reduce_mean((x @ w - 1.0) ** 2), var_list=[w])
    recording = read(begun)
    assert recording.tensors() == ["w"]
    assert recording.tables[recording.stream]["optimizer"] == "GradientDescent"
    assert recording.steps() == list(range(len(list(batches(X, Y, epochs=1)))))
