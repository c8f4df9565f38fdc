"""Functions that are applied to what they are not for: told with their line; those that fit are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient", "operation")
pytestmark = pytest.mark.rows

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(16, 2)).astype(np.float32)
COUNTS = RANDOM.poisson(3.0, (16, 1)).astype(np.float32)
NOISE = tf.constant(RANDOM.random(16).astype(np.float32))
LABELS = np.array([[1, 2]] * 2, np.int32)


def ctc(scores: Any) -> Any:
    frames = tf.reshape(scores, [2, 8, 4])
    lengths = tf.fill([2], 2), tf.fill([2], 8)
    return tf.reduce_mean(tf.nn.ctc_loss(LABELS, frames, *lengths, logits_time_major=False, blank_index=3))  # ctc


def second(u: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = u(x)
        slope = inner.gradient(value, x)
    return outer.gradient(slope, x, unconnected_gradients="zero")  # second


def of_kernels(model: Any, x: Any) -> Any:
    """A penalty on the curvature of the error, by its kernels: a network of relus has that."""
    kernel = model.trainable_variables[0]
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        error = tf.reduce_mean(tf.square(model(x)))
        slope = inner.gradient(error, kernel)
    return tf.reduce_sum(tf.square(outer.gradient(slope, kernel)))


def softmax_before_ctc(model: Any, x: Any) -> Any:
    return ctc(tf.nn.softmax(model(x)))


def log_of_softmax(model: Any, x: Any) -> Any:
    twice = tf.nn.log_softmax(tf.reshape(tf.nn.softmax(model(x)), [16, 2, 2]))  # log_of_softmax
    return -tf.reduce_mean(twice[:, 0])


def rate_for_its_logarithm(model: Any, x: Any) -> Any:
    rate = tf.nn.softplus(model(x)[:, :1])
    return tf.reduce_mean(tf.nn.log_poisson_loss(COUNTS, rate))  # rate_for_its_logarithm


def curvature_of_relus(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.square(second(model, x) + 1.0))


def curvature_beside_a_sine(model: Any, x: Any) -> Any:
    """What the network is compared with may be as curved as it likes."""
    return tf.reduce_mean(tf.square(second(model, x) + 1.0)) + tf.reduce_mean(tf.square(model(x)[:, :1] - tf.sin(x)))


def curvature_of_columns(model: Any, x: Any) -> Any:
    """With respect to columns that are cut from a batch, and cut once more on their way into the network."""
    one, other = x[:, 0:1], x[:, 1:2]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(one)
        slope = tape.gradient(model(tf.stack([one[:, 0], other[:, 0]], axis=1)), one)  # within: it is recorded
    return tf.reduce_mean(tf.square(tape.gradient(slope, one) + 1.0))  # columns


def scores_before_ctc(model: Any, x: Any) -> Any:
    return ctc(model(x))


def entropy_of_a_softmax(model: Any, x: Any) -> Any:
    labels = tf.cast(x[:, 0] > 0, tf.int32)  # made in the step: nobody gives it
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.nn.softmax(model(x)))  # entropy_of_a_softmax
    )


def entropy_of_scores(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(x[:, 0] > 0, tf.int32), model(x)))


def relative_to_targets(model: Any, x: Any) -> Any:
    error = tf.abs(model(x)[:, 0] - x[:, 0])
    return tf.reduce_mean(error / (tf.abs(x[:, 0]) + 1e-8))  # relative_to_targets


def relative_by_keras(model: Any, x: Any) -> Any:
    return tf.reduce_mean(keras.losses.mean_absolute_percentage_error(x, model(x)[:, :2]))  # relative_by_keras


def relative_to_a_scale(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.abs(model(x)[:, 0] - x[:, 0]) / (tf.abs(x[:, 0]) + 0.1))


def relative_to_its_noise(model: Any, x: Any) -> Any:
    """A known deviation of each sample, by which its error is weighed."""
    return tf.reduce_mean(tf.abs(model(x)[:, 0] - x[:, 0]) / (tf.abs(NOISE) + 1e-8))


def divided_by_a_mask(model: Any, x: Any) -> Any:
    mask = tf.cast(x[:, 0] > 0, tf.float32)
    return tf.reduce_sum(tf.abs(model(x)[:, 0] - x[:, 1]) * mask) / (tf.reduce_sum(mask) + 1e-8)


def two_softmaxes(model: Any, x: Any) -> Any:
    """A gate and a loss beside it."""
    scores = model(x)
    return -tf.reduce_mean(tf.nn.log_softmax(scores) * tf.nn.softmax(scores))


def logarithm_of_a_rate(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.nn.log_poisson_loss(COUNTS, model(x)[:, :1]))


def decay_at_a_rate(model: Any, x: Any) -> Any:
    rate = tf.nn.softplus(model(x))
    return tf.reduce_mean(tf.exp(-rate) - rate * COUNTS)


def curvature_of_a_sine(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.square(second(lambda x: model(tf.sin(x)), x) + 1.0))


def slope_of_relus(model: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = model(x)
    return tf.reduce_mean(tf.square(tf.norm(tape.gradient(value, x), axis=1) - 1.0))


def of_a_hinge(model: Any, x: Any) -> Any:
    score = model(x)[:, 0]
    return tf.reduce_mean(tf.square(tf.nn.relu(1.0 - x[:, 1] * score)))  # of_a_hinge


def of_a_hinge_by_maximum(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.maximum(0.0, 1.0 - model(x)[:, 0] * x[:, 1]))  # of_a_hinge_by_maximum


def of_a_hinge_with_signs(model: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.nn.relu(1.0 - (2.0 * x[:, 1] - 1.0) * model(x)[:, 0]))


def of_a_hinge_by_keras(model: Any, x: Any) -> Any:
    return keras.losses.Hinge()(x[:, 1:], model(x)[:, :1])


TOLD = {
    of_a_hinge: ("Relu", "of_a_hinge"),
    of_a_hinge_by_maximum: ("Maximum", "of_a_hinge_by_maximum"),
    softmax_before_ctc: ("LogSoftmax", "ctc"),
    entropy_of_a_softmax: ("SparseSoftmaxCrossEntropyWithLogits", "entropy_of_a_softmax"),
    relative_to_targets: ("RealDiv", "relative_to_targets"),
    relative_by_keras: ("RealDiv", "relative_by_keras"),
    log_of_softmax: ("LogSoftmax", "log_of_softmax"),
    rate_for_its_logarithm: ("Sub", "rate_for_its_logarithm"),
    curvature_of_relus: ("ZerosLike", "second"),
    curvature_beside_a_sine: ("ZerosLike", "second"),
    curvature_of_columns: ("ZerosLike", "columns"),
}
NOT_TOLD = [
    of_a_hinge_with_signs,
    of_a_hinge_by_keras,
    scores_before_ctc,
    entropy_of_scores,
    relative_to_a_scale,
    relative_to_its_noise,
    divided_by_a_mask,
    two_softmaxes,
    logarithm_of_a_rate,
    decay_at_a_rate,
    curvature_of_a_sine,
    slope_of_relus,
    of_kernels,
]


def train(watch: Any, loss_of: Callable[..., Any], n_steps: int = 3, activation: str = "relu", batch: Any = 16) -> Any:
    model = keras.Sequential([keras.Input((2,)), layers.Dense(8, activation), layers.Dense(4)])
    optimizer = keras.optimizers.SGD(1e-4)
    watched = watch(model)

    @tf.function(input_signature=[tf.TensorSpec([batch, 2])])
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(model, x) + 1e-3 * tf.reduce_mean(tf.square(model(x)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(n_steps):
        step(X)
    return watched


@pytest.mark.parametrize("batch", [16, None])
@pytest.mark.parametrize("loss_of", TOLD)
def test_the_line_is_named(watch: Any, read: Any, loss_of: Callable[..., Any], batch: int | None) -> None:
    (found,) = found_in(read(train(watch, loss_of, batch=batch)))
    kind, place = TOLD[loss_of]
    assert found["type"] == kind
    assert found["source"]["line"] == find_line(place, sys.modules[__name__])


@pytest.mark.parametrize("loss_of", NOT_TOLD)
def test_what_fits_is_not(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert found_in(read(train(watch, loss_of))) == []


@pytest.mark.parametrize("loss_of", [curvature_of_relus, curvature_of_columns])
def test_a_curved_network_has_a_second_derivative(watch: Any, read: Any, loss_of: Callable[..., Any]) -> None:
    assert found_in(read(train(watch, loss_of, activation="tanh"))) == []


def test_it_is_told_with_its_cause(watch: Any, read: Any) -> None:
    findings = diagnose(read(train(watch, curvature_of_relus, 150))).findings()
    (told,) = (one for one in findings if "second derivative" in one.title)
    assert (told.kind, told.first_step) == ("loss_plateau", 0)
    assert told.hypotheses[0].cause == "A relu has no second derivative"


def divergence(given: Any, asked: Any) -> Any:
    return keras.losses.KLDivergence()(given, asked)  # divergence


def of_logits(scores: Any) -> Any:
    return divergence(tf.nn.softmax(scores[:, ::-1]), scores / 3.0)


def to_logits(scores: Any) -> Any:
    return divergence(tf.stop_gradient(scores) / 3.0, tf.nn.softmax(scores))


def of_logarithms(scores: Any) -> Any:
    return divergence(tf.nn.softmax(scores[:, ::-1]), tf.nn.log_softmax(scores))


def of_probabilities(scores: Any) -> Any:
    return divergence(tf.nn.softmax(scores[:, ::-1] / 3.0), tf.nn.softmax(scores / 3.0))


def of_sigmoids(scores: Any) -> Any:
    return divergence(tf.nn.softmax(scores[:, ::-1]), tf.nn.sigmoid(scores))


def of_labels_apart(scores: Any) -> Any:
    """Of each label by itself, and of what is left of it to 1."""
    p, q = (tf.clip_by_value(tf.nn.sigmoid(one), 1e-7, 1.0) for one in (scores[:, ::-1], scores))
    return tf.reduce_mean(p * tf.math.log(p / q) + (1.0 - p) * tf.math.log((1.0 - p) / (1.0 - q)))


def learn(watch: Callable[..., Any], loss_of: Callable[[Any], Any], n_steps: int = 2) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,)), layers.Dense(8, "tanh"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(model, capture=CAPTURE)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(tf.constant(X))
    return watched


@pytest.mark.parametrize(
    ("loss_of", "scores"),
    [(of_logits, "BiasAdd"), (to_logits, "BiasAdd"), (of_logarithms, "LogSoftmax"), (of_sigmoids, "Sigmoid")],
)
def test_a_divergence_of_scores(watch, read, loss_of, scores):
    (found,) = [one for one in found_in(read(learn(watch, loss_of))) if "scores" in one]
    assert found["scores"] == scores
    assert found["source"]["line"] == find_line("divergence", sys.modules[__name__])


@pytest.mark.parametrize("loss_of", [of_probabilities, of_labels_apart])
def test_a_divergence_of_probabilities(watch, read, loss_of):
    assert not [one for one in found_in(read(learn(watch, loss_of))) if "scores" in one]


@pytest.mark.parametrize(
    ("loss_of", "cause"),
    [
        (of_logits, "Missing softmax before the KL divergence"),
        (of_logarithms, "KL divergence takes prob"),
        (of_sigmoids, "sigmoid in place of a softmax before the KL divergence"),
    ],
)
def test_a_divergence_of_scores_is_told_with_its_cause(watch, read, loss_of, cause):
    findings = diagnose(read(learn(watch, loss_of, 130))).findings()
    (found,) = [one for one in findings if "divergence" in one.title]
    assert found.hypotheses[0].cause.startswith(cause)


def sigmoid_twice(x: Any) -> Any:
    first = tf.sigmoid(x)
    return tf.sigmoid(first[:, :2])  # sigmoid_twice


def sigmoid_of_softmax(x: Any) -> Any:
    return tf.reshape(tf.sigmoid(tf.expand_dims(tf.nn.softmax(x), 1)), [-1, 3])  # sigmoid_of_softmax


def sigmoid_of_a_part(x: Any) -> Any:
    """Of half a sigmoid, and of a softmax's logarithm."""
    return tf.sigmoid(0.5 - tf.sigmoid(x)) + tf.sigmoid(tf.nn.log_softmax(x))


