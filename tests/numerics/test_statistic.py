"""`gradwatch.statistic` over the table of tensors, and over tensors that nobody thought of."""

import math
import subprocess
import sys

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwatch import statistic
from gradwatch.reader import global_norm
from tests.numerics.reference import NAMES, assert_block_equal, block, cosine_distance, row
from tests.numerics.tensors import TENSORS, TINY

CASES = list(TENSORS.items())
NAMES_OF_CASES = list(TENSORS)
LIGHT = [NAMES.index(name) for name in ("norm", "n_nan", "n_pos_inf", "n_neg_inf", "n_elements")]


def tolerance(x):
    """How far a sum may be off: float32 sums of n elements, in a tree or in blocks."""
    spread = np.asarray(x, np.float64)
    spread = spread[np.isfinite(spread)]
    spread = spread / max(float(np.abs(spread).max(initial=0)), np.finfo(np.float64).tiny)
    # Only a mean far from zero makes the standard deviation a small difference of large numbers.
    condition = 1.0 if spread.size < 2 or not spread.std() else 1 + abs(spread.mean()) / spread.std()
    return 3e-6 * min(condition, 100.0)


def light_block(tensors, sizes):
    """The block of a step at which nothing more than norms and counts is due."""
    return statistic.step_block(tensors, sizes, tf.constant(False))[0]


def compute(function, tensors, sizes=None, *, signature=None, jit_compile=False):
    """A block computed in a graph of its own."""
    tensors = [tf.constant(t) if not isinstance(t, tf.IndexedSlices) else t for t in tensors]
    sizes = [int(np.prod(t.shape)) for t in tensors] if sizes is None else sizes

    @tf.function(jit_compile=jit_compile, input_signature=signature and [signature])
    def run(given):
        return function([statistic.dense_values(t) for t in given], sizes)

    return run(tensors).numpy()


@pytest.mark.parametrize(("name", "x"), CASES, ids=NAMES_OF_CASES)
def test_full_block_of_each_tensor_alone(name, x):
    found = compute(statistic.full_block, [x])
    assert found.dtype == np.float32
    assert_block_equal(found, block(x), rtol=tolerance(x), message=name)


@pytest.mark.parametrize("name", [name for name in TENSORS if "large" in name or "scalar" in name or name == "empty"])
def test_light_block_is_norm_and_nonfinite_counts(name):
    x = TENSORS[name]
    found = compute(light_block, [x])
    expected = np.minimum(block(x), np.finfo(np.float32).max)
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=tolerance(x), atol=1e-15)
    np.testing.assert_array_equal(found[:, LIGHT[1:]], expected[:, LIGHT[1:]])
    others = [i for i in range(10) if i not in LIGHT]
    with np.errstate(over="ignore", invalid="ignore"):
        is_light = np.isfinite(np.sum(np.square(x.astype(np.float32)), dtype=np.float32))
    if is_light:
        assert np.isnan(found[:, others]).all(), "what was not captured is NaN"


@pytest.mark.parametrize(("jit_compile", "order"), [(False, 1), (False, -1), (True, 1)], ids=["graph", "back", "jit"])
def test_full_block_of_all_tensors_together_keeps_their_order(jit_compile, order):
    """Small tensors share matrices; one sick neighbour must not change the others' rows."""
    tensors = list(TENSORS.values())[::order]
    found = compute(statistic.full_block, tensors, jit_compile=jit_compile)
    for i, (name, x) in enumerate(CASES[::order]):
        assert_block_equal(found[i : i + 1], block(x), rtol=4 * tolerance(x), message=name)


def test_light_block_of_all_tensors_together_under_xla():
    found = compute(light_block, list(TENSORS.values()), jit_compile=True)
    expected = block(*TENSORS.values())
    np.testing.assert_allclose(found[:, 0], np.minimum(expected[:, 0], np.finfo(np.float32).max), rtol=1e-5, atol=1e-15)
    np.testing.assert_array_equal(found[:, 5:8], expected[:, 5:8])


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_each_tensor_alone_under_the_compiler(jit_compile):
    """A tensor alone takes another way than one among many; all of them in one compilation."""
    chosen = {name: x for name, x in CASES if "large" in name or "scalar" in name or name == "empty"}

    @tf.function(jit_compile=jit_compile)
    def run(tensors):
        return tf.concat([statistic.full_block([t], [t.shape.num_elements()]) for t in tensors], 0)

    found = run([tf.constant(x) for x in chosen.values()]).numpy()
    for i, (name, x) in enumerate(chosen.items()):
        assert_block_equal(found[i : i + 1], block(x), rtol=4 * tolerance(x), message=name)


