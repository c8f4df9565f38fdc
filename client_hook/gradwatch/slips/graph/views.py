"""Losses that ask of each row of a batch which other one is the same sample, in the graph. Owns no state.

Two views of each sample are described, and their rows laid into one table: one half behind the other, or in turn. A
softmax over the likenesses of all rows is asked for the other view (Chen et al., "A simple framework for contrastive
learning of visual representations", 2020). Where its places are counted for the other order they are other samples'.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from gradwatch.origin import slip_of, source_of
from gradwatch.walk import ADDING, GIVEN, SHAPES, behind, given_tensors, passed, reads_variable

__all__ = ["find_views"]

ASKING: Final = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
PRODUCTS: Final = {"BatchMatMulV2": ("adj_x", "adj_y"), "MatMul": ("transpose_a", "transpose_b")}
LIKENESS: Final = ADDING | {
    *("Cast", "Identity", "MatrixSetDiagV3", "Mul", "RealDiv", "Reshape", "Select", "SelectV2", "Sub"),
}
"""What likenesses pass, row by row, on their way to a softmax."""
BY_ROW: Final = frozenset(
    {
        *("Abs", "Add", "AddV2", "AvgPool", "BatchMatMulV2", "BiasAdd", "Cast", "ClipByValue", "Conv2D", "Conv3D"),
        *("Cos", "DepthwiseConv2dNative", "DivNoNan", "Elu", "Erf", "Exp", "FloorMod", "FusedBatchNormV3", "Identity"),
        *("LeakyRelu", "Log", "MatMul", "MaxPool", "Maximum", "Minimum", "MirrorPad", "Mul", "Neg", "Pad", "PadV2"),
        *("Pow", "RealDiv", "Relu", "Relu6", "Rsqrt", "Select", "SelectV2", "Selu", "Sigmoid", "Sin", "Softmax"),
        *("Softplus", "Sqrt", "Square", "SquaredDifference", "StopGradient", "Sub", "Tanh"),
    }
)
"""What gives a row for each row; of what is not added or multiplied number by number, those of the first input."""
OF_FIRST: Final = frozenset(
    {"BatchMatMulV2", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "FusedBatchNormV3", "MatMul"}
)
REDUCING: Final = frozenset({"Max", "Mean", "Min", "Prod", "Sum"})
COUNTED: Final = frozenset(
    {
        *("Add", "AddN", "AddV2", "BitwiseXor", "BroadcastTo", "Cast", "ConcatV2", "Equal", "ExpandDims", "Fill"),
        *("FloorDiv", "FloorMod", "Identity", "MatrixDiagV3", "Mul", "Neg", "OneHot", "OnesLike", "Pack", "Prod"),
        *("Range", "RealDiv", "Reshape", "Roll", "SelectV2", "Slice", "Squeeze", "StopGradient", "StridedSlice", "Sub"),
        *("Tile", "Transpose", "TruncateDiv", "TruncateMod", "ZerosLike"),
    }
)
"""What places are computed with."""
N: Final = 6
"""Samples, where their number is not known."""
NUMBERS_MAX: Final = 1 << 20
DEPTH_MAX: Final = 24
Tensor = Any  # tensorflow ships no types
Rows = NDArray[Any]
"""Which sample each row is of, along one leading axis or several."""


def find_views(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first softmax over the likenesses of a batch's rows that is asked for a place in each of them.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line, and ``contends``: True, which is no slip. Or, of what laid the rows,
        ``positives``: how many rows there are, and of the first the place that is asked for and that of its sample.
    """
    for op in forward:
        product = _likeness_of(op) if op.type in ASKING else None
        if product is not None:
            table = _Table(forward)
            strange = table.first_strange(op, product)
            if strange is None:
                return [slip_of(op, layer_paths) | {"type": "Contest", "contends": True}]
            laid = table.laid.get(_sides(product)[1].name, product)
            return [slip_of(laid, layer_paths) | {"source": source_of(laid), "positives": strange}]
    return []


