"""What a matrix of places holds on and beside its diagonal, known while a step is traced. Owns no state.

A causal mask depends on nothing but how far a column lies behind its row. So it is computed for a few such distances
alone, from constants, ranges and bands, whatever the matrix' size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.constants import constant
from gradwatch.tap import find_outer

__all__ = ["OFFSETS", "find_diagonals"]

OFFSETS: Final = np.arange(-2, 3)
"""How far a column lies behind its row, on the diagonals that are looked at."""
PLACES: Final = np.array([[0], [1], [3], [11]])
"""Where on a diagonal: what depends on the distance alone is the same at each."""
ROWS, COLUMNS = np.maximum(-OFFSETS, 0) + PLACES, np.maximum(OFFSETS, 0) + PLACES
DEPTH_MAX: Final = 24
VISITS_MAX: Final = 500
"""Tensors that are looked at for one."""
LENGTH_MIN: Final = 3
LENGTH_MAX: Final = 4096
MATRIX_RANK: Final = 2
Tensor = Any  # tensorflow ships no types
Numbers = Any  # an array of one number for each of `PLACES` and `OFFSETS`

_ELEMENTWISE: Final[Mapping[str, Callable[..., Numbers]]] = {
    "Add": np.add,
    "AddV2": np.add,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "LogicalAnd": np.logical_and,
    "LogicalNot": np.logical_not,
    "LogicalOr": np.logical_or,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Mul": np.multiply,
    "Neg": np.negative,
    "NotEqual": np.not_equal,
    "Select": np.where,
    "SelectV2": np.where,
    "Sub": np.subtract,
}
_KEEPING: Final = frozenset({"BroadcastTo", "Cast", "ExpandDims", "Identity", "Reshape", "Squeeze"})
"""What leaves the matrix in the last two axes what it is, if it leaves them their lengths."""

_BANDED: Final = frozenset({"MatrixBandPart", "MatrixDiagV3", "MatrixSetDiagV3", "Tile", "Transpose"})


def find_diagonals(tensor: Tensor) -> Any | None:
    """What a tensor ``[..., time, time]`` holds on each of the diagonals `OFFSETS`: an array, None where not known."""
    with np.errstate(all="ignore"):
        found = _Search().find(tensor, None, DEPTH_MAX)
    if found is None:
        return None
    found = np.broadcast_to(found, ROWS.shape)
    return found[0] if bool((found == found[0]).all()) else None


class _Search:
    """What the tensors hold that one is made of, each looked at once: many are often made of the same one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int], Numbers | None] = {}

    def find(self, tensor: Tensor, places: Numbers | None, depth: int) -> Numbers | None:
        """As `find_diagonals`; ``places``: of what follows on a vector, which of `ROWS` and `COLUMNS` it tells of."""
        key = id(tensor.op), tensor.value_index, id(places)
        if key not in self._known:
            if len(self._known) >= VISITS_MAX:
                return None
            self._known[key] = None
            self._known[key] = self._find(tensor, places, depth)
        return self._known[key]

    def _find(self, tensor: Tensor, places: Numbers | None, depth: int) -> Numbers | None:
        op = tensor.op
        number = constant(tensor)
        if number is not None:
            return np.full(len(OFFSETS), number)
        places = _places_of(tensor) if places is None else places
        values = _value_of(tensor)
        if values is not None:
            return _read(values, places)
        if not depth:
            return None
        if op.type in _ELEMENTWISE:
            return self._find_elementwise(op, places, depth)
        if _is_from_start(op) or (op.type in _KEEPING and (places is not None or _is_same_matrix(op))):
            kept = self.find(op.inputs[0], places, depth - 1)
            return kept if kept is None or op.outputs[0].dtype != tf.bool else kept != 0
        return _find_range(op, places) if places is not None else self._find_banded(op, depth)

    def _find_elementwise(self, op: Any, places: Numbers | None, depth: int) -> Numbers | None:
        parts: list[Numbers] = []
        for one in op.inputs:
            part = self.find(one, places, depth - 1)
            if part is None:
                return None
            parts.append(part)
        return _ELEMENTWISE[op.type](*parts)

    def _find_banded(self, op: Any, depth: int) -> Numbers | None:
        """What is left of a matrix within a band, or put on its diagonal, or of one that is turned or repeated."""
        inner = self.find(op.inputs[0], None, depth - 1) if op.type in _BANDED else None
        if inner is None:
            return None
        if op.type == "MatrixBandPart":
            lower, upper = (constant(one) for one in op.inputs[1:])
            if lower is None or upper is None:
                return None
            return np.where(((lower < 0) | (lower >= -OFFSETS)) & ((upper < 0) | (upper >= OFFSETS)), inner, 0)
        if op.type == "Tile":
            return inner if _is_same_matrix(op) else None
        if op.type == "Transpose":
            order = tf.get_static_value(op.inputs[1])
            last = None if order is None else [int(axis) - len(order) for axis in order[-2:]]
            return inner if last == [-2, -1] else inner[..., ::-1] if last == [-1, -2] else None
        return self._with_diagonal(op, inner, depth)

    def _with_diagonal(self, op: Any, inner: Numbers, depth: int) -> Numbers | None:
        if op.type == "MatrixDiagV3":
            return np.where(OFFSETS == 0, inner, 0) if constant(op.inputs[1]) == 0 else None
        own = self.find(op.inputs[1], None, depth - 1)
        return None if own is None or constant(op.inputs[2]) != 0 else np.where(OFFSETS == 0, own, inner)