def test_subnormal_numbers_count_as_themselves_or_as_zero():
    """Kernels may flush them; whatever they do, every statistic must agree with one of the two readings."""
    x = np.array([1e-40, -3e-41, 5e-45, 0.0], np.float32)
    found = compute(statistic.full_block, [x])
    for name, value in zip(NAMES[:10], found[0], strict=False):
        assert math.isfinite(value), f"{name} is {value}"
        own, flushed = row(x)[NAMES.index(name)], row(np.zeros_like(x))[NAMES.index(name)]
        assert any(value == pytest.approx(one, rel=0.05, abs=1e-45) for one in (own, flushed)), f"{name} is {value}"


@pytest.mark.parametrize("n", [1, 40_000], ids=["small", "large"])
@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_subnormal_numbers_among_normal_ones_do_no_harm(n, jit_compile):
    x = np.array([1e-40, 4 * TINY, -8 * TINY, 0.0] * n, np.float32)
    found = compute(statistic.full_block, [x], jit_compile=jit_compile)
    assert np.isfinite(found[:, :10]).all()
    assert found[0, 0] == pytest.approx(row(x)[0], rel=1e-5)
    assert found[0, 8] in (n, 2 * n)


def test_ten_million_elements():
    x = np.random.default_rng(3).normal(size=10_000_000).astype(np.float32)
    x[::1000] = 0
    found = compute(statistic.full_block, [x])
    assert_block_equal(found, block(x), rtol=1e-4, mean_rtol=1e-6)
    x[123] = np.nan
    found = compute(statistic.full_block, [x])
    assert_block_equal(found, block(x), rtol=1e-4, mean_rtol=1e-6)


def test_ten_million_equal_elements_keep_their_mean():
    """A running float32 sum of 10^7 equal numbers is off by percents; a sum in blocks is not."""
    x = np.full(10_000_000, 0.1, np.float32)
    assert_block_equal(compute(statistic.full_block, [x]), block(x), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_piece_of_a_large_tensor_counts(dtype):
    x = np.random.default_rng(0).normal(7, 1, 2 * statistic.PIECE + 1_000).astype(dtype)
    x[5], x[statistic.PIECE - 1], x[statistic.PIECE] = np.nan, -np.inf, np.inf
    x[statistic.PIECE + 7], x[-1], x[-2], x[0] = -30, 40, np.nan, 0
    assert_block_equal(statistic.full_block([tf.constant(x)], [x.size]).numpy(), block(x))


MEMORY_OF_A_BAD_STEP = """
import resource
import numpy as np, tensorflow as tf
from gradwatch import statistic

tensors = [tf.Variable(np.full(4_000_000, np.nan, np.float32)) for _ in range(8)]
run = tf.function(lambda: statistic.full_block([one.read_value() for one in tensors], [4_000_000] * 8))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
statistic.full_block([tf.constant([1.0, np.nan])], [2])
before = peak()
assert (run().numpy()[:, 5] == 4_000_000).all()
print((peak() - before) / 1024)
"""


def test_tensors_that_are_not_finite_need_no_memory_of_their_own_size():
    """The 128 MB of eight tensors are four times as much in float64 and its masks."""
    found = subprocess.run(
        [sys.executable, "-c", MEMORY_OF_A_BAD_STEP], capture_output=True, text=True, timeout=120, check=True
    )
    assert float(found.stdout) < 110


@pytest.mark.parametrize("size", [1, 100, 30_000])
@pytest.mark.parametrize("sick", [False, True], ids=["finite", "nonfinite"])
def test_unknown_static_shape(size, sick):
    x = np.linspace(-1, 2, size).astype(np.float32)
    if sick:
        x[0] = np.inf
    y = np.float32([1, 2, 3])
    signature = [tf.TensorSpec([None], tf.float32), tf.TensorSpec([3], tf.float32)]
    found = compute(statistic.full_block, [x, y], [size, 3], signature=signature)
    assert_block_equal(found, block(x, y), rtol=1e-5)


def test_no_tensors():
    assert compute(statistic.full_block, []).shape == (0, 12)
    assert compute(light_block, []).shape == (0, 12)


def test_complex_tensors_are_read_by_their_modulus():
    x = np.array([3 + 4j, 0, complex(np.nan, 1)], np.complex64)
    assert_block_equal(compute(statistic.full_block, [x]), block(np.abs(x)))


@pytest.mark.parametrize(
    ("norms", "expected"),
    [
        ([], 0.0),
        ([3.0, 4.0], 5.0),
        ([math.nan, 3.0, 4.0], 5.0),
        ([math.nan], 0.0),
        ([0.0, 0.0], 0.0),
        ([3e30, 4e30], 5e30),
        ([3e-30, 4e-30], 5e-30),
        ([3.4e38, 3.4e38], float(np.finfo(np.float32).max)),
        ([1.0, 1e-30], 1.0),
    ],
)
def test_global_norm(norms, expected):
    gradients = np.zeros((2, len(norms), len(NAMES)), np.float32)
    gradients[1, :, NAMES.index("norm")] = norms
    assert global_norm(gradients).tolist() == [0.0, pytest.approx(expected, rel=1e-6)]


VECTOR = [tf.TensorSpec([None], tf.float32)]
LENGTH_MAX = 60


@tf.function(input_signature=VECTOR)
def full_block_of(x):
    """One trace for vectors of every length: the number of elements stands for itself at run time."""
    return statistic.full_block([x], [tf.size(x)])


@tf.function(input_signature=VECTOR)
def light_block_of(x):
    """The size is known beforehand in a step: what is missing of it are zeros, and neither NaN nor Inf."""
    return light_block([x], [LENGTH_MAX])


VECTORS = arrays.arrays(
    np.float32,
    st.integers(1, LENGTH_MAX),
    elements=st.one_of(
        st.floats(width=32, allow_subnormal=False),
        st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.0, 1e-30, 1e30, float(np.float32(3.4e38))]),
    ),
)


