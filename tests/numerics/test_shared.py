"""A function that is traced once: the same numbers wherever it stands, and one op there."""

import numpy as np
import pytest
import tensorflow as tf

from gradwatch.shared import SharedFunction

X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([10, 20, 30])


class Scaled:
    """``sum(x) * factor + sum(y)``, which counts how often it is traced."""

    def __init__(self, **options):
        self.n_traces = 0
        self.shared = SharedFunction(self.compute, **options)

    def compute(self, tensors, factor):
        self.n_traces += 1
        x, y = tensors
        return tf.reduce_sum(x) * factor + tf.reduce_sum(y)


def expected(x, y, factor):
    return np.float64(x).sum() * factor + np.float64(y).sum()


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_many_calls_in_many_graphs_are_one_trace(jit_compile):
    scaled = Scaled()

    def call(x, y):
        return tf.stack([scaled.shared([x, y], 2.0), scaled.shared([y, x], 2.0)])

    for _ in range(2):
        found = tf.function(call, jit_compile=jit_compile)(X, Y)
        np.testing.assert_allclose(found, [expected(X, Y, 2), expected(Y, X, 2)])
    assert scaled.n_traces == 1


def test_a_call_is_one_op():
    scaled = Scaled()
    graph = tf.function(lambda x, y: scaled.shared([x, y], 2.0)).get_concrete_function(X, Y).graph
    calls = [op for op in graph.get_operations() if op.type not in ("Placeholder", "Identity")]
    assert [op.type for op in calls] == ["PartitionedCall"]
    assert calls[0].outputs[0].shape == []


def test_eagerly_it_is_the_same_trace():
    scaled = Scaled()
    tf.function(lambda x, y: scaled.shared([x, y], 3.0))(X, Y)
    found = scaled.shared([tf.constant(X), tf.constant(Y)], 3.0)
    assert float(found) == expected(X, Y, 3)
    assert scaled.n_traces == 1


@pytest.mark.parametrize(("has_shapes", "n_traces"), [(False, 1), (True, 2)])
def test_shapes_make_a_new_trace_only_where_they_count(has_shapes, n_traces):
    scaled = Scaled(has_shapes=has_shapes)
    x, y = tf.constant(X), tf.constant(Y)
    assert float(scaled.shared([x, y], 1.0)) == expected(X, Y, 1)
    assert float(scaled.shared([y, x], 1.0)) == expected(Y, X, 1)
    assert float(scaled.shared([x, y], 1.0)) == expected(X, Y, 1)
    assert scaled.n_traces == n_traces


def test_types_and_options_make_a_new_trace():
    scaled = Scaled()
    x, y = tf.constant(X), tf.constant(Y)
    assert float(scaled.shared([x, y], 1.0)) == expected(X, Y, 1)
    assert float(scaled.shared([x, y], 5.0)) == expected(X, Y, 5)
    assert float(scaled.shared([tf.cast(x, tf.float64), tf.cast(y, tf.float64)], 5.0)) == expected(X, Y, 5)
    assert scaled.n_traces == 3


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_where_it_is_not_due_the_constant_is_given(jit_compile):
    scaled = Scaled()

    @tf.function(jit_compile=jit_compile)
    def step(is_due, x, y):
        return scaled.shared.where(is_due, [np.float32(np.nan)], [x, y], 2.0)[0]

    assert float(step(tf.constant(True), X, Y)) == expected(X, Y, 2)
    assert np.isnan(float(step(tf.constant(False), X, Y)))


def test_two_constants_of_one_function_are_told_apart():
    scaled = Scaled()

    @tf.function
    def step(is_due, x, y):
        return [scaled.shared.where(is_due, [np.float32(value)], [x, y], 2.0)[0] for value in (-1, -2)]

    assert [float(one) for one in step(tf.constant(False), X, Y)] == [-1, -2]
    assert scaled.n_traces == 1


def test_it_is_traced_outside_of_whatever_is_being_traced():
    """A tape, a device or a strategy around the first call is not in the trace that all others share."""
    graphs = []
    shared = SharedFunction(lambda one: graphs.append(tf.compat.v1.get_default_graph()) or tf.reduce_sum(one[0]))

    @tf.function
    def step(x):
        return shared([x])

    step(X)
    assert graphs[0].outer_graph.building_function is False


def test_an_error_of_the_function_reaches_the_caller():
    shared = SharedFunction(lambda one: tf.reshape(one[0], [7]), has_shapes=True)
    with pytest.raises(ValueError, match="Cannot reshape"):
        shared([tf.constant(X)])