@pytest.mark.parametrize(
    ("function", "before"), [(sigmoid_twice, "Sigmoid"), (sigmoid_of_softmax, "Softmax"), (sigmoid_of_a_part, None)]
)
def test_functions_of_what_lies_between_0_and_1(watch: Any, read: Any, function: Any, before: str | None) -> None:
    found = found_in(read(learn(watch, lambda scores: tf.reduce_mean(tf.square(function(scores) - 0.3)))))
    assert [(one["type"], one["twice"]) for one in found] == ([] if before is None else [("Sigmoid", before)])
    if before is not None:
        assert found[0]["source"]["line"] == find_line(function.__name__, sys.modules[__name__])


def test_a_sigmoid_taken_twice_is_told_with_its_cause(watch: Any, read: Any) -> None:
    recording = read(learn(watch, lambda scores: tf.reduce_mean(tf.square(sigmoid_twice(scores) - 0.3)), 150))
    (told,) = (one for one in diagnose(recording).findings() if "sigmoid" in one.title)
    assert told.hypotheses[0].cause.startswith("An activation function is applied twice")


YES = tf.constant((RANDOM.random((16, 3)) < 0.5).astype(np.float32))
CLASSES = tf.constant(RANDOM.integers(0, 3, 16).astype(np.int32))


