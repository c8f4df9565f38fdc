"""Two networks of one shape that read pairs of samples, and share nothing: one was to be called twice. Owns no state.

Who compares things of two kinds, as a sketch and a photo, needs two networks. Of one kind are inputs of which the rows
of the one are to be found in the other; then a sample's distance from itself should be 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

import numpy as np
import tensorflow as tf

from gradwatch.origin import layer_of, running_fit, source_of
from gradwatch.tap import find_handle
from gradwatch.walk import GIVEN, behind, is_square, users_of

__all__ = ["find_towers"]

DIFFERENCES: Final = frozenset({"SquaredDifference", "Sub"})
EVEN: Final = frozenset({"Abs", "L2Loss", "Square"})
"""Functions that give the same for the negative."""
ROWS_MAX: Final = 2000
COMMON_MIN: Final = 20
SHARE_MIN: Final = 0.2
"""Of the rows that are looked at: so many, at the least, are in both inputs."""
COLUMNS_MIN: Final = 4
"""Fewer may be equal by chance, or be numbers of rows."""
Tensor = Any  # tensorflow ships no types


class _Side(NamedTuple):
    """What one side of a difference is made of: the only given tensor, and the shapes of variables by their handles."""

    given: Tensor
    shapes: Mapping[int, tuple[int, ...]]

    @property
    def kernels(self) -> list[tuple[int, ...]]:
        return sorted(shape for shape in self.shapes.values() if len(shape) > 1)


def find_towers(forward: Sequence[Any], trained: Set[int], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first distance between what two networks of one shape, both trained, make of two inputs of one kind.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        trained: the handles of the variables that the step trains.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of it, and ``towers``: the share of an input's rows that are in the other.
    """
    ids = {id(op) for op in forward}
    for op in forward:
        if op.type not in DIFFERENCES or not _is_distance(op, ids):
            continue
        one, other = (_side_of(part) for part in op.inputs)
        if one is None or other is None or not _are_towers(one, other, trained):
            continue
        share = _share_of_rows(one.given.shape.as_list()[1:])
        if share is not None:
            place = {"layer": layer_of(op.name, layer_paths), "source": source_of(op)}
            return [{"type": op.type, "name": op.name, **place, "towers": share}]
    return []


def _is_distance(op: Any, forward: Set[int]) -> bool:
    """Whether nothing depends on which of the two is subtracted."""
    users = users_of(op.outputs[0], forward)
    is_even = all(one.type in EVEN or is_square(one) for one in users)  # as a norm has it
    return op.type == "SquaredDifference" or (bool(users) and is_even)


def _side_of(tensor: Tensor) -> _Side | None:
    ways = list(behind([tensor.op], through=None))
    read = {one.name: one for op in ways for one in op.inputs if one.op.type in GIVEN and one.dtype != tf.resource}
    shapes: dict[int, tuple[int, ...]] = {}
    for op in ways:
        handle = find_handle(op.inputs[0]) if op.type == "ReadVariableOp" else None
        if handle is not None:
            shapes[handle] = tuple(op.outputs[0].shape.as_list() or ())
    return _Side(next(iter(read.values())), shapes) if len(read) == 1 and shapes else None


def _are_towers(one: _Side, other: _Side, trained: Set[int]) -> bool:
    """Whether two networks have kernels of the same shapes, all of them trained and none the other's."""
    is_apart = one.given.name != other.given.name and not set(one.shapes) & set(other.shapes)
    is_alike = one.given.shape.rank and one.given.shape[1:].as_list() == other.given.shape[1:].as_list()
    handles = [handle for side in (one, other) for handle, shape in side.shapes.items() if len(shape) > 1]
    is_trained = bool(handles) and all(handle in trained for handle in handles)
    return bool(is_apart and is_alike and is_trained and one.kernels == other.kernels)


def _share_of_rows(shape: Sequence[int | None]) -> float | None:
    """Of two inputs of a shape that the running `fit` was given, the share of rows of the one that are in the other."""
    fit = running_fit()
    given = None if fit is None else fit.known.get("x")
    arrays = [np.asarray(one) for one in tf.nest.flatten(given) if isinstance(one, (np.ndarray, tf.Tensor))]
    pair = [one for one in arrays if list(one.shape[1:]) == list(shape)]
    if len(pair) != 2 or np.prod(pair[0].shape[1:]) < COLUMNS_MIN:
        return None
    seen = [{row.tobytes() for row in one[:ROWS_MAX]} for one in pair]
    common = len(seen[0] & seen[1])
    share = common / min(map(len, seen))
    return share if common >= COMMON_MIN and share >= SHARE_MIN else None
