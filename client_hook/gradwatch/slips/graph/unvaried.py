"""Draws that give the same at each step, in the graph. Owns no state.

A generator without a state gives the same numbers for the same seed. Whole numbers below 1, and what lies between 0 and
1 cut to whole numbers, are 0 each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.constants import constant, scaled
from gradwatch.origin import is_own, slip_of
from gradwatch.walk import GIVEN, behind

__all__ = ["find_unvaried"]

KEYS: Final = "StatelessRandomGetKeyCounter"
UNIFORM: Final = frozenset({"RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"})
WHOLE: Final = frozenset({"RandomUniformInt", "StatelessRandomUniformInt", "StatelessRandomUniformIntV2"})
RANK_MIN: Final = 2
WAY_MAX: Final = 8
CROPPING: Final = "crop"
Tensor = Any  # tensorflow ships no types


def find_unvaried(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Draws of the user's own for each sample of a batch that are the same at each step.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of the first, and ``unvaried``: ``seed`` where that is a constant, ``range``
        where but one whole number lies in it, ``cast`` where what is below 1 is cut to whole numbers.
    """
    batches = {one.shape[0] for op in forward if op.type in GIVEN for one in op.outputs if one.shape.rank}
    for op in forward:
        if op.type == "Cast" or "Random" in op.type:
            why = _why_unvaried(op, batches)
            if why is not None and is_own(op):
                return [slip_of(op, layer_paths) | {"unvaried": why}]
    return []


def _why_unvaried(op: Any, batches: set[int | None]) -> str | None:
    made = op.outputs[0]
    if not made.shape.rank or made.shape[0] not in batches | {None}:
        return None
    if op.type == "Cast":
        return "cast" if made.dtype.is_integer and _is_below_one(op.inputs[0]) else None
    if op.type in WHOLE:
        least, end = (constant(one) for one in op.inputs[-2:])
        is_crop = any(CROPPING in frame.name for frame in op.traceback)  # of images that have that size already
        return "range" if least is not None and end is not None and end - least == 1 and not is_crop else None
    return "seed" if made.shape.rank >= RANK_MIN and _is_seeded(op) else None


def _is_below_one(tensor: Tensor) -> bool:
    """Whether it is drawn between 0 and 1, or a smaller number."""
    number, op = 1.0, tensor.op
    for _ in range(WAY_MAX):
        parts = scaled(op)
        if parts is None and op.type not in ("Floor", "Identity"):
            break
        own, before = parts or (1.0, op.inputs[0])
        number, op = number * own, before.op
    return op.type in UNIFORM and 0 < number <= 1


def _is_seeded(op: Any) -> bool:
    """Whether a generator without a state has a seed that is known while the step is traced."""
    keys = op.inputs[1].op if op.type.startswith("Stateless") and len(op.inputs) > 1 else None
    if keys is None or keys.type != KEYS:
        return False
    ways = behind([keys.inputs[0].op], through=None)
    return all(one.inputs or one.type == "Const" for one in ways)
