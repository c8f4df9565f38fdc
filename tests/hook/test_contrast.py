"""Pairs that a loss draws together and pushes apart: which they are, how far apart, and that a wrong sense is told."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, known_in

CAPTURE = ("gradient", "operation")
pytestmark = pytest.mark.rows
N, WIDTH, N_KINDS, MARGIN = 48, 12, 20, 1.0
TITLE = "The loss draws together the pairs that are less alike, and pushes apart those that are more alike"
FORMS = [{}, {"jit_compile": True}]


def distance_of(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1) + 1e-6)  # distance_of


def by_labels(same, a, b):
    d = distance_of(a, b)
    return tf.reduce_mean(same * tf.square(d) + (1.0 - same) * tf.square(tf.maximum(MARGIN - d, 0.0)))


def by_other_labels(same, a, b):
    return by_labels(1.0 - same, a, b)


def by_choice(same, a, b):
    d = distance_of(a, b)
    return tf.reduce_mean(tf.where(same > 0.5, d**2, tf.nn.relu(MARGIN - d) ** 2))


def by_likeness(same, a, b):
    a, b = (tf.math.l2_normalize(one, axis=1) for one in (a, b))
    alike = tf.reduce_sum(a * b, axis=1)
    loss = same * (1.0 - alike) + (1.0 - same) * tf.nn.relu(alike - 0.2)
    return tf.reduce_sum(loss) / tf.cast(tf.shape(same)[0], tf.float32)


def by_roles(a, positive, negative):
    return tf.reduce_mean(tf.maximum(distance_of(a, positive) - distance_of(a, negative) + MARGIN, 0.0))


def by_other_roles(a, positive, negative):
    return by_roles(a, negative, positive)


def of_each(a, positive, negative):
    return tf.maximum(distance_of(a, positive) - distance_of(a, negative) + MARGIN, 0.0)


def of_each_otherwise(a, positive, negative):
    return of_each(a, negative, positive)


def by_softplus(a, positive, negative):
    return tf.reduce_mean(tf.math.softplus(distance_of(a, positive) ** 2 - distance_of(a, negative) ** 2))


def regressed(same, a, b):
    return tf.reduce_mean(tf.square(1.0 - same - distance_of(a, b)))


def attracted(same, a, b):
    return tf.reduce_mean(distance_of(a, b))


def weighed(same, a, b):
    d = distance_of(a, b)
    return tf.reduce_mean((1.0 + same) * tf.square(d))


def sample_pairs(seed, n=N):
    random = np.random.default_rng(seed)
    kinds = np.random.default_rng(7).normal(size=(N_KINDS, WIDTH))
    first = random.integers(0, N_KINDS, n)
    same = random.integers(0, 2, n)
    second = np.where(same == 1, first, (first + random.integers(1, N_KINDS, n)) % N_KINDS)
    draw = [kinds[one] + random.normal(size=(n, WIDTH)) for one in (first, second, (first + 3) % N_KINDS)]
    return [same.astype("float32"), *(one.astype("float32") for one in draw)]


def encoder(**options):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((WIDTH,)), layers.Dense(16, "relu"), layers.Dense(4)], **options)


def train(watch, loss_of, n_steps=1, *, is_joined=False, towers=1, batches=None, **options):
    models = [encoder(name=f"tower{number}") for number in range(towers)]
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build([one for model in models for one in model.trainable_variables])
    watched = watch(*models)
    is_of_roles = loss_of in (by_roles, by_other_roles, by_softplus, of_each, of_each_otherwise)

    @tf.function(**options)
    def step(same, *samples):
        samples = samples if is_of_roles else samples[:2]
        with tf.GradientTape() as tape:
            if is_joined:
                described = tf.split(models[0](tf.concat(samples, 0)), len(samples))
            else:
                described = [models[number % towers](one) for number, one in enumerate(samples)]
            loss = loss_of(*described) if is_of_roles else loss_of(same, *described)
        variables = [one for model in models for one in model.trainable_variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    for number in range(n_steps):
        step(*map(tf.constant, sample_pairs(number) if batches is None else batches[number]))
    return watched


@pytest.mark.parametrize("options", FORMS, ids=["graph", "jit"])
@pytest.mark.parametrize(
    ("loss_of", "by"),
    [(by_labels, "labels"), (by_choice, "labels"), (by_roles, "roles"), (by_softplus, "roles"), (of_each, "roles")],
)
def test_what_is_contrasted_is_known(watch, read, loss_of, by, options):
    (found,) = known_in(read(train(watch, loss_of, **options)), "contrasts")
    assert found["contrasts"] == by
    assert found["source"]["line"] == find_line("distance_of", sys.modules[__name__])


def test_a_likeness_and_parts_of_one_batch_are_known(watch, read):
    (alike,) = known_in(read(train(watch, by_likeness)), "contrasts")
    assert alike["contrasts"] == "labels"
    (joined,) = known_in(read(train(watch, by_roles, is_joined=True)), "contrasts")
    assert joined["contrasts"] == "roles"


@pytest.mark.parametrize("loss_of", [regressed, attracted, weighed])
def test_other_losses_of_pairs_are_not(watch, read, loss_of):
    assert known_in(read(train(watch, loss_of)), "contrasts") == []


def test_descriptions_by_two_networks_are_not(watch, read):
    assert known_in(read(train(watch, by_labels, towers=2)), "contrasts") == []


def apart(distances, other=None, same=None):
    """The reference: by how many deviations what is pushed apart lies farther apart."""
    if same is None:
        gaps = other - distances
        return gaps.mean() / gaps.std()
    return (distances[same == 0].mean() - distances[same == 1].mean()) / distances.std()


def entering(a, b):
    both = np.concatenate([a, b])
    return np.sqrt((((a - b) / both.std(axis=0)) ** 2).mean(axis=1))


@pytest.mark.parametrize("options", FORMS, ids=["graph", "jit"])
@pytest.mark.parametrize("loss_of", [by_labels, by_other_labels, by_choice, by_likeness, by_roles, by_other_roles])
def test_how_far_apart_they_lie(watch, read, loss_of, options):
    recording = read(train(watch, loss_of, **options))
    (table,) = recording.tables.values()
    (rows,) = (message for messages in recording.rows.values() for message in messages)
    values = dict(zip(table["scalars"], np.asarray(rows["scalars"])[0], strict=False))
    same, *samples = (one.astype(np.float64) for one in sample_pairs(0))
    model = encoder()
    a, b, c = (model(one.astype("float32")).numpy().astype(np.float64) for one in samples)
    if loss_of in (by_roles, by_other_roles):
        to = [((a - one) ** 2).sum(axis=1) for one in (b, c)]
        of_inputs = [entering(samples[0], one) for one in samples[1:]]
        expected = [apart(*one[:: 1 if loss_of is by_roles else -1]) for one in (of_inputs, to)]
    else:
        d = ((a - b) ** 2).sum(axis=1)
        if loss_of is by_likeness:
            norms = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (a, b)]
            d = -(norms[0] * norms[1]).sum(axis=1)
        same = 1 - same if loss_of is by_other_labels else same
        expected = [apart(one, same=same) for one in (entering(*samples[:2]), d)]
    found = [values["contrast_of_inputs"], values["contrast_of_outputs"]]
    np.testing.assert_allclose(found, expected, rtol=2e-4)


def test_distances_that_are_all_the_same_tell_nothing(watch, read):
    same, *samples = sample_pairs(0)
    recording = read(train(watch, by_labels, batches=[[same, *(np.ones_like(one) for one in samples)]]))
    (table,) = recording.tables.values()
    (rows,) = (message for messages in recording.rows.values() for message in messages)
    places = [table["scalars"].index(name) for name in ("contrast_of_inputs", "contrast_of_outputs")]
    assert not np.asarray(rows["scalars_present"])[0, places].any()


@pytest.mark.parametrize(
    ("loss_of", "is_told"),
    [
        (by_labels, False),
        (by_other_labels, True),
        (by_roles, False),
        (by_other_roles, True),
        (of_each, False),
        (of_each_otherwise, True),
    ],
)
def test_it_is_told_where_the_sense_is_wrong(watch, read, loss_of, is_told):
    findings = diagnose(read(train(watch, loss_of, 240))).findings()
    assert [one.title.startswith(TITLE) for one in findings] == [True] * is_told