def _likeness_of(asking: Any) -> Any:
    """The one product of two tables of rows that a softmax is taken of, which weights made; None without one."""
    products = [op for op in behind([asking.inputs[0].op], through=LIKENESS) if op.type in PRODUCTS]
    sides = [] if len(products) != 1 else _sides(products[0])
    is_found = bool(sides) and all(given_tensors(one) and reads_variable(one, None) for one in sides)
    is_square = is_found and asking.inputs[0].shape.rank == 2 and products[0].outputs[0].shape.rank == 2
    return products[0] if is_square else None


def _sides(product: Any) -> list[Tensor]:
    """The two tables of which each row of the one meets each of the other; none where it is another product."""
    first, second = PRODUCTS[product.type]
    one, other = product.inputs
    if product.get_attr(first):
        return []
    if product.get_attr(second):
        return [one, other]
    turned = passed(other, {"Identity"})
    return [one, turned.inputs[0]] if turned.type == "Transpose" else []


class _Table:
    """Which sample each row is of, of what a step computes, as far as it is known.

    Attributes:
        laid: by the names of tensors what put their rows into their order.
    """

    def __init__(self, forward: Sequence[Any]) -> None:
        self.laid: dict[str, Any] = {}
        self._rows: dict[str, Rows] = {}
        self._n_samples = 0
        for op in forward:
            for place, output in enumerate(op.outputs):
                rows = self._rows_of(op, place) if output.shape.rank else None
                if rows is None or rows.size > NUMBERS_MAX or not _fits(rows, output):
                    continue
                self._rows[output.name] = rows
                sources = [op] if op.type in ("ConcatV2", "Pack", "Reshape", "Tile") else []
                before = [self.laid[one.name] for one in op.inputs if one.name in self.laid]
                is_moved = not any(np.array_equal(rows, self._rows.get(one.name, [])) for one in op.inputs)
                found = sources if sources and is_moved else before
                if found:
                    self.laid[output.name] = found[0]

    def first_strange(self, asking: Any, product: Any) -> list[int] | None:
        """How many rows there are, where the first is asked for, and where its sample is; None where most are right."""
        one, other = (self._rows.get(side.name) for side in _sides(product))
        asked = self._places(asking.inputs[1])
        if one is None or other is None or asked is None or one.ndim != 1 or other.ndim != 1:
            return None
        if asked.shape != one.shape or not ((asked >= 0) & (asked < len(other))).all():
            return None
        same = one[:, None] == other[None]
        first, second = _sides(product)
        if passed(first, {"Identity"}) is passed(second, {"Identity"}):
            np.fill_diagonal(same, val=False)
        if not same.any(1).all() or same[np.arange(len(one)), asked].mean() >= 0.5:
            return None
        return [len(one), int(asked[0]), int(same[0].argmax())]

    def _places(self, labels: Tensor) -> Rows | None:
        """The place that is asked for in each row; None where data tell."""
        values = self._value(labels)
        if values is None or values.ndim == 1:
            return values
        is_one = values.ndim == 2 and values.size > 0 and bool(((values > 0).sum(1) == 1).all())
        return values.argmax(1) if is_one else None

    def _fresh(self, n: int | None) -> Rows:
        n = N if n is None else n
        self._n_samples += n
        return np.arange(self._n_samples - n, self._n_samples)

    def _rows_of(self, op: Any, place: int) -> Rows | None:
        if op.type in GIVEN:
            output = op.outputs[place]
            return None if output.dtype == tf.resource or output.shape[0] == 1 else self._fresh(output.shape[0])
        if op.type in _LAYING:
            return _LAYING[op.type](self, op)
        if op.type in REDUCING:
            rows, axes = self._rows.get(op.inputs[0].name), self._value(op.inputs[1])
            rank = op.inputs[0].shape.rank
            is_kept = rows is not None and axes is not None and rank and (axes % rank >= rows.ndim).all()
            return rows if is_kept else None
        if op.type not in BY_ROW:
            return None
        read = op.inputs[:1] if op.type in OF_FIRST else op.inputs
        known = [self._rows[one.name] for one in read if one.name in self._rows]
        is_turned = op.type in PRODUCTS and op.get_attr(PRODUCTS[op.type][0])
        return known[0] if known and not is_turned and all(np.array_equal(known[0], one) for one in known) else None

    def _pack(self, op: Any) -> Rows | None:
        parts = [self._rows.get(one.name) for one in op.inputs]
        axis, rank = op.get_attr("axis"), op.inputs[0].shape.rank or 0
        axis = axis % (rank + 1)
        if axis == 0 or rank < 2:
            return None if rank < 2 or any(one is None or one.ndim != 1 for one in parts) else _stack(parts, 0)
        first = parts[0]
        is_one = first is not None and all(one is not None and np.array_equal(one, first) for one in parts)
        if axis > 1:
            return first if is_one else None
        # Row by row beside one another: whatever they are made of, they belong together.
        n = len(first) if first is not None else op.inputs[0].shape[0]
        return _stack([first if is_one else self._fresh(n)] * len(parts), 1)

    def _concat(self, op: Any) -> Rows | None:
        parts = [self._rows.get(one.name) for one in op.inputs[:-1]]
        axis = self._value(op.inputs[-1])
        if axis is None or not op.inputs[0].shape.rank:
            return None
        if int(axis) % op.inputs[0].shape.rank == 0:
            return None if any(one is None or one.ndim != 1 for one in parts) else np.concatenate(_known(parts))
        known = _known(parts)
        return known[0] if known and all(np.array_equal(one, known[0]) for one in known) else None

    def _reshape(self, op: Any) -> Rows | None:
        rows, before, after = self._rows.get(op.inputs[0].name), op.inputs[0].shape, op.outputs[0].shape
        if rows is None or before.rank is None:
            return None
        to = self._value(op.inputs[1])
        lengths = [*after] if to is None else [None if one < 0 else int(one) for one in to]
        own, others = before[rows.ndim :], after[1:]
        if lengths and lengths[0] is None and own.is_fully_defined() and others.is_fully_defined():
            lengths[0] = rows.size * own.num_elements() // max(others.num_elements(), 1)
        size = 1
        for n, length in enumerate(lengths, 1):
            if length is None:
                break
            size *= length
            if size == rows.size:
                return rows.reshape(lengths[:n])
        return None

    def _transpose(self, op: Any) -> Rows | None:
        rows, order = self._rows.get(op.inputs[0].name), self._value(op.inputs[1])
        if rows is None or order is None or sorted(order[: rows.ndim]) != list(range(rows.ndim)):
            return None
        return np.transpose(rows, order[: rows.ndim])

    def _expand(self, op: Any) -> Rows | None:
        rows, axis = self._rows.get(op.inputs[0].name), self._value(op.inputs[1])
        is_behind = rows is not None and axis is not None and int(axis) % op.outputs[0].shape.rank >= rows.ndim
        return rows if is_behind else None

    def _squeeze(self, op: Any) -> Rows | None:
        rows, axes = self._rows.get(op.inputs[0].name), op.get_attr("squeeze_dims")
        is_behind = rows is not None and axes and all(one % op.inputs[0].shape.rank >= rows.ndim for one in axes)
        return rows if is_behind else None

    def _slice(self, op: Any) -> Rows | None:
        rows = self._rows.get(op.inputs[0].name)
        is_whole = op.get_attr("begin_mask") & op.get_attr("end_mask") & 1 and not op.get_attr("shrink_axis_mask") & 1
        steps = self._value(op.inputs[3])
        is_plain = not op.get_attr("new_axis_mask") and not op.get_attr("ellipsis_mask")
        is_kept = is_whole and is_plain and steps is not None and steps[0] == 1
        return rows if is_kept and rows is not None and rows.ndim == 1 else None

    def _tile(self, op: Any) -> Rows | None:
        rows, times = self._rows.get(op.inputs[0].name), self._value(op.inputs[1])
        if rows is None or rows.ndim != 1 or times is None:
            return None
        shape = op.inputs[0].shape
        rows = np.tile(rows, int(times[0]))
        is_apart = shape.rank > 2 and shape[1] == 1 and times[1] > 1
        return np.repeat(rows[:, None], int(times[1]), 1) if is_apart else rows

    def _gather(self, op: Any) -> Rows | None:
        if op.type == "GatherV2" and op.get_attr("batch_dims"):
            return self._rows.get(op.inputs[0].name)
        if op.type == "GatherV2":
            axis = self._value(op.inputs[2])
            if axis is None or axis % (op.inputs[0].shape.rank or 1):
                return self._rows.get(op.inputs[0].name) if axis is not None else None
        return self._fresh(op.outputs[0].shape[0]) if op.outputs[0].shape[0] else None

    def _value(self, tensor: Tensor, depth: int = DEPTH_MAX) -> Rows | None:
        """What a tensor holds that depends on no data but their number; None of anything else."""
        op = tensor.op
        if op.type == "Const":
            known = tf.get_static_value(tensor)
            return None if known is None else np.asarray(known)
        if op.type in SHAPES:
            return self._shape(op.inputs[0]) if op.type == "Shape" else None
        if op.type not in COUNTED or not depth:
            return None
        if op.type == "StridedSlice" and op.inputs[0].op.type == "Shape":
            known = tf.get_static_value(tensor)  # of a shape that is known in part
            if known is not None:
                return np.asarray(known)
        values = [self._value(one, depth - 1) for one in op.inputs]
        if any(one is None or one.size > NUMBERS_MAX for one in values):
            return None
        return _run(op, _known(values))

    def _shape(self, tensor: Tensor) -> Rows | None:
        """A shape, with -1 where nothing is known."""
        if tensor.shape.rank is None:
            return None
        rows = self._rows.get(tensor.name)
        first = () if rows is None else rows.shape
        return np.array([*first, *(-1 if one is None else one for one in tensor.shape[len(first) :])], np.int32)


