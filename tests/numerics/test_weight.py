"""Variables and how a step changes them, of any size and type: against NumPy, where they are due and where not."""

import numpy as np
import pytest
import tensorflow as tf

from gradwatch import weight
from gradwatch.protocol import STATISTICS
from gradwatch.statistic import SMALL_TENSOR_LIMIT
from tests.numerics.reference import assert_block_equal, block

SHAPES = {
    "scalar": ((), "float32"),
    "large": ((4, SMALL_TENSOR_LIMIT), "float32"),
    "small": ((7, 3), "float32"),
    "double": ((5,), "float64"),
    "empty": ((0, 2), "float32"),
    "half": ((6, 2), "float16"),
    "last": ((2, 2, 2), "float32"),
}


def variables():
    random = np.random.default_rng(0)
    return [tf.Variable(random.normal(size=shape).astype(dtype)) for shape, dtype in SHAPES.values()]


def changed(given):
    random = np.random.default_rng(1)
    return [random.normal(scale=0.1, size=one.shape).astype(one.dtype.as_numpy_dtype) for one in given]


def step(given, updates, *, is_due, is_taken, jit_compile):
    """One step that keeps the variables, changes them and measures them: the blocks of values and of updates."""

    copies = weight.create_copies(given) if jit_compile else []

    @tf.function(jit_compile=jit_compile)
    def run(is_due, is_taken):
        n = len(given)
        if jit_compile:
            weight.wait_for(weight.store_where(is_taken, given, copies), given)
            of_updates = weight.Part(0, n, first_copy=n)
        else:
            of_updates = weight.Part(0, n, weight.keep_where(is_taken, given))
        for variable, update in zip(given, updates, strict=True):
            variable.assign_add(update)
        parts = [weight.Part(0, n), of_updates, weight.Part(1, 2)]
        are_wanted = tf.stack([True, is_taken, is_due])
        return weight.blocks_where(is_due, [*given, *copies], parts, are_wanted)

    return run(tf.constant(is_due), tf.constant(is_taken)).numpy().reshape(-1, len(STATISTICS))


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_values_and_updates_are_those_of_numpy(jit_compile):
    given = variables()
    before = [one.numpy() for one in given]
    found = step(given, changed(given), is_due=True, is_taken=True, jit_compile=jit_compile)
    after = [one.numpy() for one in given]
    updates = [new - old for new, old in zip(after, before, strict=True)]
    for rows, expected in ((found[:7], after), (found[7:14], updates), (found[14:], after[1:3])):
        for row, name, array in zip(rows, SHAPES, expected, strict=False):
            assert_block_equal(row[None], block(array), rtol=1e-5, mean_rtol=1e-5, message=name)


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_what_is_not_due_is_nan_and_changes_nothing(jit_compile):
    given = variables()
    before, updates = [one.numpy() for one in given], changed(given)
    assert np.isnan(step(given, updates, is_due=False, is_taken=False, jit_compile=jit_compile)).all()
    for one, old, update in zip(given, before, updates, strict=True):
        np.testing.assert_array_equal(one.numpy(), old + update)


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_a_part_that_is_not_wanted_is_nan_among_the_others(jit_compile):
    given = variables()
    found = step(given, changed(given), is_due=True, is_taken=False, jit_compile=jit_compile)
    assert np.isnan(found[7:14]).all()
    assert not np.isnan(found[:7, 0]).any()
    assert not np.isnan(found[14:, 0]).any()


def test_a_variable_is_not_copied_where_it_is_not_due():
    """TensorFlow copies a value that is held across its assignment: the buffer must stay where it is."""
    with tf.device("CPU:0"):  # on a GPU it has no address that can be asked for
        variable = tf.Variable(np.zeros(4 * SMALL_TENSOR_LIMIT, np.float32))
    places = []

    @tf.function
    def run(is_due):
        kept = weight.keep_where(is_due, [variable])
        variable.assign_add(tf.ones_like(variable))
        return weight.blocks_where(is_due, [variable], [weight.Part(0, 1, kept)], is_due[None])

    for is_due in (False, False, True):
        with tf.device("CPU:0"):
            run(tf.constant(is_due))
        places.append(variable.read_value()._numpy().__array_interface__["data"][0])
    assert places[0] == places[1]
    assert places[1] != places[2]