def bounded(x: Any, least: float = 1e-7) -> Any:
    return tf.clip_by_value(x, least, 1 - least)


def entropy(shares: Any) -> Any:
    return -tf.reduce_mean(YES * tf.math.log(bounded(shares)) + (1 - YES) * tf.math.log(1 - bounded(shares)))


IMPROBABLE = {
    "binary, relu": (lambda x: keras.losses.BinaryCrossentropy()(YES, tf.nn.relu(x)), "Relu"),
    "binary, tanh": (lambda x: tf.reduce_mean(keras.losses.binary_crossentropy(YES, tf.tanh(x))), "Tanh"),
    "of classes": (lambda x: keras.losses.SparseCategoricalCrossentropy()(CLASSES, tf.nn.relu(x)), "Relu"),
    "of marked classes": (lambda x: keras.losses.CategoricalCrossentropy()(YES, tf.nn.elu(x)), "Elu"),
    "by hand": (lambda x: entropy(tf.squeeze(tf.nn.selu(x)[None], 0)), "Selu"),
    "sigmoid": (lambda x: entropy(tf.sigmoid(x)), None),
    "none at all": (entropy, None),  # told by what it gives
    "half a tanh": (lambda x: entropy(0.5 * tf.tanh(x) + 0.5), None),
    "half a tanh, by a whole": (lambda x: entropy((1 + tf.tanh(x)) / 2), None),
    "a sigmoid of pieces": (lambda x: entropy(tf.nn.relu6(x + 3.0) / 6.0), None),
    "hard sigmoid": (lambda x: entropy(keras.activations.hard_sigmoid(x)), None),
    "shares of softplus": (lambda x: keras.losses.CategoricalCrossentropy()(YES, tf.nn.softplus(x)), None),
    "shares of relus": (
        lambda x: entropy((tf.nn.relu(x) + 0.1) / tf.reduce_sum(tf.nn.relu(x) + 0.1, -1, keepdims=True)),
        None,
    ),
    "a cosine": (lambda x: entropy(tf.nn.relu(tf.nn.l2_normalize(x, -1) * tf.nn.l2_normalize(YES, -1))), None),
    "a rate": (lambda x: keras.losses.Poisson()(YES, tf.nn.relu(x)), None),
    "a rate that is bounded below": (lambda x: -tf.reduce_mean(tf.math.log(tf.maximum(tf.nn.relu(x), 1e-7))), None),
    "a mean squared logarithm": (lambda x: keras.losses.MeanSquaredLogarithmicError()(YES, tf.nn.relu(x)), None),
    "inside of a network": (lambda x: entropy(tf.sigmoid(tf.math.log(bounded(tf.sigmoid(tf.nn.relu(x)))))), None),
    "a density under a tanh": (lambda x: tf.reduce_mean(tf.math.log(bounded(1 - tf.square(tf.tanh(x))))), None),
}