_LAYING: Final[Mapping[str, Callable[[_Table, Any], Rows | None]]] = {
    "ConcatV2": _Table._concat,
    "ExpandDims": _Table._expand,
    "GatherV2": _Table._gather,
    "Pack": _Table._pack,
    "RandomShuffle": _Table._gather,
    "Reshape": _Table._reshape,
    "Squeeze": _Table._squeeze,
    "StridedSlice": _Table._slice,
    "Tile": _Table._tile,
    "Transpose": _Table._transpose,
}


def _known(parts: Sequence[Rows | None]) -> list[Rows]:
    return [one for one in parts if one is not None]


def _stack(parts: Sequence[Rows | None], axis: int) -> Rows | None:
    known = _known(parts)
    return np.stack(known, axis) if len({one.shape for one in known}) == 1 else None


def _fits(rows: Rows, tensor: Tensor) -> bool:
    return tensor.shape.rank >= rows.ndim and bool(tensor.shape[: rows.ndim].is_compatible_with(rows.shape))


def _run(op: Any, values: Sequence[Rows]) -> Rows | None:
    """What an operation gives of these inputs."""
    function = getattr(tf.raw_ops, op.type)
    named: dict[str, Any] = {}
    rest = list(values)
    for one in op.op_def.input_arg:
        n = op.get_attr(one.number_attr) if one.number_attr else 1
        named[one.name] = rest[:n] if one.number_attr else rest[0]
        rest = rest[n:]
    for name in inspect.signature(function).parameters:
        if name != "name" and name not in named:
            named[name] = op.get_attr(name)
    try:
        with tf.init_scope(), tf.device("CPU:0"):
            return np.asarray(function(**named))
    except (TypeError, ValueError, tf.errors.OpError):  # a length that is not known
        return None
