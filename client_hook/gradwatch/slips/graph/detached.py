"""States that a step hands from one call of a layer to the next without their gradient, in the graph. Owns no state.

To cut a gradient once may be meant: a target, a code, one step of a fixed point. A state that is cut at each of several
calls of the same layer is that of a recurrence, of which only the last piece then learns. A cut that is added to what
it cuts makes a gradient smaller, or hands one on past what has none: there the state keeps a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from gradwatch.origin import is_own, is_users, layer_of, source_of
from gradwatch.walk import ADDING

__all__ = ["find_detached"]

SUMMING: Final = ADDING | {"AddN", "Sub"}
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
        source = source_of(op) if op.type == "StopGradient" and is_own(op) and not _is_of_moments(op) else None
        both = set[str]()
        if source is not None:
            nearest = _layers(op, after, layer_paths, is_nearest=True)
            both = _layers(op, before, layer_paths, is_nearest=False) & nearest
            both = set() if both and _is_passed(op, before, after, layer_paths) else both
        for layer in sorted(both)[:1]:
            one = {"type": op.type, "name": op.name, "layer": layer, "source": source}
            found.setdefault(repr(source), []).append(one)
    return [cuts[0] for cuts in found.values() if len(cuts) >= CALLS_MIN]


def _is_of_moments(cut: Any) -> bool:
    """Whether `tf.nn.moments` made it, which takes the deviation from a mean as it is."""
    return any(frame.name == "moments" and not is_users(frame.filename) for frame in cut.traceback)


def _layers(
    cut: Any, neighbours: Callable[[Any], list[Any]], layer_paths: Sequence[str], *, is_nearest: bool
) -> set[str]:
    """The layers on one side of a cut, as far as the next one, beside the one in which it stands itself."""
    own = {"", layer_of(cut.name, layer_paths)}
    return {layer for _, layer in _way(cut, neighbours, layer_paths, is_nearest=is_nearest) if layer not in own}


def _way(
    cut: Any, neighbours: Callable[[Any], list[Any]], layer_paths: Sequence[str], *, is_nearest: bool
) -> list[tuple[Any, str]]:
    """The operations on one side of a cut, each with its layer, as far as the next layer or beyond."""
    own = {"", layer_of(cut.name, layer_paths)}
    pending, seen, way = neighbours(cut), set[int](), list[tuple[Any, str]]()
    while pending and len(seen) < WAY_MAX:
        op = pending.pop()
        if id(op) in seen or op.type == "StopGradient":
            continue
        seen.add(id(op))
        way.append((op, layer_of(op.name, layer_paths)))
        if not is_nearest or way[-1][1] in own:
            pending.extend(neighbours(op))
    return way


def _is_passed(
    cut: Any, before: Callable[[Any], list[Any]], after: Callable[[Any], list[Any]], layer_paths: Sequence[str]
) -> bool:
    """Whether what is made of a cut is added, ahead of the next layer, to what its own input is made of too."""
    own = {"", layer_of(cut.name, layer_paths)}
    behind = {id(op) for op, _ in _way(cut, before, layer_paths, is_nearest=True)}
    ahead = [op for op, layer in _way(cut, after, layer_paths, is_nearest=True) if layer in own]
    made = {id(cut), *map(id, ahead)}
    beside = [one for op in ahead if op.type in SUMMING for one in before(op) if id(one) not in made]
    ways = [one for op in beside for one, _ in _way(op, before, layer_paths, is_nearest=True)]
    return any(id(one) in behind for one in (*beside, *ways))
