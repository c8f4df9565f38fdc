"""The numbers of a batch's columns and rows, against NumPy and float64: in a graph, under XLA, with unknown sizes."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from gradwatch.batch import COLUMNS_MAX, count_columns, measure, read_measured, row_width

RANDOM = np.random.default_rng(7)
N_ROWS = 300


def features(n_rows=N_ROWS, width=6, dtype=np.float32):
    return RANDOM.normal(size=(n_rows, width)).astype(dtype)


def with_holes(x, *holes):
    """A copy with a value put at each ``(row, column, value)``."""
    x = x.copy()
    for row, column, value in holes:
        x[row, ..., column] = value
    return x


SICK = with_holes(features(), (17, 2, np.nan), (290, 2, np.inf), (290, 4, -np.inf))
BATCHES = {
    "healthy": features(),
    "sick": SICK,
    "a column without a finite element": with_holes(SICK, (slice(None), 5, np.nan)),
    "more bad rows than are named": with_holes(features(), (slice(3, 60, 3), 1, np.nan)),
    "the last row": with_holes(features(), (N_ROWS - 1, 0, np.inf)),
    "one row": with_holes(features(1), (0, 0, np.nan)),
    "no row": features(0),
    "a sequence": with_holes(features().reshape(50, 6, 6), (49, 3, np.nan)),
    "images": with_holes(features().reshape(10, 6, 10, 3), (4, 1, np.inf)),
    "a vector": np.where(np.arange(N_ROWS) == 77, np.nan, features()[:, 0]).astype(np.float32),
    "a scalar": np.array(np.nan, np.float32),
    "float64 beyond float32": with_holes(features(dtype=np.float64) * 1e300, (5, 1, np.inf)),
    "float16 at its limits": with_holes(features(dtype=np.float16), (0, 0, 65504), (1, 0, -65504), (2, 1, np.inf)),
    "as wide as may be": with_holes(features(20, COLUMNS_MAX), (9, 255, np.nan)),
    "too wide": with_holes(features(20, COLUMNS_MAX + 1), (9, 256, np.nan)),
}


def expected_of(x):
    """Columns ``[n_columns, 3]`` and the bad rows, by sorting out the finite elements one column at a time."""
    x = np.atleast_1d(np.asarray(x, np.float64))
    columns = x.reshape(-1, x.shape[-1] if x.ndim > 1 else 1).T
    limit = np.finfo(np.float32).max
    numbers = []
    for column in columns:
        finite = [value for value in column.tolist() if np.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (np.nan, np.nan)
        numbers.append([len(column) - len(finite), np.clip(low, -limit, limit), np.clip(high, -limit, limit)])
    bad = [row for row in range(len(x)) if not np.isfinite(x[row]).all()]
    return np.array(numbers), bad


@functools.cache
def measuring(dtype, shape, n_columns, jit_compile):
    signature = [tf.TensorSpec(shape, dtype)]
    return tf.function(lambda x: measure(x, n_columns), input_signature=signature, jit_compile=jit_compile)


def known_width(x):
    """A batch's shape with all but the last axis unknown, as training functions see it."""
    return (*[None] * (x.ndim - 1), x.shape[-1]) if x.ndim > 1 else (None,) * x.ndim


@pytest.mark.parametrize("compiler", ["graph", "jit", "eager"])
@pytest.mark.parametrize("name", BATCHES)
def test_a_batch(name, compiler):
    x = BATCHES[name]
    n_columns = count_columns(tf.constant(x))
    if compiler == "eager":
        row = measure(tf.constant(x), n_columns)
    else:
        row = measuring(x.dtype, known_width(x), n_columns, compiler == "jit")(x)
    assert row.shape == (row_width(n_columns),)
    found = read_measured(row.numpy()[None], n_columns)
    columns, bad = expected_of(x)
    if n_columns:
        np.testing.assert_array_equal(found.columns[0], columns.astype(np.float32))
    assert found.bad_rows[0].tolist() == (bad + [-1] * 8)[:8]
    assert found.n_bad_rows[0] == len(bad)


def test_only_what_is_too_wide_or_unknown_has_no_columns():
    assert count_columns(tf.zeros([2, COLUMNS_MAX + 1])) == 0
    unknown = [tf.TensorSpec([3, None], tf.float32), tf.TensorSpec(None, tf.float32)]
    assert [count_columns(spec) for spec in unknown] == [0, 0]
    assert count_columns(tf.zeros([2, 5, 4])) == 4


@pytest.mark.parametrize("jit_compile", [False, True])
def test_rows_are_found_where_nothing_is_known_of_the_shape(jit_compile):
    run = measuring(np.float32, None, 0, jit_compile)
    for x in (SICK, SICK[:0], SICK.reshape(50, 6, 6)):
        found = read_measured(run(x).numpy()[None], 0)
        bad = expected_of(x)[1] if len(x) else []
        assert (found.bad_rows[0].tolist(), int(found.n_bad_rows[0])) == ((bad + [-1] * 8)[:8], len(bad))


def test_a_batch_of_another_width_has_rows_but_no_columns():
    """The layout of a ring is laid down once; a training function may be traced again for another width."""
    found = read_measured(measure(tf.constant(SICK), 4).numpy()[None], 4)
    assert np.isnan(found.columns).all()
    assert found.columns.shape == (1, 4, 3)
    assert found.n_bad_rows.tolist() == [2]


def test_rows_beyond_the_whole_numbers_of_float32_keep_their_number():
    n = (1 << 24) + 12
    sick = tf.tensor_scatter_nd_update(tf.zeros([n], tf.float16), [[n - 1], [n - 4]], [np.nan, np.inf])
    found = read_measured(measure(sick, 1).numpy()[None], 1)
    assert found.bad_rows[0, :3].tolist() == [n - 4, n - 1, -1]