def _places_of(tensor: Tensor) -> Numbers | None:
    """What the numbers of a column, or of a row, are places of; None for a matrix."""
    shape = tensor.shape
    if not shape.rank:
        return None
    if shape.rank >= MATRIX_RANK and shape[-1] == 1:
        return ROWS
    return COLUMNS if shape.rank < MATRIX_RANK or shape[-2] == 1 else None


def _value_of(tensor: Tensor) -> Any:
    """The array that a tensor is, known while the step is traced, also of what the graph took from around it."""
    outer = find_outer(tensor)
    if isinstance(outer, tf.Tensor) and not tf.is_symbolic_tensor(outer) and outer.dtype != tf.resource:
        tensor = outer
    elif tensor.op.type != "Const":
        return None
    n = tensor.shape.num_elements()
    return None if n is None or n > LENGTH_MAX**2 else tf.get_static_value(tensor)


def _read(values: Any, places: Numbers | None) -> Numbers | None:
    """What an array holds on the diagonals, if it holds one number on each; a vector is one of places."""
    if places is not None:
        vector = np.ravel(values)
        is_range = vector.dtype.kind in "iuf" and len(vector) > 1 and bool((np.diff(vector) == 1).all())
        return vector[0] + places if is_range else None
    matrix = np.squeeze(values)
    if matrix.ndim != MATRIX_RANK or matrix.shape[0] != matrix.shape[1] or len(matrix) < LENGTH_MIN:
        return None
    offsets = range(1 - len(matrix), len(matrix))
    found = {offset: np.unique(np.diagonal(matrix, offset)) for offset in offsets}
    if any(len(one) > 1 for one in found.values()):
        return None
    return np.array([found[int(offset)][0] for offset in OFFSETS])


def _find_range(op: Any, places: Numbers) -> Numbers | None:
    if op.type != "Range" or constant(op.inputs[2]) != 1:
        return None
    start = constant(op.inputs[0])
    return None if start is None else start + places


def _is_from_start(op: Any) -> bool:
    """Whether it is a slice that begins where what it is given does, or adds axes."""
    if op.type != "StridedSlice":
        return False
    begin, strides = (tf.get_static_value(op.inputs[place]) for place in (1, 3))
    rank = op.inputs[0].shape.rank
    if begin is None or strides is None or rank is None or (strides != 1).any():
        return False
    whole = op.get_attr("begin_mask") | op.get_attr("new_axis_mask") | op.get_attr("ellipsis_mask")
    picks = op.get_attr("shrink_axis_mask")
    is_whole = all(number == 0 or (whole | picks) >> place & 1 for place, number in enumerate(begin.tolist()))
    return is_whole and (not picks or len(begin) <= rank - MATRIX_RANK)


def _is_same_matrix(op: Any) -> bool:
    """Whether the last two axes keep their lengths, as far as they are known."""
    before, after = op.inputs[0].shape, op.outputs[0].shape
    if before.rank is None or after.rank is None or min(before.rank, after.rank) < MATRIX_RANK:
        return False
    return bool(before[-2:].is_compatible_with(after[-2:]))
