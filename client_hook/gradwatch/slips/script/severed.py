"""Inputs of a functional model that layers were made for, of which no output is made all the same. Owns no state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.target import walk

__all__ = ["find_severed"]

INPUTS_MAX: Final = 64
LAYERS_MAX: Final = 1000
"""That are followed from an input."""


def find_severed(models: Sequence[Any]) -> list[dict[str, Any]]:
    """The first input of a model that layers with weights read, none of which is on the way to an output.

    Args:
        models: the watched models.

    Returns:
        Type (``Input``), name and layer (both the input's name), no source line, and ``severs``: the names of the first
        layers with weights that are given it; none of an input that no layer was made for, nor where any of these
        layers is part of a watched model.
    """
    known = {id(part) for part in walk(models)}
    for model in models:
        entering = list(model.inputs) if hasattr(model, "_nodes_by_depth") else []
        for one in entering[:INPUTS_MAX] if len(entering) > 1 else ():
            behind = list(_layers_behind(one))
            read = [part for part in behind if getattr(part, "weights", None)]
            if not _reaches(one, model) and read and not any(id(part) in known for part in behind):
                name = str(one.name)
                severs = [str(part.name) for part in read[:3]]
                return [{"type": "Input", "name": name, "layer": name, "source": None, "severs": severs}]
    return []


def _reaches(entering: Any, model: Any) -> bool:
    """Whether an output of a model is made of what enters it there."""
    nodes = [node for depth in model._nodes_by_depth.values() for node in depth]
    made_of = {id(tensor): node for node in nodes for tensor in node.outputs}
    pending, seen = list(model.outputs), set[int]()
    while pending:
        tensor = pending.pop()
        if tensor is entering:
            return True
        if id(tensor) not in seen:
            seen.add(id(tensor))
            node = made_of.get(id(tensor))
            pending += [] if node is None else node.input_tensors
    return False


def _layers_behind(entering: Any) -> Iterator[Any]:
    """What was called on an input and on what was made of it, the nearest first."""
    pending, seen = [entering], set[int]()
    while pending and len(seen) < LAYERS_MAX:
        tensor = pending.pop(0)
        for node in tensor._keras_history.operation._outbound_nodes:
            if id(node) not in seen and any(tensor is one for one in node.input_tensors):
                seen.add(id(node))
                yield node.operation
                pending += node.outputs
