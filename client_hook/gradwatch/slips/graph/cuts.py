"""Where the way back from a loss to some variables ends, in the graph. Owns no state."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

from gradwatch.origin import layer_of, source_of
from gradwatch.tap import find_handle
from gradwatch.way import READS, cuts, find_learned, find_way, is_gradient, sources_of

__all__ = ["find_cuts"]

Tensor = Any  # tensorflow ships no types

CUTS_MAX: Final = 4
UNSEEN: Final = "GradientTape"
"""What stands in the place of an operation's type."""


def find_cuts(
    handles: Set[int], given: Set[int], loss: Tensor | None, layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Where the way back from a loss to some variables ends, though the loss depends on them.

    Args:
        handles: of the variables, none of which gets a gradient.
        given: those of the variables that the optimizer is given. One that is only reached through a sign gets a
            gradient, which is 0.
        loss: the step's loss in the same graph, or None.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of each operation without a gradient that is the first on such a way, at most
        `CUTS_MAX` in the order in which they run. Of type `UNSEEN` the first operation of a way that a gradient could
        pass, where no other is told: then the tape has not recorded it.
    """
    found: list[dict[str, Any]] = []
    beside = _find_open(loss) if handles else set()  # no operation is to blame where there is a way beside it
    unseen = {one for one in handles if one in beside}
    for op in filter(cuts, find_learned((handles - unseen) | _find_flat(given, loss), loss)):
        one = _describe(op, layer_paths)
        if (one["layer"], one["source"]) not in [(other["layer"], other["source"]) for other in found]:
            found.append(one)
    if not found and unseen:
        ways = (_describe(op, layer_paths) for op in find_learned(unseen, loss))
        nowhere = {"name": "", "layer": "", "source": None}
        found.append(next((one for one in ways if one["source"] is not None), nowhere) | {"type": UNSEEN})
    return found[:CUTS_MAX]


def _describe(op: Any, layer_paths: Sequence[str]) -> dict[str, Any]:
    return {"type": op.type, "name": op.name, "layer": layer_of(op.name, layer_paths), "source": source_of(op)}


def _find_flat(handles: Set[int], loss: Tensor | None) -> set[int]:
    """Those of some variables that a loss depends on through a sign and in no other way."""
    ops = list(find_way([], loss).values())
    if not any(op.type == "Sign" and not is_gradient(op) for op in ops):
        return set()
    flat = {find_handle(op.inputs[0]) for op in ops if op.type in READS} - _find_open(loss)
    return {one for one in handles if one in flat}


def _find_open(loss: Tensor | None) -> set[int | None]:
    """The handles of the variables that a loss depends on by a way which a gradient passes."""
    pending, seen = [] if loss is None else [loss.op], set[int]()
    found: set[int | None] = set()
    while pending:
        op = pending.pop()
        if id(op) not in seen and not cuts(op):
            seen.add(id(op))
            pending.extend(sources_of(op))
            found |= {find_handle(op.inputs[0])} if op.type in READS else set()
    return found
