"""Statistics of tensors, in the graph: pure functions, tensors -> numbers. Owns no state.

A *row block* is float32 ``[n_tensors, 12]`` in the order of `gradwatch.protocol.STATISTICS`. NaN in a block means "not
captured, or undefined", never "the tensor held a NaN": that is what ``n_nan`` says.

On a CPU the cost of a statistic is memory passes over large tensors and op launches over small ones. So small tensors
of like size are laid side by side in one padded matrix and reduced along its rows, in float64, where squares of float32
neither overflow nor underflow and sums lose nothing. Large ones are reduced alone, in float32, by reductions that read
them once; their sum of squares tells whether all elements are finite and well scaled, and only where not they too are
reduced in float64, masked (`tf.cond`: a healthy step pays nothing). Compiled by XLA the exact reductions are one pass,
so there they are taken at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from gradwatch.protocol import FIRST_STATISTICS, STATISTICS
from gradwatch.reduction import MAX, MIN, SUM, reduce_rows, stack_columns
from gradwatch.shared import SharedFunction, has_gpu, leave_apart, static_shape
from gradwatch.xla import cond, is_under_xla, math_for, math_here

__all__ = [
    "NOTHING",
    "LayerOutput",
    "apart",
    "dense_values",
    "estimate_size",
    "full_block",
    "half_squares",
    "layer_row",
    "layer_rows_where",
    "light_rows",
    "shared_block",
    "step_block",
    "where",
]

SMALL_TENSOR_LIMIT: Final = 16_384
"""Elements up to which launching ops costs more than reading memory, so that tensors are reduced together."""

GROUP_RATIO: Final = 8
"""Tensors in one group differ in size by less than this: few groups, and little padding of what is small anyway."""

GROUP_RATIO_FUSED: Final = 64
"""The same under XLA, where each group is a loop to be compiled, in a tenth of a second or two."""

TOGETHER_SIZE_MAX: Final = 1 << 18
"""Elements up to which XLA reduces tensors of one shape by one loop: they are laid side by side in memory for that."""

TOGETHER_ELEMENTS_MAX: Final = 1 << 21
"""Elements that are laid side by side at most."""

PIECE: Final = 1 << 20
"""Elements of a large tensor that are looked at in float64 at a time, so that the memory for it is bounded."""

SQUARE_SUM_MIN: Final = 1e-30
"""Below this, squares of float32 (smallest normal number 1.2e-38) may have underflowed."""

ROW_LENGTH: Final = 128
"""Zeros in a row, at most: a byte holds them."""

ROWS_AT_ONCE: Final = 16
"""Rows of a large tensor that XLA is given to reduce."""

USUAL_BATCH: Final = 128

ILL_CONDITIONED_VARIANCE: Final = 1e-2
"""If variance / mean square is smaller, E[x^2] - E[x]^2 loses two digits or more in float32."""

N_SUMS: Final = 8
"""What `_exact_sums` and `_fast_sums` give of a tensor."""
N_OF_LAYERS: Final = len(STATISTICS) - len(FIRST_STATISTICS)
"""The last statistics, which only layers' tensors have."""

_NAN: Final = float("nan")
NOTHING: Final = np.full(len(STATISTICS), np.nan, np.float32)
"""The row of a tensor that was not captured."""
_LIGHT_MIDDLE: Final = np.array([_NAN, _NAN, _NAN, _NAN, 0, 0, 0, _NAN], np.float32)
"""``min`` to ``n_zero`` of a tensor of which only the norm is wanted, and that no element of it is not finite."""

FLAT_WITHIN: Final = 1e-6
"""How near its limit a sigmoid or tanh counts as flat: its slope is below 2e-6 there, so that nothing is learned."""

SAMPLES_MAX: Final = 16
"""Samples of a batch that are compared with one another: 120 pairs tell whether all are alike, at a bounded cost."""
Tensor = Any  # tensorflow ships no types

