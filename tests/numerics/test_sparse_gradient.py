"""Sparse gradients: the same numbers as the dense gradient, without ever making one."""

import numpy as np
import pytest
import tensorflow as tf

from gradwatch import statistic
from tests.numerics.reference import assert_block_equal, block

ROWS, WIDTH = 50, 6


def densify(values, indices, rows=ROWS):
    dense = np.zeros((rows, values.shape[1]), np.float64)
    np.add.at(dense, indices, values.astype(np.float64))
    return dense


def slices(values, indices, rows=ROWS):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([rows, values.shape[1]]))


def values_of(n, seed=0, dtype=np.float32):
    # Multiples of 1/8 add up without rounding, so that minimum and maximum can be compared exactly.
    return (np.random.default_rng(seed).integers(-80, 80, (n, WIDTH)) / 8).astype(dtype)


INDICES = {
    "distinct": [3, 7, 1],
    "duplicates": [3, 7, 3, 3, 1, 7],
    "one row many times": [5] * 9,
    "a single slice": [0],
    "more slices than rows": [i % ROWS for i in range(3 * ROWS)],
    "more slices than rows, some untouched": [i % 7 for i in range(3 * ROWS)],
    "no slice": [],
}


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
@pytest.mark.parametrize("indices", INDICES.values(), ids=INDICES)
def test_statistics_are_those_of_the_dense_gradient(indices, jit_compile):
    indices = np.array(indices, np.int64)
    values = values_of(len(indices))

    @tf.function(jit_compile=jit_compile)
    def run(gradient):
        return statistic.full_block([statistic.dense_values(gradient)], [ROWS * WIDTH])

    found = run(slices(values, indices)).numpy()
    assert_block_equal(found, block(densify(values, indices)), rtol=1e-5)


@pytest.mark.parametrize("sign", [1, -1], ids=["positive", "negative"])
def test_every_row_touched_more_than_once_leaves_no_zero_behind(sign):
    """A vocabulary smaller than the batch: no element is zero, so zero is neither minimum nor maximum."""
    rows = 5
    indices = np.arange(4 * rows) % rows
    values = sign * (1 + np.abs(values_of(len(indices))))

    @tf.function
    def run(gradient):
        return statistic.full_block([statistic.dense_values(gradient)], [rows * WIDTH])

    dense = densify(values, indices, rows)
    assert_block_equal(run(slices(values, indices, rows)).numpy(), block(dense), rtol=1e-5)


@pytest.mark.parametrize("n_slices", [0, 2, 40, 300])
def test_number_of_slices_known_only_at_run_time(n_slices):
    indices = np.random.default_rng(1).integers(0, ROWS, n_slices)
    values = values_of(n_slices)

    @tf.function(input_signature=[tf.TensorSpec([None, WIDTH]), tf.TensorSpec([None], tf.int64)])
    def run(values, indices):
        gradient = tf.IndexedSlices(values, indices, tf.constant([ROWS, WIDTH]))
        return statistic.full_block([statistic.dense_values(gradient)], [ROWS * WIDTH])

    assert_block_equal(run(values, indices).numpy(), block(densify(values, indices)), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nonfinite_slices(dtype):
    indices = np.array([4, 9, 4, 2])
    values = values_of(4, dtype=dtype)
    values[0, 0], values[1, 1], values[3, 2], values[2, 2] = np.nan, np.inf, -np.inf, 1
    with np.errstate(invalid="ignore"):
        expected = block(densify(values, indices))

    found = statistic.full_block([statistic.dense_values(slices(values, indices))], [ROWS * WIDTH]).numpy()
    assert_block_equal(found, expected, rtol=1e-3 if dtype == np.float16 else 1e-5)


def test_plus_and_minus_infinity_of_one_row_make_a_nan_as_they_do_for_the_optimizer():
    values = np.full((2, WIDTH), np.inf, np.float32) * np.array([[1], [-1]], np.float32)
    found = statistic.full_block([statistic.dense_values(slices(values, np.array([3, 3])))], [ROWS * WIDTH]).numpy()
    assert found[0, 5] == WIDTH


def test_light_block_sums_duplicates_first():
    indices = np.array([2, 2, 2])
    values = np.ones((3, WIDTH), np.float32)

    @tf.function
    def run(gradient):
        return statistic.step_block([statistic.dense_values(gradient)], [ROWS * WIDTH], tf.constant(False))[0]

    found = run(slices(values, indices)).numpy()
    assert found[0, 0] == pytest.approx(3 * np.sqrt(WIDTH))


def test_an_embedding_is_never_made_dense():
    """With 2^40 rows a dense gradient would need 8 TB: not in the graph, and not at run time."""
    rows = 2**40

    @tf.function
    def run(values, indices):
        gradient = tf.IndexedSlices(values, indices, tf.constant([rows, 2], tf.int64))
        return statistic.full_block([statistic.dense_values(gradient)], [rows * 2])

    values = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    indices = np.array([2**39, 7, 2**39])
    found = run(tf.constant(values), tf.constant(indices)).numpy()
    assert found[0, 0] == pytest.approx(np.sqrt(36 + 64 + 9 + 16))
    assert found[0, 8] == pytest.approx(rows * 2, rel=1e-6), "all others are zero"
    graph = run.get_concrete_function(tf.constant(values), tf.constant(indices)).graph
    sizes = [t.shape.num_elements() for op in graph.get_operations() for t in op.outputs]
    assert max(size for size in sizes if size is not None) < 1000
