"""A column that meets a vector on the way to the loss: named with its line, unless all pairs are asked for."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch_server.health.verdict.advice_stall import say_crossing
from tests.hook.diagnosis import find_line

CAPTURE = ("gradient", "operation")

X = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
Y = X[:, 0]


def of_error(y, predicted):
    return tf.reduce_mean(tf.square(predicted - y))  # line of the difference


def of_squares(y, predicted):
    return tf.reduce_mean(tf.math.squared_difference(y, predicted))  # line of the square


def of_product(y, predicted):
    advantage = tf.stop_gradient(y - tf.reduce_mean(y))
    return -tf.reduce_mean(tf.cast(predicted, tf.float32) * advantage)  # line of the product


def of_picked(y, predicted):
    scores = tf.nn.log_softmax(tf.concat([predicted, -predicted], 1))
    actions = tf.cast(y > 0, tf.int32)
    return -tf.reduce_mean(tf.gather(scores, actions[:, None], axis=1, batch_dims=1) * y)  # line of the action


def of_one_hot(y, predicted):
    scores = tf.nn.log_softmax(tf.concat([predicted, -predicted], 1))
    chosen = tf.reduce_sum(tf.one_hot(tf.cast(y > 0, tf.int32), 2) * scores, 1, keepdims=True)
    return -tf.reduce_mean(chosen * tf.stop_gradient(y - 1))  # line of the choice


def of_value(y, predicted):
    values = tf.concat([predicted, -predicted], 1)
    chosen = tf.reduce_sum(values * tf.one_hot(tf.cast(y > 0, tf.int32), 2), axis=1, keepdims=True)
    return tf.reduce_mean(tf.square(0.9 * y - chosen))  # line of the value


def advantage_of(values, returns):
    return tf.stop_gradient(returns - values)  # line of the advantage


def of_advantage(y, predicted):
    """A function that is given a vector and, by the one that calls it, a column."""
    values, scores = (tf.expand_dims(one, 1) for one in tf.unstack(tf.concat([predicted, -predicted], 1), axis=1))
    return -tf.reduce_sum(tf.math.log_sigmoid(scores) * advantage_of(values, 0.9 * y))


def distances_of(some, others):
    return tf.exp(-tf.square(some - others))


def of_kernel(y, predicted):
    """A function for all pairs, that an axis is added for: a table of a kernel."""
    table = distances_of(tf.expand_dims(tf.squeeze(predicted, 1), 1), y)
    return tf.reduce_mean(tf.linalg.matvec(table, y))


def of_own_kernel(y, predicted):
    points = tf.squeeze(predicted, 1)
    return tf.reduce_mean(distances_of(points[:, None], points)) + 0 * tf.reduce_sum(y)


def of_margins(y, predicted):
    """All pairs of scores of shape [n, 1]: [n, n, 1]."""
    above = tf.cast(y[:, None] > y[None, :], tf.float32)
    margin = predicted[:, None] - predicted[None, :]
    return tf.reduce_mean(above * tf.math.softplus(-margin))  # line of the margins


def of_right_margins(y, predicted):
    above = tf.cast(y[:, None] > y[None, :], tf.float32)
    margin = predicted[:, None] - predicted[None, :]
    return tf.reduce_mean(above[:, :, None] * tf.math.softplus(-margin))


def of_squeezed(y, predicted):
    return tf.reduce_mean(tf.square(tf.squeeze(predicted, 1) - y))


def of_columns(y, predicted):
    return tf.reduce_mean(tf.square(predicted - y[:, None]))


def of_pairs(y, predicted):
    scores = tf.squeeze(predicted, 1)
    wanted = tf.expand_dims(y, 1) - y
    return tf.reduce_mean(tf.square(scores[:, None] - scores - wanted))


def of_levels(y, predicted):
    """A column against a vector of another length: quantiles, bins."""
    return tf.reduce_mean(tf.abs(predicted - tf.constant([0.1, 0.5, 0.9]))) + 0 * tf.reduce_sum(y)


def of_distances(y, predicted):
    """Squared distances of all pairs, as |a|^2 - 2 a b + |b|^2 has them."""
    points = tf.concat([predicted, y[:, None]], 1)
    lengths = tf.reduce_sum(tf.square(points), 1)
    away = (
        tf.reduce_sum(tf.square(points), 1, keepdims=True) + lengths - 2 * tf.matmul(points, points, transpose_b=True)
    )
    return tf.reduce_mean(tf.square(away))


def of_reshaped(y, predicted):
    scores = tf.squeeze(predicted, 1)
    return tf.reduce_mean(tf.square(tf.reshape(scores, (-1, 1)) - scores - (tf.reshape(y, (-1, 1)) - y)))


def of_two_terms(y, predicted):
    """Their mean over all pairs is the sum of both means."""
    return tf.reduce_mean(tf.square(predicted - y[:, None]) + tf.square(y))


def of_width(y, predicted):
    mean, width = tf.split(tf.concat([predicted, predicted], 1), 2, axis=-1)
    return tf.reduce_mean(tf.square(y - mean) * tf.exp(-width) + width)  # line of the width


def of_weights(y, predicted):
    """Errors that fit, as columns, and weights that are a vector."""
    weights = tf.cast(y > 0, tf.float32)
    return tf.reduce_mean(weights * tf.square(predicted - y[:, None]))  # line of the weights


def of_chosen(y, predicted):
    errors = tf.square(predicted[:, 0] - y)
    return tf.reduce_mean(errors * tf.where(predicted > 0.5, 8.0, 1.0))  # line of the chosen


def of_forecasts(y, predicted):
    return tf.reduce_mean(tf.abs(predicted - tf.stack([y, y, y], 1)))  # line of the forecasts


def of_differences(y, predicted):
    points = predicted[:, 0]
    return tf.reduce_mean(tf.square(points[:, None] - points)) + 0 * tf.reduce_sum(y)


def of_cosines(y, predicted):
    points = tf.concat([predicted, y[:, None]], 1)
    lengths = tf.stop_gradient(tf.norm(points, axis=1)) + 1
    return tf.reduce_mean(
        tf.matmul(points, points, transpose_b=True) / (tf.norm(points, axis=1, keepdims=True) * lengths)
    )


GRID = tf.constant(np.linspace(-1, 1, 16), tf.float32)


def of_curves(y, predicted):
    """A curve for each sample, over as many places as there happen to be samples."""
    return tf.reduce_mean(tf.square(predicted - tf.reduce_mean(tf.stack([y, y], 1)[:, :1] * GRID, 1)[:, None]))


def of_grid(y, predicted):
    return tf.reduce_mean(tf.square(predicted - GRID)) + 0 * tf.reduce_sum(y)  # line of the grid


WRONG = {
    of_error: "line of the difference",
    of_squares: "line of the square",
    of_product: "line of the product",
    of_picked: "line of the action",
    of_one_hot: "line of the choice",
    of_value: "line of the value",
    of_margins: "line of the margins",
    of_advantage: "line of the advantage",
}
RIGHT = [of_kernel, of_own_kernel, of_right_margins, of_squeezed, of_columns, of_pairs, of_levels]


class Shifted(keras.layers.Layer):
    """Crosses a column with a vector within itself, which is its own business."""

    def call(self, x):
        return x + 0 * tf.reduce_mean(x[:, :1] * x[:, 0], axis=1, keepdims=True)


def model_of(*layers, units=1):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(units)])


def loop(watch, loss_of, *, is_jit=False, size=16):
    model, optimizer = model_of(), keras.optimizers.Adam(1e-3)
    watched = watch(model, optimizer)
    known = None if size is None else [size]
    signature = [tf.TensorSpec([*(known or [None]), 4]), tf.TensorSpec(known or [None])]

    @tf.function(jit_compile=is_jit, input_signature=signature)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step(tf.constant(X[:16]), tf.constant(Y[:16]))
    return watched


def fit(watch, loss_of, *layers, units=1, **options):
    model = model_of(*layers, units=units)

    class Trained(keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = loss_of(y, self(x, training=True))
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            return {"loss": loss}

    trained = Trained(model.inputs, model.outputs)
    trained.compile(optimizer="adam", **options)
    watched = watch(trained)
    trained.fit(tf.data.Dataset.from_tensor_slices((X, Y)).batch(16), shuffle=False, verbose=0)
    return watched


def unasked(recording):
    found = (one for table in recording.tables.values() for one in table["broadcasts"] if one.get("unasked"))
    return [one["source"]["line"] for one in found]


def lines(recording):
    return [one["source"]["line"] for table in recording.tables.values() for one in table["broadcasts"]]


TRAININGS = {
    "loop of any size": lambda watch, loss_of: loop(watch, loss_of, size=None),
    "loop by XLA": lambda watch, loss_of: loop(watch, loss_of, is_jit=True),
    "fit": fit,
}


@pytest.mark.parametrize(
    "train",
    [pytest.param(train, id=name, marks=[pytest.mark.thorough] * ("XLA" in name)) for name, train in TRAININGS.items()],
)
@pytest.mark.parametrize("loss_of", [*WRONG, of_width, of_weights, of_chosen])
def test_the_line_is_named_and_nothing_asks_for_all_pairs(watch, read, train, loss_of):
    place = WRONG.get(loss_of, f"line of the {loss_of.__name__.removeprefix('of_')}")
    recording = read(train(watch, loss_of))
    assert unasked(recording) == [find_line(place, sys.modules[__name__])]
    assert lines(recording) == unasked(recording) or loss_of not in WRONG


@pytest.mark.parametrize("train", [TRAININGS["loop of any size"], fit])
@pytest.mark.parametrize("loss_of", [of_cosines, of_distances, of_reshaped, of_two_terms])
def test_all_pairs_are_asked_for_or_do_no_harm(watch, read, train, loss_of):
    recording = read(train(watch, loss_of))
    assert lines(recording) != []
    assert unasked(recording) == []


@pytest.mark.parametrize("train", [TRAININGS["loop of any size"], fit])
@pytest.mark.parametrize("loss_of", RIGHT)
def test_nothing_is_named_where_all_pairs_are_asked_for_or_shapes_fit(watch, read, train, loss_of):
    assert lines(read(train(watch, loss_of))) == []


def test_curves_over_as_many_places_as_there_are_samples(watch, read):
    recording = read(loop(watch, of_curves))
    assert lines(recording) != []
    assert unasked(recording) == []


def test_outputs_that_meet_numbers_of_the_script_are_no_curves(watch, read):
    assert unasked(read(loop(watch, of_grid))) == [find_line("line of the grid", sys.modules[__name__])]


def test_several_numbers_each_with_an_axis_between_that_a_convolution_left(watch, read):
    before = keras.layers.Reshape((1, 4))
    (one,) = read(fit(watch, of_forecasts, before, units=3)).tables[0]["broadcasts"]
    assert one["source"]["line"] == find_line("line of the forecasts", sys.modules[__name__])
    assert (one["axes"], one["unasked"]) == ([3], True)
    assert lines(read(fit(watch, of_differences, before, units=3))) == []


def test_a_derivative_that_meets_a_source_of_one_axis(watch, read):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model, capture=CAPTURE)

    @tf.function
    def step(x, source):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = model(x)
            slope = inner.gradient(u, x)
            loss = tf.reduce_mean(tf.square(slope + source))  # line of the derivative
            loss += tf.reduce_mean(tf.square(u))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.constant(X[:, :1]), tf.constant(Y))
    assert unasked(read(watched)) == [find_line("line of the derivative", sys.modules[__name__])]


def test_what_a_layer_does_within_itself_is_left_out(watch, read):
    assert lines(read(fit(watch, of_squeezed, Shifted()))) == []


def test_a_step_that_runs_eagerly_says_the_same(watch, read):
    assert lines(read(fit(watch, of_error, run_eagerly=True))) == [find_line(WRONG[of_error], sys.modules[__name__])]


def test_tables_of_pairs_have_words_of_their_own(watch, read):
    (one,) = read(fit(watch, of_margins)).tables[0]["broadcasts"]
    assert (one["square"], one["axes"], one["unasked"]) == (True, [], True)
    assert say_crossing(one) == ("[n, n, 1]", "[n, n]", "[n, n, n]")


def test_keras_own_losses_fit_shapes_by_themselves(watch, read):
    model = model_of()
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    watched = watch(model)
    model.fit(X, Y, batch_size=16, verbose=0)
    assert lines(read(watched)) == []
