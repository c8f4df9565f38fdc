"""What XLA makes of the hook's branches, read in its optimized program: what is not due must not be computed."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch.shared import SharedFunction
from gradwatch.statistic import full_block, where
from gradwatch.weight import create_copies, store_where, wait_for
from gradwatch.xla import cond

LARGE = 100_000


def entry(function, *arguments):
    """The lines of the optimized program that run in every step."""
    program = function.experimental_get_compiler_ir(*arguments)(stage="optimized_hlo")
    return program[program.index("\nENTRY ") :].splitlines()


def reductions(x):
    """Elementwise operations and reductions alone, as statistics are."""
    return tf.reduce_max(x) - tf.reduce_min(x)


def nothing():
    return tf.constant(np.nan)


def by_shared_function(is_due, x):
    shared = SharedFunction(lambda tensors: reductions(tensors[0]))
    return shared.where(is_due, [np.float32(np.nan)], [x])[0]


WAYS = {
    "cond": lambda is_due, x: cond(is_due, lambda: reductions(x), nothing),
    "where": lambda is_due, x: where(is_due, lambda: reductions(x), nothing),
    "shared": by_shared_function,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_branch_stays_a_branch(way):
    function = tf.function(WAYS[way], jit_compile=True, autograph=False)
    x = tf.random.normal([LARGE])
    lines = entry(function, tf.constant(False), x)
    assert sum(" conditional(" in line for line in lines) == 1
    assert not any(re.search(r" (reduce|reduce-window|fusion)\(", line) for line in lines)
    assert np.isnan(function(tf.constant(False), x))
    np.testing.assert_allclose(function(tf.constant(True), x), reductions(x), rtol=1e-4)


def test_left_to_itself_xla_would_take_it_apart():
    """Why there is a barrier: without this, the test above could not fail."""
    function = tf.function(lambda is_due, x: tf.cond(is_due, lambda: reductions(x), nothing), jit_compile=True)
    assert not any(" conditional(" in line for line in entry(function, tf.constant(False), tf.zeros([LARGE])))


def test_variables_are_updated_in_place_though_their_old_values_are_wanted_at_times():
    variable = tf.Variable(tf.random.normal([LARGE]))
    copies = create_copies([variable])

    @tf.function(jit_compile=True)
    def step(is_due):
        wait_for(store_where(is_due, [variable], copies), [variable])
        variable.assign_sub(0.1 * tf.ones([LARGE]))
        return cond(is_due, lambda: tf.reduce_sum(variable - copies[0]), nothing)

    assert not any(f"[{LARGE}]" in line and " copy(" in line for line in entry(step, tf.constant(False)))
    assert np.isnan(step(tf.constant(False)))
    np.testing.assert_allclose(step(tf.constant(True)), -0.1 * LARGE, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_orders_the_update_changes_no_bit(dtype):
    edges = tf.cast([0.0, -0.0, 1.0, -1.0, 1e-30, 6e-5, np.inf, -np.inf], dtype)
    variable = tf.Variable(edges)
    copies = create_copies([variable])
    step = tf.function(lambda is_due: wait_for(store_where(is_due, [variable], copies), [variable]), jit_compile=True)
    for is_due in (False, True):
        step(tf.constant(is_due))
        assert variable.numpy().tobytes() == edges.numpy().tobytes()
    assert copies[0].numpy().tobytes() == edges.numpy().tobytes()


def test_a_watched_step_computes_in_every_step_only_what_every_step_needs(monkeypatch, tmp_path):
    """All statistics but the norms are float64, and a copy of a weight would have its shape."""
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path))
    layers = [keras.layers.Dense(200, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((150,)), *layers, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-3)
    loss_of = keras.losses.MeanSquaredError()

    @tf.function(jit_compile=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    with gradwatch.watch(model, url="http://127.0.0.1:9"):
        lines = entry(step, tf.random.normal([2048, 150]), tf.zeros([2048, 1]))
    assert any(" conditional(" in line for line in lines)
    assert not [line for line in lines if "f64[" in line]
    assert not [line for line in lines if re.search(r"f32\[(150,200|200,200)\]\S* copy\(", line)]


def test_rows_of_a_large_tensor_are_those_of_the_whole():
    values = np.random.default_rng(1).normal(size=16 * 5000).astype(np.float32)
    values[[7, 40_000]] = np.nan, np.inf
    for some in (values, values[:-3], values[:1]):
        function = tf.function(lambda x: full_block([x], [x.shape[0]]), jit_compile=True)
        (row,) = function(tf.constant(some)).numpy()
        finite = some[np.isfinite(some)].astype(np.float64)
        np.testing.assert_allclose(
            row[:4], [np.sqrt((finite**2).sum()), finite.min(), finite.max(), finite.mean()], 1e-5
        )
        assert row[5:7].tolist() == [np.isnan(some).sum(), (some == np.inf).sum()]