_FROM_END: Final[dict[str, tuple[Callable[[Tensor], Tensor], float]]] = {
    "relu": (lambda y: y, 0.0),
    "relu6": (lambda y: tf.minimum(y, 6 - y), 0.0),
    "sigmoid": (lambda y: 0.5 - tf.abs(y - 0.5), FLAT_WITHIN),
    "hard_sigmoid": (lambda y: 0.5 - tf.abs(y - 0.5), FLAT_WITHIN),
    "tanh": (lambda y: 1 - tf.abs(y), FLAT_WITHIN),
    "hard_tanh": (lambda y: 1 - tf.abs(y), FLAT_WITHIN),
}
"""How far the output of an activation function is from its nearest end, and within what it has (nearly) no slope there,
by the function's name."""


@contextmanager
def apart() -> Iterator[None]:
    """Ops made within are named as the hook's own, and no tape records them.

    A tape that is open around a step (a gradient penalty, meta-learning) would differentiate them too, which costs and
    which XLA cannot always compile. And where all functions are told to run eagerly, the hook's own are still graphs.
    """
    is_told = tf.config.functions_run_eagerly()
    if is_told:
        tf.config.run_functions_eagerly(False)
    try:
        with tf.name_scope("gradwatch"), record.stop_recording():
            yield
    finally:
        if is_told:
            tf.config.run_functions_eagerly(True)


def full_block(tensors: Sequence[Tensor], n_elements: Sequence[int]) -> Tensor:
    """All statistics of some tensors.

    With F the finite elements of x: norm = sqrt(sum_F x^2), mean = sum_F x / |F|, std = sqrt(sum_F (x - mean)^2 / |F|)
    (population), min and max over F.

    Args:
        tensors: dense tensors of any floating dtype; see `dense_values` for sparse ones.
        n_elements: the size of the tensor that each stands for. Where it is larger than the given tensor's own (a
            sparse gradient's rows), the rest counts as exact zeros.

    Returns:
        float32 ``[n, 12]``. Sums of large, well-scaled tensors are accumulated in float32, all others in float64. A
        tensor without finite elements has norm 0 and NaN for min, max, mean, std; an empty one too. A statistic beyond
        float32 is float32's largest number. Subnormal elements count as zero where TensorFlow's kernels flush them.
    """
    if not tensors:
        return tf.zeros([0, len(STATISTICS)], tf.float32)
    if all(isinstance(n, int) for n in n_elements) and all(tensor.shape.is_fully_defined() for tensor in tensors):
        return shared_block(tensors, tuple(n_elements), is_under_xla())
    return _block(tensors, n_elements, is_under_xla())


def _block(tensors: Sequence[Tensor], n_elements: Sequence[Any], is_fused: bool) -> Tensor:
    groups = _groups(tensors, GROUP_RATIO_FUSED if is_fused else GROUP_RATIO)
    alone = [i for i in range(len(tensors)) if i not in {i for members in groups for i in members}]
    sums = [_group_sums([tensors[i] for i in members], is_fused=is_fused) for members in groups]
    sums += _sums_alone([tensors[i] for i in alone], is_fused=is_fused)
    order = np.argsort([i for members in groups for i in members] + alone)
    stacked = tf.gather(tf.concat(sums, 0), order)
    sizes = [tensor.shape.num_elements() for tensor in tensors]
    if None in sizes:
        sizes = [tf.size(tensor) for tensor in tensors]
    return _rows(stacked, _totals(sizes), _totals(n_elements), is_fused=is_fused)


shared_block: Final = SharedFunction(_block, has_shapes=True)
"""`full_block`, given the sizes as a tuple and whether XLA compiles it. Gradients, weights and updates have the same
shapes: one trace does for all of them."""