@settings(max_examples=150, deadline=None)
@given(VECTORS)
def test_any_vector(x):
    expected = block(x)
    assert_block_equal(full_block_of(x).numpy(), expected, rtol=1e-4, mean_rtol=1e-5)
    light = light_block_of(x).numpy()
    assert (
        light[0, 0] == pytest.approx(expected[0, 0], rel=1e-5, abs=1e-15) or expected[0, 0] > np.finfo(np.float32).max
    )
    np.testing.assert_array_equal(light[:, 5:8], expected[:, 5:8])


@settings(max_examples=60, deadline=None)
@given(VECTORS, st.randoms(use_true_random=False))
def test_order_of_elements_does_not_matter(x, random):
    shuffled = list(x)
    random.shuffle(shuffled)
    assert_block_equal(full_block_of(np.array(shuffled, np.float32)).numpy(), block(x), rtol=1e-4, mean_rtol=1e-5)


LIKENESS = np.random.default_rng(5)
SAMPLES = {
    "apart": LIKENESS.normal(size=(9, 7)),
    "of a picture": LIKENESS.normal(size=(5, 4, 3, 2)),
    "almost alike": 1 + 1e-3 * LIKENESS.normal(size=(8, 64)),
    "alike but for their length": np.outer(LIKENESS.uniform(0.1, 10, 6), LIKENESS.normal(size=20)),
    "opposed": np.array([[1.0, 2.0], [-1.0, -2.0]]),
    "some are 0": np.concatenate([np.zeros((2, 5)), LIKENESS.normal(size=(3, 5))]),
    "all but one are 0": np.eye(4)[[0]] * np.array([[1.0], [0], [0]]),
    "all are 0": np.zeros((3, 4)),
    "one": LIKENESS.normal(size=(1, 4)),
    "none": np.zeros((0, 4)),
}


@pytest.mark.parametrize("is_known", [True, False], ids=["shape known", "shape unknown"])
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("name", SAMPLES)
def test_how_far_apart_samples_are(name, jit_compile, is_known):
    x = SAMPLES[name].astype(np.float32)
    spec = tf.TensorSpec(x.shape if is_known else [None] * x.ndim, tf.float32)

    @tf.function(jit_compile=jit_compile, input_signature=[spec])
    def run(given):
        return statistic.layer_row(given, statistic.LayerOutput(has_samples=True))

    found = run(x).numpy()[NAMES.index("cosine_distance")]
    np.testing.assert_allclose(found, cosine_distance(x), atol=2e-6, rtol=1e-2)