@pytest.mark.parametrize(("loss_of", "function"), IMPROBABLE.values(), ids=IMPROBABLE)
def test_what_no_probability_is(watch: Any, read: Any, loss_of: Any, function: str | None) -> None:
    found = [one for one in found_in(read(learn(watch, loss_of))) if "improbable" in one]
    assert [(one["type"], one["improbable"]) for one in found] == ([] if function is None else [("Log", function)])


def test_what_no_probability_is_told_with_its_cause(watch: Any, read: Any) -> None:
    recording = read(learn(watch, IMPROBABLE["binary, tanh"][0], 130))
    (told,) = (one for one in diagnose(recording).findings() if "for probabilities" in one.title)
    assert "takes the output of a tanh for probabilities (test_misapplied.py:" in told.title
    assert "ends in a tanh where the loss expects a sigmoid or a softmax" in told.hypotheses[0].cause


@pytest.mark.parametrize(
    ("loss_of", "n_axes"),
    [
        (lambda x: tf.square(x - YES), 2),  # each
        (lambda x: keras.losses.MeanSquaredError(reduction="none")(YES, x), 1),
        (lambda x: tf.reduce_mean(tf.square(x - YES)), None),
        (lambda x: tf.reduce_sum(tf.square(x - YES)), 0),  # of all
        (lambda x: tf.reshape(tf.reduce_sum(tf.square(x - YES), axis=[-2, 1], keepdims=True), []), 0),
        (lambda x: keras.losses.MeanSquaredError(reduction="sum")(YES, x), 0),
        (lambda x: tf.reduce_sum(tf.square(x - YES)) / 3.0, None),
        (lambda x: tf.nn.compute_average_loss(tf.reduce_sum(tf.square(x - YES), axis=1), global_batch_size=3), None),
        (lambda x: tf.reduce_mean(tf.reduce_sum(tf.square(x - YES), axis=1)), None),
        (lambda x: tf.reduce_sum(tf.reduce_mean(tf.square(x - YES), axis=0)), None),
        (lambda x: tf.reduce_mean(tf.square(x - YES), keepdims=True), None),
    ],
)
def test_a_loss_of_each_sample(watch: Any, read: Any, loss_of: Any, n_axes: int | None) -> None:
    recording = read(learn(watch, loss_of))
    assert [one["unreduced"] for one in known_in(recording, "unreduced")] == [n_axes] * (n_axes is not None)