def half_squares(tensors: Sequence[Tensor], beside: Sequence[Tensor] = ()) -> Tensor:
    """Half of each tensor's sum of squares, by one read, and behind them float32 scalars ``beside``: float32 ``[n]``.

    A sum is not finite where an element is not, or where its square or their sum is too large.
    """
    if not tensors or not is_under_xla():
        found = [*(tf.nn.l2_loss(_cast(tensor, tf.float32)) for tensor in tensors), *beside]
        return tf.stack(found) if found else tf.zeros([0])
    # One reduction for tensors of one size, for to XLA each is several kernels; large ones are not put together first.
    groups: dict[Any, list[int]] = {}
    for place, tensor in enumerate(tensors):
        size = tensor.shape.num_elements()
        groups.setdefault("large" if size is None or size > SMALL_TENSOR_LIMIT else size, []).append(place)
    sums = []
    for size, places in groups.items():
        some = [_cast(tensors[place], tf.float32) for place in places]
        if size == "large":
            rows = [tf.reduce_sum(tf.square(_in_rows(tensor)), axis=1) for tensor in some]
            sums += [tf.reduce_sum(row, keepdims=True) for row in rows]
        else:
            together = tf.stack([tf.reshape(tensor, [size]) for tensor in some])
            sums.append(tf.reduce_sum(tf.square(together), axis=1))
    order = np.argsort([place for places in groups.values() for place in places])
    halves = tf.gather(tf.concat(sums, 0) / 2, order)
    return tf.concat([halves, tf.stack(beside)], 0) if beside else halves


