"""A cap on a loss, sample by sample: named with its line, and told where it leaves samples without a gradient."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(96, 6)).astype(np.float32)
SHARES = np.array([0.4, 0.3, 0.2, 0.06, 0.04])
LABELS = RANDOM.choice(5, 96, p=SHARES)


def entropies(y, scores):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(tf.reshape(y, [-1]), tf.int32), logits=scores)


def of_minimum(y, scores):
    return tf.reduce_mean(tf.minimum(entropies(y, scores), 2.0))  # line of the minimum


def of_clip(y, scores):
    return tf.reduce_sum(tf.clip_by_value(entropies(y, scores), 0.0, 2.0)) / 32  # line of the clip


def of_weighted(y, scores):
    capped = keras.ops.minimum(entropies(y, scores), 2.0)  # line of the weighted
    return tf.reduce_mean(0.5 * capped)


def of_choice(y, scores):
    loss = entropies(y, scores)
    return tf.reduce_mean(tf.where(loss < 2.0, loss, 2.0))  # line of the choice


def of_other_choice(y, scores):
    loss = entropies(y, scores)
    return tf.reduce_mean(tf.where(loss >= 2.0, 0.0, loss))  # line of the other choice


def of_huber_by_choice(y, scores):
    loss = entropies(y, scores)
    return tf.reduce_mean(tf.where(loss < 2.0, loss * loss, 4.0 * loss - 4.0))


def of_floor_by_choice(y, scores):
    loss = entropies(y, scores)
    return tf.reduce_mean(tf.where(loss > 0.1, loss, 0.1))


def of_huber(y, scores):
    error = tf.abs(entropies(y, scores))
    near = tf.minimum(error, 1.0)
    return tf.reduce_mean(0.5 * near * near + error - near)


def of_margin(y, scores):
    return tf.reduce_mean(tf.maximum(entropies(y, scores), 0.1))


def of_clipped_shares(y, scores):
    shares = tf.clip_by_value(tf.nn.softmax(scores), 1e-7, 1 - 1e-7)
    return -tf.reduce_mean(tf.gather(tf.math.log(shares), tf.cast(tf.reshape(y, [-1]), tf.int32), batch_dims=1))


def of_two(y, scores):
    return tf.reduce_mean(tf.minimum(entropies(y, scores), entropies(y, 2 * scores)))


def of_bounded_error(y, scores):
    error = tf.cast(tf.reshape(y, [-1]), tf.float32) - scores[:, 0]
    return tf.reduce_mean(tf.square(tf.clip_by_value(error, -1.0, 1.0)))  # line of the bounded error


def of_bounded_actions(y, scores):
    return tf.reduce_mean(tf.square(tf.clip_by_value(scores[:, 0], -1.0, 1.0)))


def of_pseudo_huber(y, scores):
    error = tf.cast(tf.reshape(y, [-1]), tf.float32) - scores[:, 0]
    near = tf.clip_by_value(error, -1.0, 1.0)
    return tf.reduce_mean(0.5 * tf.square(near) + tf.abs(error - near))


WRONG = {
    of_minimum: "line of the minimum",
    of_clip: "line of the clip",
    of_weighted: "line of the weighted",
    of_choice: "line of the choice",
    of_other_choice: "line of the other choice",
}
RIGHT = [of_huber, of_huber_by_choice, of_floor_by_choice, of_margin, of_clipped_shares, of_two]


def train(watch, loss_of, *, epochs=1, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5)])
    model.compile(keras.optimizers.SGD(0.3, momentum=0.9), loss=loss_of, **options)
    watched = watch(model, budget=0)
    model.fit(X, LABELS, batch_size=32, epochs=epochs, verbose=0)
    return watched


def caps(recording):
    return [slip for slip in found_in(recording) if "limit" in slip]


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("loss_of", WRONG)
def test_the_line_is_named(watch, read, loss_of, jit_compile):
    (slip,) = caps(read(train(watch, loss_of, jit_compile=jit_compile)))
    assert slip["source"]["line"] == find_line(WRONG[loss_of], sys.modules[__name__])
    assert slip["limit"] == 2.0


@pytest.mark.parametrize("loss_of", RIGHT)
def test_what_bounds_something_else_is_not_named(watch, read, loss_of):
    assert caps(read(train(watch, loss_of))) == []


def clip(low, high):
    return lambda y, scores: entropies(y, tf.clip_by_value(scores, low, high))  # line of the bounds


@pytest.mark.parametrize(
    ("loss_of", "clips"),
    [
        (clip(3.0, 9.0), [3.0, 9.0]),
        (lambda y, scores: entropies(y, tf.minimum(scores, 4.0)), [None, 4.0]),
        (entropies, None),
        (of_minimum, None),
        (lambda y, scores: entropies(y, tf.maximum(scores, scores[:, ::-1])), None),
    ],
)
def test_outputs_that_are_clipped_before_the_loss_are_known(watch, read, loss_of, clips):
    found = known_in(read(train(watch, loss_of)), "clips")
    assert [one["clips"] for one in found] == ([] if clips is None else [clips])
    assert all(one["layer"] for one in found)


def test_outputs_that_all_lie_beyond_their_bounds_are_told_with_the_line(watch, read):
    recording = read(train(watch, clip(3.0, 9.0), epochs=40))
    (found,) = diagnose(recording).findings()
    assert found.kind == "zero_gradient"
    line = find_line("line of the bounds", sys.modules[__name__])
    assert found.hypotheses[0].cause.startswith("Outputs are clipped before the loss, and all lie below 3")
    assert found.hypotheses[0].cause.endswith(f"(test_capped.py:{line})")


def test_samples_that_are_given_up_are_told_of_with_the_line(watch, read):
    (one,) = [
        one
        for one in diagnose(read(train(watch, of_minimum, epochs=60))).findings()
        if "no gradient at all" in one.title
    ]
    assert one.source["line"] == find_line("line of the minimum", sys.modules[__name__])
    assert one.evidence["share"] >= 0.05
    assert one.hypotheses[0].cause.startswith("A cap on the loss gives up the samples")


def test_a_cap_that_no_sample_reaches_is_no_trouble(watch, read):
    def high(y, scores):
        return tf.reduce_mean(tf.minimum(entropies(y, scores), 50.0))

    recording = read(train(watch, high, epochs=60))
    assert len(caps(recording)) == 1
    assert not [one for one in diagnose(recording).findings() if "no gradient at all" in one.title]


@pytest.mark.parametrize(
    ("loss_of", "is_told"), [(of_bounded_error, True), (of_bounded_actions, False), (of_pseudo_huber, False)]
)
def test_errors_that_are_bounded_before_they_are_squared(watch, read, loss_of, is_told):
    slips = [slip for slip in found_in(read(train(watch, loss_of))) if "bounds" in slip]
    assert [one["source"]["line"] for one in slips] == [
        find_line("line of the bounded error", sys.modules[__name__])
    ] * is_told
    assert all(one["bounds"] == 1.0 for one in slips)


def test_bounded_errors_are_told_with_their_cause(watch, read):
    findings = diagnose(read(train(watch, of_bounded_error, epochs=50))).findings()
    (one,) = [one for one in findings if one.title.startswith("Errors are clipped to 1 before")]
    assert one.hypotheses[0].cause.startswith("The error is clipped in the loss, instead of its gradient")
