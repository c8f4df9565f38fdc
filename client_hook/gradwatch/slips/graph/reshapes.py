"""Reshapes that lay numbers along other axes than before, where they were to be moved, in the graph. Owns no state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import is_own, layer_of, source_of

__all__ = ["find_reshapes"]

RESHAPES_MAX: Final = 4
_RESHAPING: Final = re.compile(r"[/\\]layers[/\\]reshaping[/\\]reshape\.py$")


def find_reshapes(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The user's own reshapes, or those of a `Reshape` of theirs, after which numbers stand where others were meant.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Name, layer, source line and both shapes (the batch's axis is -1) of those that give a tensor the same axes in
        another order, or that put one into the batch's, or take it from there, across another; the first
        `RESHAPES_MAX`.
    """
    found: dict[str, dict[str, Any]] = {}
    for op in forward:
        if op.type == "Reshape" and (_turns(op) or _folds(op)) and _is_own_reshape(op):
            before, after = ([-1, *one.shape[1:]] for one in (op.inputs[0], op.outputs[0]))
            place = {"layer": layer_of(op.name, layer_paths), "source": source_of(op)}
            one = {**place, "input_shape": before, "output_shape": after}
            found.setdefault(repr(one), {"name": op.name, **one})
    return list(found.values())[:RESHAPES_MAX]


def _turns(op: Any) -> bool:
    """Whether a `Reshape` leaves each axis its length, and not its place."""
    before, after = op.inputs[0].shape, op.outputs[0].shape
    if before.rank is None or after.rank is None or before.rank < 3 or after.rank < 3 or before[0] != after[0]:
        return False
    lengths = [[n for n in shape[1:] if n != 1] for shape in (before, after)]
    is_known = all(n is not None for one in lengths for n in one)
    return is_known and lengths[0] != lengths[1] and sorted(lengths[0]) == sorted(lengths[1])


def _folds(op: Any) -> bool:
    """Whether a `Reshape` makes an axis part of the batch's, or takes it from there, across another one."""
    shapes = [one.shape for one in (op.inputs[0], op.outputs[0])]
    if any(not shape.rank or None in shape[1:] for shape in shapes):
        return False
    (n, *few), (n_more, *many) = sorted(shapes, key=lambda shape: int(shape.rank))
    without = [place for place, length in enumerate(many) if length > 1 and [*many[:place], *many[place + 1 :]] == few]
    # The foremost one may go; and of axes of one length any may be meant.
    is_across = len(many) == len(few) + 1 >= 3 and bool(without) and any(length > 1 for length in many[: without[0]])
    return is_across and (n is None or n_more is None or n != n_more)


def _is_own_reshape(op: Any) -> bool:
    """Whether it is the user's, or that of a Keras layer which does nothing else; not one within another layer."""
    return is_own(op) or any(_RESHAPING.search(frame.filename) for frame in op.traceback)
