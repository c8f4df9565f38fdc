"""Operations without a gradient at which the way back to a variable ends: named with their line."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.slips.graph.cuts import UNSEEN
from tests.hook.diagnosis import diagnose, find_line

CAPTURE = ("gradient", "operation")

X = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
Y = X[:, :1]


def rounded(x):
    return tf.round(x)  # rounded


def chosen(x):
    return tf.one_hot(tf.argmax(x, axis=-1), 8)  # chosen


def counted(x):
    return tf.cast(tf.cast(4 * x, tf.int32), tf.float32)  # counted


def stopped(x):
    return tf.stop_gradient(x)  # stopped


def compared(x):
    return tf.cast(x > 0, tf.float32)  # compared


def straight_through(x):
    return x + tf.stop_gradient(tf.round(x) - x)


@tf.custom_gradient
def estimated(x):
    return tf.sign(x), lambda upstream: upstream


def signed(x):
    return tf.sign(tf.tanh(x))  # signed


def shaped(x):
    return x * tf.cast(tf.shape(x)[0], tf.float32)


CUTS = {rounded: "Round", chosen: "ArgMax", counted: "Cast", stopped: "StopGradient", compared: "Greater"}
PASSES = [straight_through, shaped, tf.abs]


def line_of(function):
    return find_line(function.__name__, sys.modules[__name__])


def model_of(between):
    keras.utils.set_random_seed(0)
    inner = keras.layers.Dense(8, name="inner")
    layers = [keras.Input((4,)), inner, keras.layers.Lambda(between), keras.layers.Dense(1, name="outer")]
    return keras.Sequential(layers)


def fit(watch, between, *, epochs=10, **options):
    model = model_of(between)
    model.compile(optimizer="sgd", loss="mse", **options)
    watched = watch(model)
    model.fit(X, Y, batch_size=16, epochs=epochs, verbose=0)
    return watched


def loop(watch, between, *, leaves_out=False, uses=True):
    model = model_of(between)
    optimizer = keras.optimizers.SGD(1e-3)
    optimizer.build(model.trainable_variables)
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square((model(x) if uses else model.layers[-1](tf.tile(x, [1, 2]))) - y))
        pairs = zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        optimizer.apply_gradients([(g, v) for g, v in pairs if not leaves_out or g is not None])

    for _ in range(40):
        step(tf.constant(X), tf.constant(Y))
    return watched


def cuts(recording):
    (table,) = recording.tables.values()
    return [(one["type"], (one["source"] or {}).get("line")) for one in table["cuts"]]


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.parametrize("between", CUTS)
def test_where_the_gradient_ends_is_told(watch, read, between):
    recording = read(fit(watch, between))
    assert cuts(recording)[:1] == [(CUTS[between], line_of(between))]
    (found,) = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert found.hypotheses[0].cause.startswith(f"The way back ends at {CUTS[between]} (test_cuts.py:")
    assert found.operation["type"] == CUTS[between]
    assert found.source["line"] == line_of(between)


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
def test_compiled_by_xla(watch, read):
    assert cuts(read(fit(watch, rounded, jit_compile=True))) == [("Round", line_of(rounded))]


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.parametrize("leaves_out", [False, True])
def test_in_a_loop(watch, read, leaves_out):
    recording = read(loop(watch, chosen, leaves_out=leaves_out))
    assert cuts(recording)[:1] == [("ArgMax", line_of(chosen))]


@pytest.mark.parametrize("between", PASSES)
def test_what_a_gradient_passes_is_none(watch, read, between):
    assert cuts(read(fit(watch, between))) == []


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
def test_what_the_loss_does_not_depend_on_ends_nowhere(watch, read):
    assert cuts(read(loop(watch, rounded, uses=False))) == []


@pytest.mark.parametrize("jit_compile", [False, True])
def test_what_only_a_sign_leads_to_gets_a_gradient_of_0(watch, read, jit_compile):
    recording = read(fit(watch, signed, epochs=40, jit_compile=jit_compile))
    assert cuts(recording) == [("Sign", line_of(signed))]
    (found,) = [one for one in diagnose(recording).findings() if one.kind == "zero_gradient"]
    assert found.hypotheses[0].cause.startswith("The way back ends at Sign (test_cuts.py:")
    assert "slope is 0" in found.hypotheses[0].cause
    assert (found.operation["type"], found.source["line"]) == ("Sign", line_of(signed))


def test_a_sign_with_a_gradient_of_its_own_is_no_trouble(watch, read):
    assert [one.kind for one in diagnose(read(fit(watch, estimated, epochs=40))).findings()] == []


@pytest.mark.parametrize("is_outside", [True, False])
def test_a_call_before_the_tape_begins_is_named(watch, read, is_outside):
    """The cross-entropy compares scores as well: that no gradient passes a comparison is beside the point."""
    towers = [keras.Sequential([keras.Input((4,)), keras.layers.Dense(8)], name=name) for name in ("users", "items")]
    optimizer, loss_of = keras.optimizers.SGD(0.01), keras.losses.BinaryCrossentropy(from_logits=True)
    watched = watch(*towers)

    @tf.function
    def step(x, y):
        items = towers[1](x) if is_outside else None  # outside
        with tf.GradientTape() as tape:
            items = towers[1](x) if items is None else items
            loss = loss_of(y, tf.reduce_sum(towers[0](x) * items, axis=1))
        variables = [variable for tower in towers for variable in tower.trainable_variables]
        given = tape.gradient(loss, variables)
        optimizer.apply_gradients(
            [(one, variable) for one, variable in zip(given, variables, strict=True) if one is not None]
        )

    optimizer.build([variable for tower in towers for variable in tower.trainable_variables])
    for _ in range(110):
        step(X, (Y[:, 0] > 0).astype(np.float32))
    watched.close()
    recording = read(watched)
    (table,) = recording.tables.values()
    assert [one["type"] for one in table["cuts"]] == [UNSEEN] * is_outside
    found = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    assert len(found) == is_outside
    for one in found:
        assert one.source["line"] == find_line("outside", sys.modules[__name__])
        assert one.operation is None
        assert one.hypotheses[0].cause.startswith("The tape has not recorded what they compute (test_cuts.py:")
