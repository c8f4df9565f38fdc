"""A gather that takes the columns of all samples from each: told where it meets one number for each sample."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.training import dense

CAPTURE = ("gradient", "operation")

N = 8


def of_rewards(scores, places, rewards):
    return rewards - tf.gather(scores, places, axis=1)


def of_log_probabilities(scores, places, rewards):
    return -tf.gather(tf.nn.log_softmax(scores), places, axis=-1) * tf.stop_gradient(rewards)


def huber(scores, places, rewards):
    error = tf.gather(scores, tf.cast(places, tf.int64), axis=1) - (rewards + 0.9)
    return tf.where(tf.abs(error) < 1, error**2, tf.abs(error))


def its_own(scores, places, rewards):
    return rewards - tf.gather(scores, places, axis=1, batch_dims=1)


def some_columns(scores, places, rewards):
    return rewards[:, None] - tf.gather(scores, [0, 2], axis=1)


def in_batch_candidates(scores, places, rewards):
    """All pairs are meant, less how often each candidate is drawn."""
    logits = tf.gather(scores, places, axis=1) - tf.gather(tf.constant([0.1, 0.2, 0.3]), places)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(N), logits)


def all_pairs_weighed(scores, places, rewards):
    return tf.nn.softmax(tf.gather(scores, places, axis=1) - rewards)


def rows(scores, places, rewards):
    return tf.reduce_sum(tf.gather(scores, places), axis=1) - rewards


TOLD = [of_rewards, of_log_probabilities, huber]
NOT_TOLD = [its_own, some_columns, in_batch_candidates, all_pairs_weighed, rows]


@pytest.mark.parametrize("is_known", [True, False], ids=["batch known", "batch unknown"])
@pytest.mark.parametrize("loss_of", TOLD + NOT_TOLD, ids=lambda function: function.__name__)
def test_gathers(watch, read, loss_of, is_known):
    model = keras.Sequential([keras.Input((4,)), dense(3, "scores")], name="model")
    optimizer = keras.optimizers.SGD(0.01)
    begun = watch(model)
    n = N if is_known else None
    specs = [tf.TensorSpec([n, 4]), tf.TensorSpec([n], tf.int32), tf.TensorSpec([n])]

    @tf.function(input_signature=specs)
    def step(x, places, rewards):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(loss_of(model(x), places, rewards))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.random.normal([N, 4]), tf.range(N) % 3, tf.zeros([N]))
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if one["type"] == "GatherV2"]
    assert bool(found) == (loss_of in TOLD)
    for one in found:
        assert "tf.gather(" in one["source"]["code"]


def dropped_before(tokens):
    return keras.layers.Embedding(32, 4, name="table")(keras.layers.Dropout(0.2)(tokens))


def dropped_after(tokens):
    return keras.layers.Dropout(0.2)(keras.layers.Embedding(32, 4, name="table")(tokens))


def words_left_out(tokens):
    kept = keras.layers.Lambda(lambda one: tf.where(tf.random.uniform(tf.shape(one)) < 0.2, tf.zeros_like(one), one))
    return keras.layers.Embedding(32, 4, name="table")(kept(tokens))


@pytest.mark.parametrize(("build", "scale"), [(dropped_before, 1.25), (dropped_after, None), (words_left_out, None)])
def test_a_dropout_of_the_numbers_of_a_tables_rows(watch, read, build, scale):
    tokens = keras.Input((6,))
    model = keras.Model(tokens, dense(1, "out")(keras.layers.GlobalAveragePooling1D()(build(tokens))))
    model.compile("sgd", "mse")
    begun = watch(model)
    model.fit(np.random.default_rng(0).integers(1, 20, (32, 6)), np.zeros((32, 1)), verbose=0)
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if "drops" in one]
    assert [(one["layer"], one["drops"]) for one in found] == ([] if scale is None else [("table", scale)])


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize(("drop", "rate"), [("share to keep", 0.9), ("rate", None), ("mask", None)])
def test_a_dropout_that_is_given_the_share_to_keep(watch, read, drop, rate, options):
    model = keras.Sequential([keras.Input((4,)), dense(8, "hidden")])
    optimizer = keras.optimizers.SGD(1e-3)
    begun = watch(model, capture=CAPTURE)
    given = {"share to keep": 0.9, "rate": 0.5}.get(drop)

    @tf.function(**options)
    def step(x):
        with tf.GradientTape() as tape:
            h = model(x)
            if given is not None:
                h = tf.nn.dropout(h, given)
            else:  # of what is to be predicted, a tenth
                h = tf.where(tf.random.uniform(tf.shape(h)) >= 0.9, 0.0, h)
            loss = tf.reduce_mean(tf.square(h))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.ones([16, 4]))
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if "rate" in one]
    assert [one["source"]["code"] for one in found] == ["h = tf.nn.dropout(h, given)"] * (rate is not None)
    assert all(one["rate"] == pytest.approx(rate) for one in found)
