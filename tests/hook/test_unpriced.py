"""Trained weights of a loss's terms that cost nothing are found; those that have a price, or are held, are not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import find_line, found_in

RANDOM = np.random.default_rng(0)
X, Y = (RANDOM.normal(size=(64, n)).astype("float32") for n in (4, 2))


def of_vector(weights, errors):
    return tf.reduce_sum(weights * tf.stack(errors))  # line of vector


def of_each(weights, errors):
    return weights[0] * errors[0] + weights[1] * errors[1]  # line of each


def of_mean(weights, errors):
    terms = [w * one for w, one in zip(tf.unstack(weights), errors, strict=True)]  # line of mean
    return 0.5 + tf.reduce_mean(tf.stack(terms))


def of_price(weights, errors):
    return tf.reduce_sum(tf.exp(-weights) * tf.stack(errors) + weights)


def of_shares(weights, errors):
    return tf.reduce_sum(tf.nn.softmax(weights) * tf.stack(errors))


def of_penalty(weights, errors):
    return tf.reduce_sum(weights * tf.stack(errors)) + tf.reduce_sum(tf.square(weights - 1))


def of_held(weights, errors):
    return tf.reduce_sum(tf.stop_gradient(weights) * tf.stack(errors))


def of_logarithm(weights, errors):
    return tf.math.log(1 + tf.square(tf.reduce_sum(weights * tf.stack(errors))))


class Weighed(keras.Model):
    def __init__(self, loss_of, *, trainable=True):
        super().__init__()
        self.out = keras.layers.Dense(2)
        self.weights_of = self.add_weight(shape=(2,), initializer="ones", trainable=trainable, name="balance")
        self.loss_of = loss_of

    def call(self, x):
        return self.out(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            given = self(x, training=True)
            errors = [tf.reduce_mean(tf.square(given[:, i] - y[:, i])) for i in range(2)]
            loss = self.loss_of(self.weights_of, errors)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}


def trained(watch, read, loss_of, **options):
    keras.utils.set_random_seed(0)
    model = Weighed(loss_of, **options)
    model(X[:2])
    model.compile(optimizer="adam")
    watched = watch(model)
    model.fit(X, Y, batch_size=32, verbose=0)
    return found_in(read(watched))


@pytest.mark.parametrize("loss_of", [of_vector, of_each, of_mean])
def test_weights_without_a_price(watch, read, loss_of):
    (found,) = trained(watch, read, loss_of)
    assert found["unpriced"] == 2
    assert found["source"]["line"] == find_line(f"line of {loss_of.__name__[3:]}", sys.modules[__name__])


@pytest.mark.parametrize("loss_of", [of_price, of_shares, of_penalty, of_logarithm])
def test_weights_that_something_holds(watch, read, loss_of):
    assert trained(watch, read, loss_of) == []


def test_weights_that_are_not_trained(watch, read):
    assert trained(watch, read, of_vector, trainable=False) == []


def test_a_last_layer_that_scales_what_is_compared(watch, read):
    """Its scale is no weight of an error: it stands before the error is taken."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2), keras.layers.Rescaling(1.0)])
    model.compile("adam", "mse")
    watched = watch(model)
    model.fit(X, Y, batch_size=32, verbose=0)
    assert found_in(read(watched)) == []
