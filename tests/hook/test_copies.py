"""Copies of what is trained that a step reads: a target network that is never brought up to date is told of."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import diagnose

CAPTURE = ("gradient", "operation")
pytestmark = pytest.mark.rows


X = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
TITLE = "The target network is as it was made: in 330 steps it was never brought up to date"


def network():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])


def copied_from(model):
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    return copy


def learn_values(
    watch, *, make=copied_from, between=lambda step, model, target: None, n_steps=330, also=False, network=network
):
    """Learns the value of states by what another network says of the next ones."""
    keras.backend.clear_session()
    model = network()
    target = make(model)
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(model, *[target] * also, budget=0, capture=("gradient", "weight", "update"))

    @tf.function
    def step(states, following):
        wanted = 1.0 + 0.9 * tf.reduce_max(target(following), axis=1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(wanted - tf.reduce_max(model(states, training=True), axis=1)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    for number in range(n_steps):
        watched.log(loss=step(tf.constant(X), tf.constant(X[::-1])))
        between(number, model, target)
    return watched


def copies(recording):
    """Names and shapes of what is sent of copies."""
    (table,) = recording.tables.values()
    return {one["tensor"]: tuple(one["shape"]) for one in table["tensors"] if one.get("copied")}


@pytest.mark.parametrize("also", [False, True], ids=["not watched", "watched as well"])
def test_a_target_network_that_is_never_brought_up_to_date_is_told_of_at_the_end(watch, read, also):
    recording = read(learn_values(watch, also=also))
    assert copies(recording) == {"copy/sequential/dense/kernel": (4, 16), "copy/sequential/dense_1/kernel": (16, 2)}
    (found,) = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert found.title == TITLE
    assert found.hypotheses[0].cause == "The target network is never synchronised with the one that is trained"


def test_what_is_sent_of_a_copy_is_its_norm_and_not_that_of_the_trained(watch, read):
    keras.utils.set_random_seed(5)
    norms = []

    def note(number, model, target):
        if number == 0:
            norms.append(np.linalg.norm(target.get_weights()[0].astype(np.float64)))

    recording = read(learn_values(watch, between=note, n_steps=5))
    (table,) = recording.tables.values()
    place = [one["tensor"] for one in table["tensors"]].index("copy/sequential/dense/kernel")
    (rows,) = recording.rows.values()
    found = np.concatenate([message["statistics"][:, place, 0] for message in rows])
    np.testing.assert_allclose(found, norms * 5, rtol=1e-6)


def normalised():
    norm = keras.layers.BatchNormalization()
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(16), norm, keras.layers.Dense(2)])


def weights_alone(number, model, target):
    for one, other in zip(target.trainable_variables, model.trainable_variables, strict=True):
        one.assign(0.9 * one + 0.1 * other)


def at_each(number, model, target):
    for one, other in zip(target.variables, model.variables, strict=True):
        one.assign(0.99 * one + 0.01 * other)


@pytest.mark.parametrize(
    ("between", "title"),
    [
        (weights_alone, "The copy's running means and variances are as they were made: they are never copied"),
        (at_each, None),
        (lambda number, model, target: None, TITLE),
    ],
    ids=["weights alone", "all", "nothing"],
)
def test_a_copy_whose_running_means_stay_as_they_were_made(watch, read, between, title):
    recording = read(learn_values(watch, network=normalised, between=between))
    kept = {f"copy/sequential/batch_normalization/moving_{name}": (16,) for name in ("mean", "variance")}
    assert kept.items() <= copies(recording).items()
    found = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert [one.title for one in found] == [title] * (title is not None)


def now_and_then(number, model, target):
    if number % 110 == 109:
        target.set_weights(model.get_weights())


@pytest.mark.parametrize("between", [now_and_then, at_each])
def test_one_that_is_brought_up_to_date_is_not_told_of(watch, read, between):
    recording = read(learn_values(watch, between=between))
    assert copies(recording)
    assert "missing_gradient" not in {one.kind for one in diagnose(recording).findings()}


def test_one_that_ended_before_its_time_is_not_told_of(watch, read):
    assert "missing_gradient" not in {one.kind for one in diagnose(read(learn_values(watch, n_steps=250))).findings()}


@pytest.mark.parametrize("is_updated", [False, True], ids=["as it was made", "brought up to date"])
def test_one_of_two_models_has_a_copy(watch, read, *, is_updated):
    """As with BYOL: the slow network is a copy of the encoder, and has no predictor."""
    keras.backend.clear_session()
    encoder, predictor = network(), keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
    target = copied_from(encoder)
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(encoder, predictor, budget=0, capture=("gradient", "weight", "update"))
    variables = encoder.trainable_variables + predictor.trainable_variables

    @tf.function
    def step(one, other):
        wanted = target(other)
        with tf.GradientTape() as tape:
            loss = 1.0 + tf.reduce_mean(tf.square(wanted - predictor(encoder(one, training=True))))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    for number in range(330):
        watched.log(loss=step(tf.constant(X), tf.constant(X + 0.1)))
        if is_updated:
            at_each(number, encoder, target)
    recording = read(watched)
    assert copies(recording) == {"copy/sequential/dense/kernel": (4, 16), "copy/sequential/dense_1/kernel": (16, 2)}
    found = [one.title for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert found == [TITLE] * (not is_updated)


def another_of_the_same_form(model):
    return keras.models.clone_model(model)


def copied_once_it_was_trained(model):
    model.set_weights([weight + 0.1 for weight in model.get_weights()])
    return copied_from(model)


@pytest.mark.parametrize("make", [another_of_the_same_form, copied_once_it_was_trained])
def test_another_network_is_no_copy(watch, read, make):
    assert copies(read(learn_values(watch, make=make, n_steps=3))) == {}
