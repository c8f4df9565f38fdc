"""A `tf.Module` of the user's own, and a single layer, watched as a model is."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.recording import Recording
from tests.hook.training import assert_close, batches, data
from tests.numerics.reference import block

X, Y = data()


class Linear(tf.Module):
    """Its weights have the names that TensorFlow gives, which are all the same."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal((n_in, n_out), (n_in, n_out)) / n_in**0.5)
        self.b = tf.Variable(tf.zeros(n_out))

    def __call__(self, x):
        return x @ self.w + self.b


class Own(tf.Module):
    """Modules in a list, a number of its own, a layer of Keras, and a method that goes by a name of Keras'."""

    def __init__(self):
        super().__init__(name="own")
        self.parts = [Linear(X.shape[1], 8), Linear(8, 5)]
        self.gain = tf.Variable(1.0)
        self.head = keras.layers.Dense(Y.shape[1] if Y.ndim > 1 else 1, name="head")
        self.head.build((None, 5))

    def __call__(self, x):
        return self.gain * self.head(tf.nn.tanh(self.parts[1](tf.nn.relu(self.parts[0](x)))))

    def fit(self, x):
        return x

    @property
    def weights_to_train(self):
        return [*self.trainable_variables, *self.head.trainable_variables]


PATHS = ["own/gain", "own/parts/0/b", "own/parts/0/w", "own/parts/1/b", "own/parts/1/w"]


@pytest.mark.parametrize("compiler", [None, tf.function, lambda step: tf.function(step, jit_compile=True)])
def test_a_module_is_followed_as_a_model_is(watch, read, compiler):
    model, optimizer = Own(), keras.optimizers.SGD(0.1)
    watch_of_it = watch(model)
    seen = []

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - tf.reshape(tf.cast(y, tf.float32), (len(x), -1))) ** 2)
        gradients = tape.gradient(loss, model.weights_to_train)
        optimizer.apply_gradients(zip(gradients, model.weights_to_train, strict=True))
        return gradients

    run = step if compiler is None else compiler(step)
    for x, y in batches(X, Y, epochs=1):
        seen.append([np.asarray(one) for one in run(tf.constant(x), tf.constant(y))])
    assert model.fit(3) == 3
    recording = read(watch_of_it)
    assert recording.tensors() == [*PATHS, "head/kernel", "head/bias"]
    assert recording.tensors("activation") == ["head"]
    for place, path in enumerate(recording.tensors()):
        expected = np.stack([block(gradients[place])[0] for gradients in seen])
        assert_close(recording.statistics("gradient", path), expected, path)
    assert watch_of_it.collector.run["run"]["name"] == "own"


def test_nothing_is_left_on_a_modules_class(watch, read):
    before = dict(vars(Own))
    read(watch(Own()))
    assert dict(vars(Own)) == before


class Net(keras.layers.Layer):
    """A layer that is all there is to train."""

    def __init__(self):
        super().__init__(name="net")
        self.inner = keras.layers.Dense(4, "relu", name="inner")
        self.out = keras.layers.Dense(1, name="out")

    def call(self, x):
        return self.out(self.inner(x))


def test_a_single_layer_is_followed(watch, read):
    model, optimizer = Net(), keras.optimizers.SGD(0.01)
    begun = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return gradients

    seen = [[np.asarray(one) for one in step(tf.constant(x))] for x, _ in batches(X, Y, epochs=1)]
    recording: Recording = read(begun)
    assert recording.tensors() == [f"net/{name}" for name in ("inner/kernel", "inner/bias", "out/kernel", "out/bias")]
    assert recording.tensors("activation") == ["net/inner", "net/out"]
    for place, path in enumerate(recording.tensors()):
        assert_close(recording.statistics("gradient", path), np.stack([block(one[place])[0] for one in seen]), path)
