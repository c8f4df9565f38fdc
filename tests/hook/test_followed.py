"""Losses whose outputs are to be like their targets, and such as want something else of them; and noisy outputs."""

import keras
import pytest
import tensorflow as tf
from keras import layers, losses

from gradwatch.correlation import Pair
from gradwatch.followed import may_follow


def told(loss_of, *, last=None, layer=None, y_type=tf.float32, n_outputs=1):
    """Whether outputs are held to their targets, in a step of such a loss."""
    network = [keras.Input((6,)), *([layer] if layer is not None else []), layers.Dense(n_outputs, last)]
    model = keras.Sequential(network)
    found = []

    @tf.function
    def step(x, y):
        output = model(x, training=True)
        loss = loss_of(y, output)
        found.append(may_follow(Pair("target", y, output)))
        return loss

    rank = 1 if y_type != tf.float32 else 2
    step.get_concrete_function(tf.TensorSpec([32, 6]), tf.TensorSpec([32, 1][:rank], y_type))
    return found[0]


def of_square(y, output):
    return tf.reduce_mean(tf.square(y - output))


@pytest.mark.parametrize(
    "loss_of",
    [
        of_square,
        losses.MeanSquaredError(),
        losses.MeanAbsoluteError(),
        losses.Huber(),
        losses.LogCosh(),
        losses.CosineSimilarity(),
        losses.Poisson(),
        lambda y, o: tf.reduce_mean(tf.square((y - 3.0) / 0.5 - o)),  # another unit
        lambda y, o: tf.reduce_mean(tf.where(tf.abs(y - o) < 1.0, tf.square(y - o), tf.abs(y - o))),
        lambda y, o: tf.sqrt(tf.reduce_mean(tf.square(y - o))),
    ],
)
def test_what_is_to_be_like_its_target(loss_of):
    assert told(loss_of)


def test_shares_of_labels():
    assert told(losses.BinaryCrossentropy(), last="sigmoid")
    assert told(losses.SparseCategoricalCrossentropy(), last="softmax", y_type=tf.int32, n_outputs=3)
    assert told(losses.SparseCategoricalCrossentropy(from_logits=True), y_type=tf.int32, n_outputs=3)


@pytest.mark.parametrize(
    "loss_of",
    [
        losses.MeanSquaredLogarithmicError(),
        losses.MeanAbsolutePercentageError(),
        lambda y, o: tf.reduce_mean(tf.square(tf.math.log1p(y) - o)),
        tf.nn.log_poisson_loss,
        lambda y, o: tf.reduce_mean(tf.square(y - tf.exp(o))),
        lambda y, o: tf.reduce_mean(tf.cast(y != -1.0, tf.float32) * tf.square(y - o)),  # some are missing
        lambda y, o: tf.reduce_mean(tf.maximum(0.9 * (y - o), -0.1 * (y - o))),  # a quantile
        lambda y, o: tf.reduce_mean(tf.where(y - o > 0, 0.9, 0.1) * tf.square(y - o)),  # an expectile
        lambda y, o: tf.reduce_mean(tf.nn.relu(1.0 - y * o)),
    ],
)
def test_what_is_asked_for_is_something_else(loss_of):
    assert not told(loss_of)


@pytest.mark.parametrize(
    ("layer", "is_held"),
    [
        (layers.Dropout(0.1), True),
        (layers.Dropout(0.5), False),  # of six inputs
        (keras.Sequential([layers.Dense(64), layers.Dropout(0.5)]), True),
        (keras.Sequential([layers.Dense(64), layers.Dropout(0.8)]), False),
        (layers.GaussianNoise(1.0), False),
    ],
)
def test_outputs_that_are_noisy_while_they_are_trained(layer, is_held):
    assert told(of_square, layer=layer) is is_held


def test_of_eager_tensors_nothing_is_known():
    assert may_follow(Pair("target", tf.ones([4, 1]), tf.ones([4, 1])))