def test_a_cross_entropy_of_each_sample_is_no_softmax_twice(watch: Any, read: Any) -> None:
    labels = tf.constant([0, 1, 2])
    recording = read(learn(watch, lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x[:3]), 130))
    assert [one["unreduced"] for one in known_in(recording, "unreduced")] == [1]
    assert not [one.title for one in diagnose(recording).findings() if "softmax" in one.title]


@pytest.mark.parametrize(
    ("reduce", "cause"),
    [
        (tf.identity, "The loss is one number for each sample, and its gradient is that of their sum"),
        (tf.reduce_sum, "The loss is the sum over the batch, not the mean"),
        (tf.reduce_mean, None),
    ],
)
def test_a_loss_of_each_sample_is_why_steps_are_too_large(
    watch: Any, read: Any, reduce: Any, cause: str | None
) -> None:
    model = keras.Sequential([keras.Input((2,)), layers.Dense(8, "relu"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(0.1)
    watched = watch(model, capture=CAPTURE)

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = reduce(tf.square(model(x) - 30 * YES))  # too large
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(40):
        step(tf.constant(X))
    causes = [one.cause for finding in diagnose(read(watched)).findings() for one in finding.hypotheses[:2]]
    line = find_line("too large", sys.modules[__name__])
    named = [one for one in causes if one.startswith(("The loss is one number", "The loss is the sum over the batch"))]
    assert named == ([] if cause is None else [f"{cause} (test_misapplied.py:{line})"])


@pytest.mark.parametrize(("function", "is_told"), [("relu", True), ("softmax", False)])
def test_shares_of_relus_that_are_all_0(watch: Any, read: Any, function: str, is_told: bool) -> None:
    last = layers.Dense(3, function, bias_initializer=keras.initializers.Constant(-100.0))
    model = keras.Sequential([keras.Input((2,)), layers.Dense(8, "tanh"), last])
    model.compile("sgd", "categorical_crossentropy")
    begun = watch(model, capture=CAPTURE)
    model.fit(X, tf.one_hot(CLASSES, 3), batch_size=4, verbose=0)
    found = [one for one in diagnose(read(begun)).findings() if one.kind.startswith("nonfinite")]
    causes = [one.hypotheses[0].cause for one in found]
    assert causes == ["The last layer ends in a relu where the loss expects a sigmoid or a softmax"] * is_told


def of_log_softmax(x: Any, y: Any) -> Any:
    chosen = tf.nn.log_softmax(x, axis=0)  # of_log_softmax
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(y, 3) * chosen, -1))


def of_softmax(x: Any, y: Any) -> Any:
    shares = tf.nn.softmax(x, axis=0)  # of_softmax
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(y, 3) * tf.math.log(shares + 1e-8), -1))


