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
    unseen = {one for one in handles if one in _find_open(loss)}
    for op in filter(cuts, find_learned((handles - unseen) | _find_flat(given, loss), loss)):
        layer, source = layer_of(op.name, layer_paths), source_of(op)
        if (layer, source) not in [(one["layer"], one["source"]) for one in found]:
            found.append({"type": op.type, "name": op.name, "layer": layer, "source": source})
    if not found and unseen:  # no operation is to blame where there is a way beside it
        op = next((op for op in find_learned(unseen, loss) if source_of(op) is not None), None)
        name, layer = ("", "") if op is None else (op.name, layer_of(op.name, layer_paths))
        found.append({"type": UNSEEN, "name": name, "layer": layer, "source": None if op is None else source_of(op)})
    return found[:CUTS_MAX]


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