def step_block(
    tensors: Sequence[Tensor], n_elements: Sequence[int], is_due: Tensor, squares: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The block of a training step: full where it is due or an element is not finite, else norms alone, by one read.

    Args:
        tensors: as for `full_block`.
        n_elements: as for `full_block`.
        is_due: a bool scalar, whether all statistics are wanted at this step.
        squares: the `half_squares`, where they are known already.

    Returns:
        The block, float32 ``[n, 12]``, and whether it is full. One that is not has norms and counts (of zero
        non-finite elements), and NaN for what was not captured. Its norms below 1e-15 are rounded down, possibly to
        0: squares underflow there.
    """
    if not tensors:
        return full_block(tensors, n_elements), is_due
    if squares is None:
        squares = half_squares(tensors)
    is_full = is_due | ~tf.reduce_all(math_here().is_finite(squares))
    nothing = np.tile(NOTHING, (len(tensors), 1))
    (full,) = shared_block.where(is_full, [nothing], tensors, tuple(n_elements), is_under_xla())
    return tf.where(is_full, full, light_rows(squares, n_elements)), is_full


def where(is_due: Tensor, dear: Callable[[], Any], cheap: Callable[[], Any]) -> Any:
    """`cond`, in a graph, for what is dear and seldom due.

    The dear branch is a function of its own that is not inlined: a step in which it is not due skips one op, not some
    hundred of which the executor must find each to be dead.
    """
    as_one = tf.function(dear, experimental_attributes={"_noinline": True}, autograph=False)
    found = cond(is_due, as_one, cheap)
    leave_apart(tf.nest.flatten(found)[0].op.inputs[0].op)
    return found


class LayerOutput(NamedTuple):
    """What is to be known of a tensor that a layer gave, or of the gradient that came back to it.

    Attributes:
        activation: the name of the function that made it, for ``n_saturated``: the elements of units whose output is
            flat at every element of the batch. Another function, or None, has NaN there.
        has_samples: whether its first axis are the samples of a batch, for ``cosine_distance``: the mean of
            1 - cos(x_i, x_j) over the pairs of (up to 16 evenly spaced) samples, each flattened, that are not 0
            throughout. NaN for fewer than two of them, and for samples of one number, which have no direction.
    """

    activation: str | None = None
    has_samples: bool = False


class _LayerOptions(NamedTuple):
    """How a trace for layers' tensors is made."""

    is_scalar: bool
    activation: str | None
    has_samples: bool
    is_fused: bool


def layer_row(tensor: Tensor, output: LayerOutput) -> Tensor:
    """The statistics of a layer's tensor: float32 ``[12]``.

    Args:
        tensor: ``[..., n_units]`` of any floating dtype; its other dimensions may be unknown.
        output: what is to be known of it beside the usual.
    """
    return _rows_function()([tensor], (_layer_options(tensor, output),))[0]


def layer_rows_where(is_due: Tensor, tensors: Sequence[Tensor], outputs: Sequence[LayerOutput]) -> Tensor:
    """`layer_row` of each of some tensors, float32 ``[n, 12]``, where they are due, else NaN; in a graph."""
    options = tuple(_layer_options(*pair) for pair in zip(tensors, outputs, strict=True))
    (rows,) = _rows_function().where(is_due, [np.tile(NOTHING, (len(tensors), 1))], tensors, options)
    return rows


def _layer_options(tensor: Tensor, output: LayerOutput) -> _LayerOptions:
    rank = tensor.shape.rank
    is_compared = output.has_samples and rank is not None and rank >= 2 and tensor.shape[1:].num_elements() != 1
    return _LayerOptions(
        rank == 0, output.activation if output.activation in _FROM_END else None, is_compared, is_under_xla()
    )


def _sums_of_layer(tensors: Sequence[Tensor], options: _LayerOptions) -> Tensor:
    """A tensor's eight sums, its size and the two statistics that only layers' tensors have: float64 ``[11]``."""
    (sums,) = _sums_alone(tensors, is_fused=False)
    distance = _cosine_distance(tensors[0]) if options.has_samples else _NAN
    more = [tf.cast(one, tf.float64) for one in (tf.size(tensors[0]), _count_saturated(tensors[0], options), distance)]
    return tf.concat([sums[0], more], 0)


def _count_saturated(tensor: Tensor, options: _LayerOptions) -> Tensor:
    """The elements of units that are flat at every element of the batch, a float32 scalar; NaN where none can be."""
    if options.activation is None:
        return tf.constant(_NAN)
    matrix = tf.reshape(tensor, [-1, 1 if options.is_scalar else tf.shape(tensor)[-1]])
    from_end, limit = _FROM_END[options.activation]
    distances = from_end(tf.cast(matrix, tf.float32))
    if options.is_fused:  # by XLA, whose maximum may pass a NaN by
        is_flat = tf.reduce_all(distances <= limit, axis=0)
    else:  # in half the time
        is_flat = tf.reduce_max(distances, axis=0) <= limit
    return tf.math.count_nonzero(is_flat, dtype=tf.float32) * tf.cast(tf.shape(matrix)[0], tf.float32)


def _samples(tensor: Tensor) -> Tensor:
    """The samples that are compared, each flattened: float32 ``[n, n_numbers]``."""
    # From all over the batch: neighbours in a window, or steps of an episode in their order, are alike for themselves.
    every = tf.maximum((tf.shape(tensor)[0] + SAMPLES_MAX // 2) // SAMPLES_MAX, 1)
    some = _cast(tensor[::every][:SAMPLES_MAX], tf.float32)
    return tf.reshape(some, [tf.shape(some)[0], tf.reduce_prod(tf.shape(some)[1:])])


def _cosine_distance(tensor: Tensor) -> Tensor:
    """The mean cosine distance between samples, as `LayerOutput` says: a float32 scalar."""
    flat = _samples(tensor)
    lengths = tf.sqrt(tf.reduce_sum(tf.square(flat), axis=1, keepdims=True))
    n = tf.math.count_nonzero(lengths, dtype=tf.float32)
    # The cosines of all pairs, those of a sample with itself too, add up to the square of the sum of all directions.
    direction = tf.linalg.matmul(tf.math.divide_no_nan(1.0, lengths), flat, transpose_a=True)
    difference, n_pairs = tf.square(n) - 2 * tf.nn.l2_loss(direction), n * (n - 1)
    total = tf.maximum(difference, -difference)
    return tf.where(n_pairs > 0, total / tf.maximum(n_pairs, 1), _NAN)


def _cosine_distances(tensors: Sequence[Tensor]) -> Tensor:
    """`_cosine_distance` of several, float32 ``[n]``, by what XLA compiles fast: a product of each, the rest of all."""
    products = []
    for tensor in tensors:
        flat = _samples(tensor)
        n_missing = SAMPLES_MAX - tf.shape(flat)[0]
        products.append(tf.pad(tf.linalg.matmul(flat, flat, transpose_b=True), [[0, n_missing], [0, n_missing]]))
    together = tf.stack(products)
    lengths = math_for(True).sqrt(tf.linalg.diag_part(together))
    inverse = tf.math.divide_no_nan(1.0, lengths)
    cosines = together * inverse[:, :, None] * inverse[:, None, :]
    is_pair = (lengths[:, :, None] != 0) & (lengths[:, None, :] != 0) & ~tf.eye(SAMPLES_MAX, dtype=tf.bool)
    totals = tf.reduce_sum(tf.where(is_pair, 1 - cosines, 0.0), axis=[1, 2])
    n_pairs = tf.reduce_sum(tf.cast(is_pair, tf.float32), axis=[1, 2])
    return tf.where(n_pairs > 0, tf.maximum(totals, -totals) / tf.maximum(n_pairs, 1), _NAN)


def _rows_of_layers(tensors: Sequence[Tensor], options: Sequence[_LayerOptions]) -> Tensor:
    is_fused = options[0].is_fused
    if is_fused:
        found = _sums_of_layers_compiled(tensors, options)
    else:
        found = tf.stack([_layer_sums([tensor], some) for tensor, some in zip(tensors, options, strict=True)])
    sums, sizes, of_layers = tf.split(found, [N_SUMS, 1, N_OF_LAYERS], axis=1)
    rows = _rows(sums, sizes[:, 0], sizes[:, 0], is_fused=is_fused)
    return tf.concat([rows[:, :-N_OF_LAYERS], tf.cast(of_layers, tf.float32)], 1)


def _sums_of_layers_compiled(tensors: Sequence[Tensor], options: Sequence[_LayerOptions]) -> Tensor:
    """`_sums_of_layer` of each, float64 ``[n, 11]``, in as few loops as may be: to compile one takes XLA 0.1 s."""
    distances = np.full(len(tensors), _NAN, np.float32)
    compared = [place for place, some in enumerate(options) if some.has_samples]
    if compared:
        found = tf.concat([_cosine_distances([tensors[place] for place in compared]), [_NAN]], 0)
        distances = tf.gather(
            found, [compared.index(i) if i in compared else len(compared) for i in range(len(tensors))]
        )
    saturated = tf.stack([_count_saturated(*pair) for pair in zip(tensors, options, strict=True)])
    sizes = tf.stack([tf.cast(tf.size(tensor), tf.float32) for tensor in tensors])
    more = tf.cast(tf.stack([sizes, saturated, distances], axis=1), tf.float64)
    return tf.concat([*_sums_alone(tensors, is_fused=True), more], 1)


_layer_sums: Final = SharedFunction(_sums_of_layer)
_layer_rows: Final = SharedFunction(_rows_of_layers)
_layer_rows_compiled: Final = SharedFunction(_rows_of_layers, has_shapes=True)


def _rows_function() -> SharedFunction:
    """What measures layers' tensors here: under XLA those of one shape together, so that shapes must be known."""
    return _layer_rows_compiled if is_under_xla() else _layer_rows


def light_rows(squares: Tensor, n_elements: Sequence[Any]) -> Tensor:
    """The rows of tensors without a non-finite element, of which no more is wanted: float32 ``[n, 12]``.

    Args:
        squares: their `half_squares`, finite.
        n_elements: their sizes, known now or only at run time.
    """
    n = len(n_elements)
    middle = np.tile(_LIGHT_MIDDLE, (n, 1))
    sizes = tf.reshape(tf.cast(_totals(n_elements), tf.float32), [n, 1])
    last = np.full((n, N_OF_LAYERS), _NAN, np.float32)
    return tf.concat([tf.reshape(math.sqrt(2) * math_here().sqrt(squares), [n, 1]), middle, sizes, last], 1)


def dense_values(gradient: Tensor) -> Tensor:
    """The values of a gradient, with the rows of an `tf.IndexedSlices` that share an index summed.

    The result of a sparse gradient has as many rows as the slices had (summed ones first, zeros after), or the
    variable's if those are fewer: an embedding is not made dense. Works under XLA, where `tf.unique` does not.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    order = tf.argsort(gradient.indices)
    indices = tf.gather(gradient.indices, order)
    values = tf.gather(gradient.values, order)
    is_new = tf.cast(indices[1:] != indices[:-1], tf.int32)
    segments = tf.concat([tf.zeros_like(indices[:1], tf.int32), tf.cumsum(is_new)], 0)
    n_rows = tf.shape(values, tf.int64)[0]
    if gradient.dense_shape is not None:  # more slices than the variable has rows: no row is left out
        n_rows = tf.minimum(n_rows, tf.cast(gradient.dense_shape[0], tf.int64))
    return tf.math.unsorted_segment_sum(values, segments, n_rows)


def _totals(counts: Sequence[Any]) -> Tensor:
    """Counts, known now or only at run time, as float64 ``[n]``."""
    if all(isinstance(count, int) for count in counts):
        return tf.constant(counts, tf.float64)
    return tf.stack([tf.cast(count, tf.float64) for count in counts])


def _groups(tensors: Sequence[Tensor], ratio: int) -> list[list[int]]:
    """Sorts small tensors of static shape into groups of like size."""
    classes: dict[int, list[int]] = {}
    for i, tensor in enumerate(tensors):
        size = tensor.shape.num_elements()
        if size is not None and size <= SMALL_TENSOR_LIMIT:
            key = 0 if size <= 1 else math.ceil(math.log(size, ratio))
            classes.setdefault(key, []).append(i)
    return list(classes.values())


def _group_sums(tensors: Sequence[Tensor], *, is_fused: bool) -> Tensor:
    """The sums of small tensors, as the rows of one matrix padded with zeros: float64 ``[k, 8]``."""
    shared = tensors[0].dtype if len({tensor.dtype for tensor in tensors}) == 1 else tf.float64
    dtype = tf.float64 if shared.is_complex else shared
    one_axis = tf.constant([-1])
    flat = [tf.reshape(_cast(tensor, dtype), one_axis) for tensor in tensors]
    sizes = [vector.shape.num_elements() for vector in flat]
    width = max(sizes)
    mask = None
    if min(sizes) < width:
        mask = tf.constant(np.arange(width)[None, :] < np.asarray(sizes)[:, None])
        pads = {size: tf.zeros([width - size], dtype) for size in sizes if size < width}
        pieces = [piece for vector, size in zip(flat, sizes, strict=True) for piece in (vector, pads.get(size))]
        flat = [piece for piece in pieces if piece is not None]
    matrix = tf.cast(tf.reshape(tf.concat(flat, 0), [len(tensors), width]), tf.float64)
    return _exact_sums(matrix, mask, is_fused=is_fused)


def _sums_alone(tensors: Sequence[Tensor], *, is_fused: bool) -> list[Tensor]:
    """The sums of large tensors, float64 ``[n, 8]`` in pieces: fast, or exact if one is not finite and well scaled."""
    flat = [tf.reshape(_cast(t, t.dtype if t.dtype == tf.float64 else tf.float32), [-1]) for t in tensors]
    if is_fused:
        return [_sums_compiled(flat, [(t.dtype, static_shape(t)) for t in tensors])] if flat else []
    is_fast = [vector.dtype == tf.float32 and vector.shape.num_elements() != 0 for vector in flat]
    fast = [vector for vector, chosen in zip(flat, is_fast, strict=True) if chosen]
    found: Any = iter(())
    if fast:
        sums, is_usable = _fast_sums(fast)
        # One branch for all: a cond costs more than what it might save.
        sums = tf.cond(is_usable, lambda: sums, lambda: tf.concat(_exact_in_turn(fast), 0))
        found = iter(tf.split(sums, len(fast)))
    return [next(found) if chosen else _exact_vector_sums([v], False) for v, chosen in zip(flat, is_fast, strict=True)]


def _sums_compiled(vectors: Sequence[Tensor], kinds: Sequence[tuple[Any, tuple[int | None, ...] | None]]) -> Tensor:
    """The sums of vectors, float64 ``[n, 8]``, where XLA compiles them: of tensors of one type and shape by one loop.

    Args:
        vectors: the tensors, flattened.
        kinds: their types and shapes, as far as they are known.
    """
    groups: dict[Any, list[int]] = {}
    for place, (dtype, shape) in enumerate(kinds):
        size = None if shape is None else estimate_size(shape)
        is_small = size is not None and size <= TOGETHER_SIZE_MAX
        groups.setdefault((dtype, shape) if is_small else place, []).append(place)
    found, order = [], []
    for places in groups.values():
        size = 1 if len(places) == 1 else estimate_size(kinds[places[0]][1] or ())
        n_max = max(1, TOGETHER_ELEMENTS_MAX // max(1, size))
        for first in range(0, len(places), n_max):
            some = [vectors[place] for place in places[first : first + n_max]]
            found.append(_exact_vector_sums(some, True) if len(some) == 1 else _sums_side_by_side(some))
            order += places[first : first + n_max]
    return tf.gather(tf.concat(found, 0), np.argsort(order))


def _sums_side_by_side(vectors: Sequence[Tensor]) -> Tensor:
    """The sums of vectors that are about as long as one another, as the rows of one matrix: float64 ``[k, 8]``."""
    if all(vector.shape.is_fully_defined() for vector in vectors):
        return _exact_sums(tf.cast(tf.stack(vectors), tf.float64), None, is_fused=True)
    sizes = tf.stack([tf.size(vector) for vector in vectors])  # alike, but who knows
    width = tf.reduce_max(sizes)
    rows = [tf.concat([vector, tf.zeros([width - tf.size(vector)], vector.dtype)], 0) for vector in vectors]
    mask = tf.range(width)[None, :] < sizes[:, None]
    return _exact_sums(tf.cast(tf.stack(rows), tf.float64), mask, is_fused=True)


def _exact_in_turn(vectors: Sequence[Tensor]) -> list[Tensor]:
    """The exact sums of vectors, one after another: a bad step must not need the memory of all of them at once."""
    found: list[Tensor] = []
    for vector in vectors:
        with tf.control_dependencies(found[-1:]):
            found.append(_exact_vector_sums([vector], False))
    return found


def _fast_sums(vectors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The sums of large float32 vectors by float32 reductions, and whether they can be believed."""
    square_sum, total, low, high, n_zero = (
        tf.cast(tf.stack([reduce(vector) for vector in vectors]), tf.float64)
        for reduce in (_square_sum, tf.reduce_sum, tf.reduce_min, tf.reduce_max, _zero_count)
    )
    sizes = _totals([vector.shape.num_elements() or tf.size(vector) for vector in vectors])
    mean_square = square_sum / sizes
    variance = mean_square - tf.square(total / sizes)
    is_scaled = (square_sum > SQUARE_SUM_MIN) | ((low == 0) & (high == 0))
    is_conditioned = (variance > ILL_CONDITIONED_VARIANCE * mean_square) | (low == high)
    is_usable = tf.reduce_all(tf.math.is_finite(square_sum) & is_scaled & is_conditioned)
    zero = tf.zeros_like(total)
    return tf.stack([square_sum, total, low, high, zero, zero, zero, n_zero], axis=1), is_usable


def _square_sum(vector: Tensor) -> Tensor:
    return 2 * tf.nn.l2_loss(vector)


def _zero_count(vector: Tensor) -> Tensor:
    """How many elements are 0: an eighth of the time of `tf.math.count_nonzero`, for short rows are summed first."""
    size = vector.shape.num_elements()
    n_in_rows = (tf.size(vector) if size is None else size) // ROW_LENGTH * ROW_LENGTH
    # A GPU has no kernel that sums bytes, nor int32 but on its host.
    short = tf.float32 if has_gpu() else tf.uint8
    rows = tf.reduce_sum(tf.reshape(tf.cast(vector[:n_in_rows] == 0, short), [-1, ROW_LENGTH]), axis=1)
    rest = tf.cast(vector[n_in_rows:] == 0, tf.int64)
    return tf.reduce_sum(tf.cast(rows, tf.int64)) + tf.reduce_sum(rest)


def estimate_size(shape: Iterable[int | None]) -> int:
    """Elements of a tensor of some shape; an unknown dimension counts as a usual batch."""
    return math.prod(dimension or USUAL_BATCH for dimension in shape)


def _exact_sums(x: Tensor, mask: Tensor | None, *, is_fused: bool) -> Tensor:
    """The sums of the rows of a float64 matrix by masked reductions, right for any content: ``[k, 8]``.

    The columns: square sum, sum, minimum and maximum of the finite elements, and the counts of NaN, +Inf, -Inf and 0.
    """

    def among(condition: Tensor) -> Tensor:
        return condition if mask is None else condition & mask

    functions = math_for(is_fused)
    finite = among(functions.is_finite(x))
    clean = tf.where(finite, x, tf.zeros_like(x))
    conditions = (functions.is_nan(x), x == math.inf, x == -math.inf, x == 0)
    reductions = [
        (SUM, tf.square(clean)),
        (SUM, clean),
        (MIN, tf.where(finite, x, math.inf)),
        (MAX, tf.where(finite, x, -math.inf)),
        *((SUM, tf.cast(among(condition), tf.float64)) for condition in conditions),
    ]
    return tf.stack(reduce_rows(reductions, is_fused=is_fused), axis=1)


def _vector_sums(tensors: Sequence[Tensor], is_fused: bool) -> Tensor:
    vector = tf.reshape(tensors[0], [-1])

    def sums_of(piece: Tensor) -> Tensor:
        return _exact_sums(tf.cast(piece, tf.float64)[None, :], None, is_fused=False)

    def add(start: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
        return start + PIECE, _combined(tf.concat([sums, sums_of(vector[start : start + PIECE])], 0))

    if is_fused:  # by XLA, in one pass: none of it is kept
        return _combined(_exact_sums(tf.cast(_in_rows(vector), tf.float64), None, is_fused=True))
    first = (tf.constant(PIECE), sums_of(vector[:PIECE]))
    return tf.while_loop(lambda start, _: start < tf.size(vector), add, first, parallel_iterations=1)[1]


_exact_vector_sums: Final = SharedFunction(_vector_sums)


def _combined(sums: Tensor) -> Tensor:
    """The sums of several pieces, ``[k, 8]``, as those of the whole, ``[1, 8]``."""
    low, high = tf.reduce_min(sums[:, 2]), tf.reduce_max(sums[:, 3])
    total = tf.reduce_sum(sums, axis=0)
    return tf.concat([total[:2], [low, high], total[4:]], 0)[None, :]


def _in_rows(tensor: Tensor) -> Tensor:
    """The elements as rows of one length, which XLA reduces side by side on several cores; else as one."""
    size = tf.size(tensor)  # XLA knows it, where the trace does not
    n_rows = tf.where((size > SMALL_TENSOR_LIMIT) & (size % ROWS_AT_ONCE == 0), ROWS_AT_ONCE, 1)
    return tf.reshape(tensor, [n_rows, size // n_rows])


def _rows(sums: Tensor, sizes: Tensor, totals: Tensor, *, is_fused: bool) -> Tensor:
    """The statistics float32 ``[n, 12]`` from sums ``[n, 8]``, the tensors' own sizes and what they stand for."""
    square_sum, total, low, high, n_nan, n_pos_inf, n_neg_inf, n_zero = tf.unstack(sums, axis=1)
    sqrt = math_for(is_fused).sqrt
    n_left_out = totals - sizes  # exact zeros that a sparse gradient does not store
    n_finite = totals - n_nan - n_pos_inf - n_neg_inf
    divisor = tf.maximum(n_finite, 1)
    mean = total / divisor
    low = tf.where(n_left_out > 0, tf.minimum(low, 0), low)
    high = tf.where(n_left_out > 0, tf.maximum(high, 0), high)
    is_huge = square_sum == math.inf  # float64 beyond 1e154: far beyond what a row can tell
    variance = tf.where(is_huge, square_sum, tf.maximum(square_sum / divisor - tf.square(mean), 0))
    std = tf.where(low == high, tf.zeros_like(variance), sqrt(variance))
    low, high, mean, std = (tf.where(n_finite > 0, value, _NAN) for value in (low, high, mean, std))
    columns = [sqrt(square_sum), low, high, mean, std, n_nan, n_pos_inf, n_neg_inf, n_zero + n_left_out, totals]
    columns += [tf.fill(tf.shape(totals), tf.constant(_NAN, tf.float64))] * N_OF_LAYERS
    rows = stack_columns(columns, is_fused=is_fused)
    limit = tf.constant(tf.float32.max, tf.float64)
    return tf.cast(tf.where(rows > limit, limit, tf.where(rows < -limit, -limit, rows)), tf.float32)


def _cast(tensor: Tensor, dtype: Any) -> Tensor:
    if tensor.dtype.is_complex:
        tensor = tf.abs(tensor)
    return tensor if tensor.dtype == dtype else tf.cast(tensor, dtype)
