"""States that a step hands from one call of a layer to the next without their gradient, in the graph. Owns no state.

To cut a gradient once may be meant: a target, a code, one step of a fixed point. A state that is cut at each of several
calls of the same layer is that of a recurrence, of which only the last piece then learns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from gradwatch.origin import is_own, layer_of, source_of

__all__ = ["find_detached"]

CALLS_MIN: Final = 2
"""States cut by the same line: fewer are no recurrence."""
WAY_MAX: Final = 200
"""Operations that are looked at around one cut."""


def find_detached(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Lines that cut a layer's output from what is given to the same layer next.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``StopGradient``), name, layer and source line of the first cut of each such line.
    """
    ids = {id(op) for op in forward}

    def before(op: Any) -> list[Any]:
        return [one.op for one in op.inputs if one.dtype.is_floating]

    def after(op: Any) -> list[Any]:
        floating = [one for one in op.outputs if one.dtype.is_floating]  # a drawn action leads nowhere
        return [user for one in floating for user in one.consumers() if id(user) in ids]

    found: dict[str, list[dict[str, Any]]] = {}
    for op in forward:
        source = source_of(op) if op.type == "StopGradient" and is_own(op) else None
        both = set[str]()
        if source is not None:
            nearest = _layers(op, after, layer_paths, is_nearest=True)
            both = _layers(op, before, layer_paths, is_nearest=False) & nearest
        for layer in sorted(both)[:1]:
            one = {"type": op.type, "name": op.name, "layer": layer, "source": source}
            found.setdefault(repr(source), []).append(one)
    return [cuts[0] for cuts in found.values() if len(cuts) >= CALLS_MIN]


def _layers(
    cut: Any, neighbours: Callable[[Any], list[Any]], layer_paths: Sequence[str], *, is_nearest: bool
) -> set[str]:
    """The layers on one side of a cut, as far as the next one, beside the one in which it stands itself."""
    own = layer_of(cut.name, layer_paths)
    pending, seen, layers = neighbours(cut), set[int](), set[str]()
    while pending and len(seen) < WAY_MAX:
        op = pending.pop()
        if id(op) in seen or op.type == "StopGradient":
            continue
        seen.add(id(op))
        layer = layer_of(op.name, layer_paths)
        if layer not in ("", own):
            layers.add(layer)
        if not is_nearest or layer in ("", own):
            pending.extend(neighbours(op))
    return layers