def spread_out(x):
    """The samples of a batch that are compared: as near to 16 as an even step leads to, and no more."""
    return x[:: max((len(x) + 8) // 16, 1)][:16]


def compared(x, jit_compile):
    run = tf.function(
        lambda x: statistic.layer_row(x, statistic.LayerOutput(has_samples=True)), jit_compile=jit_compile
    )
    return run(x).numpy()


ENDS = {
    "relu": ([0, 0, 0], [0, 1, 0], [0, 0, np.nan]),
    "relu6": ([0, 6, 6], [0, 5, 6], [6, 6, np.nan]),
    "sigmoid": ([0, 1, 1e-7], [0, 1, 1e-3], [1, 1, np.nan]),
    "hard_sigmoid": ([1, 1, 0], [1, 0.5, 0], [0, 0, np.nan]),
    "tanh": ([-1, 1, 1], [-1, 0.99, 1], [1, 1, np.nan]),
    "hard_tanh": ([1, 1, -1], [1, 0, 1], [-1, -1, np.nan]),
}
"""Units over a batch of three: one that is flat throughout, one that is not, one that is not finite once."""


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("activation", ENDS)
def test_units_that_are_flat_for_the_whole_batch(activation, dtype, jit_compile):
    x = tf.cast(tf.transpose(tf.constant(ENDS[activation])), dtype)
    run = tf.function(lambda x: statistic.layer_row(x, statistic.LayerOutput(activation)), jit_compile=jit_compile)
    assert run(x).numpy()[NAMES.index("n_saturated")] == 3


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("jit_compile", [False, True])
def test_how_far_apart_samples_of_another_type_are(dtype, jit_compile):
    x = tf.cast(SAMPLES["of a picture"], dtype)
    found = compared(x, jit_compile)[NAMES.index("cosine_distance")]
    np.testing.assert_allclose(found, cosine_distance(tf.cast(x, tf.float64).numpy()), rtol=1e-4)


@pytest.mark.parametrize("is_known", [True, False], ids=["shape known", "shape unknown"])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_several_layers_at_once(jit_compile, is_known):
    """Of one shape and of others, with samples and without, of which one is not finite, and a batch that is smaller."""
    random = np.random.default_rng(3)
    shapes = [(20, 6), (40, 6), (3, 6), (20, 2, 3), (20, 6), (20, 6)]
    values = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    values[4][2, 1] = np.nan
    outputs = [statistic.LayerOutput(has_samples=place not in (1, 5)) for place in range(len(shapes))]
    specs = [tf.TensorSpec(shape if is_known else [None, *shape[1:]]) for shape in shapes]

    @tf.function(jit_compile=jit_compile, input_signature=specs)
    def run(*tensors):
        return statistic.layer_rows_where(tf.constant(True), tensors, outputs)

    for found, x, output in zip(run(*values).numpy(), values, outputs, strict=True):
        expected = row(x)
        place = NAMES.index("cosine_distance")
        expected[place] = cosine_distance(spread_out(x)) if output.has_samples else np.nan
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("is_known", [True, False], ids=["shape known", "shape unknown"])
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("n", [16, 31, 32, 66])
def test_samples_from_all_over_the_batch_are_compared(n, jit_compile, is_known):
    """Steps of an episode in their order are like their neighbours, and tell those of another time apart."""
    x = np.repeat(np.eye(4, dtype=np.float32), [n - n // 2, 0, n // 2, 0], axis=0)
    spec = tf.TensorSpec(x.shape if is_known else [None, 4], tf.float32)

    @tf.function(jit_compile=jit_compile, input_signature=[spec])
    def run(given):
        return statistic.layer_row(given, statistic.LayerOutput(has_samples=True))

    found = run(tf.constant(x)).numpy()
    spread = spread_out(x)
    np.testing.assert_allclose(found[NAMES.index("cosine_distance")], cosine_distance(spread), rtol=1e-5)
    assert cosine_distance(spread) > 0
    assert found[NAMES.index("n_elements")] == n * 4


@pytest.mark.parametrize(
    "x", [np.ones((4, 1)), np.ones(4), np.ones(()), [[1.0, np.nan], [1.0, 2.0]], [[np.inf, 1.0]] * 2]
)
@pytest.mark.parametrize("jit_compile", [False, True])
def test_samples_that_have_no_direction(x, jit_compile):
    found = compared(tf.constant(x, tf.float32), jit_compile)
    assert np.isnan(found[NAMES.index("cosine_distance")])