def of_what_is_picked(x: Any, y: Any) -> Any:
    chosen = tf.nn.log_softmax(x, 0)  # of_what_is_picked
    return -tf.reduce_mean(tf.gather(chosen, y, axis=1, batch_dims=1))


def over_classes(x: Any, y: Any) -> Any:
    return -tf.reduce_mean(tf.gather(tf.nn.log_softmax(x), y, axis=1, batch_dims=1))


def of_classes_that_come_first(x: Any, y: Any) -> Any:
    chosen = tf.transpose(tf.nn.log_softmax(tf.transpose(x), axis=0))
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(y, 3) * chosen, -1))


def weights_of_instances(x: Any, y: Any) -> Any:
    """Of a bag each instance has its weight, for each of three heads."""
    return tf.reduce_mean(tf.square(tf.reduce_sum(tf.nn.softmax(x, axis=0) * X[:, :1], 0)))


def pairs_both_ways(x: Any, y: Any) -> Any:
    scores = tf.matmul(x, x, transpose_b=True)
    same = tf.eye(16)
    return -tf.reduce_mean(same * tf.nn.log_softmax(scores, axis=0)) - tf.reduce_mean(same * tf.nn.log_softmax(scores))


def one_list(x: Any, y: Any) -> Any:
    """One query's items, in a batch of their own."""
    return -tf.reduce_sum(tf.nn.softmax(tf.cast(y, tf.float32)[:, None], 0) * tf.nn.log_softmax(x[:, :1], axis=0))


@pytest.mark.parametrize(
    ("loss_of", "is_told"),
    [
        (of_log_softmax, True),
        (of_softmax, True),
        (of_what_is_picked, True),
        (over_classes, False),
        (of_classes_that_come_first, False),
        (weights_of_instances, False),
        (pairs_both_ways, False),
        (one_list, False),
    ],
)
def test_a_softmax_over_the_batch(watch: Any, read: Any, loss_of: Any, is_told: bool) -> None:
    model = keras.Sequential([keras.Input((2,)), layers.Dense(8, "tanh"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(1e-3)
    begun = watch(model, capture=CAPTURE)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(model(x), y)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(130 if is_told else 2):
        step(tf.constant(X), CLASSES)
    recording = read(begun)
    found = [one for one in found_in(recording) if "over_batch" in one]
    line = find_line(loss_of.__name__, sys.modules[__name__]) if is_told else 0
    assert [(one["over_batch"], one["source"]["line"]) for one in found] == [(3, line)] * is_told
    told = [one for one in diagnose(recording).findings() if "runs over the batch" in one.title]
    assert len(told) == is_told
