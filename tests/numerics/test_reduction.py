"""Several reductions of the same elements, against NumPy in float64, one after another and compiled by XLA."""

import re

import numpy as np
import pytest
import tensorflow as tf

from gradwatch.reduction import MAX, MIN, SUM, count_broken, reduce_rows, unpack_broken
from gradwatch.statistic import full_block

LARGE = 200_000


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (2, 5000), (2, 0)])
@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_rows(is_fused: bool, shape: tuple[int, int], dtype: tf.DType) -> None:
    values = np.random.default_rng(3).integers(-4, 5, shape).astype(np.float64)  # sums that float16 has too
    marks = values == 2

    @tf.function(jit_compile=is_fused)
    def reduce(x: tf.Tensor, marks: tf.Tensor) -> list[tf.Tensor]:
        whole = tf.cast(marks, tf.int64)
        return reduce_rows([(SUM, x), (MIN, x), (MAX, x), (SUM, whole)], is_fused=is_fused)

    total, low, high, count = (one.numpy() for one in reduce(tf.constant(values, dtype), tf.constant(marks)))
    np.testing.assert_array_equal(total, values.sum(axis=1))
    np.testing.assert_array_equal(low, values.min(axis=1, initial=np.inf))
    np.testing.assert_array_equal(high, values.max(axis=1, initial=-np.inf))
    np.testing.assert_array_equal(count, marks.sum(axis=1))


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("shape", [(), (0,), (4, 50, 3)])
def test_broken_elements(is_fused: bool, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(5).choice([0.5, np.nan, np.inf, -np.inf], shape)
    count = tf.function(lambda x: unpack_broken(count_broken(x, is_fused=is_fused)), jit_compile=is_fused)
    n_nan, n_inf = (float(one) for one in count(tf.constant(values, tf.float32)))
    assert (n_nan, n_inf) == (np.isnan(values).sum(), np.isinf(values).sum())


def test_xla_reads_a_large_tensor_once_and_writes_no_copy_of_it() -> None:
    block = tf.function(lambda x: full_block([x], [LARGE]), jit_compile=True)
    program = block.experimental_get_compiler_ir(tf.zeros([LARGE]))(stage="optimized_hlo")
    results = re.findall(rf"= (\w+)\[[\d,]*{LARGE}\]", program[program.index("\nENTRY ") :])
    assert set(results) == {"f32"}  # the tensor itself: no float64 of it
