"""Penalties that a step's loss leaves out, in the graph. Owns no state.

A layer's regularizer, and what it adds by `add_loss`, is added to the loss by `fit`; in a loop of one's own, only where
``model.losses`` is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final

import keras

from gradwatch.origin import GRADIENT_SCOPE, layer_of, source_of
from gradwatch.syntax import last_name, nodes_of_type
from gradwatch.tap import find_handle
from gradwatch.target import walk
from gradwatch.walk import GIVEN, SHAPES, behind

__all__ = ["added_losses", "find_unadded", "find_unpenalised"]

HANDING: Final = frozenset({"Cast", "Identity"})
"""What hands a variable's numbers on as they are."""


def find_unpenalised(
    forward: Sequence[Any], penalised: Mapping[int, str], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Variables with a regularizer that the step reads within their layers alone, where it reads them at all.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        penalised: the handles of trained variables that have a regularizer, with their names.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        One entry, type ``Regularizer``, name and layer of the first such variable, no source, and ``unpenalised``: how
        many there are; none where any of them is read outside of layers.
    """
    read: dict[int, bool] = {}
    for op in forward:
        handle = find_handle(op.inputs[0]) if op.type == "ReadVariableOp" else None
        if handle is not None and handle in penalised:
            read[handle] = read.get(handle, False) or _is_read_outside(op, layer_paths)
    if not read or any(read.values()):
        return []
    name = penalised[next(iter(read))]
    return [
        {
            "type": "Regularizer",
            "name": name,
            "layer": name.rpartition("/")[0],
            "source": None,
            "unpenalised": len(read),
        }
    ]


def added_losses(models: Sequence[Any], trained: Set[int], files: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """What the layers of models have added by `add_loss` in their last call.

    Args:
        models: the watched ones.
        trained: the ids of the variables that the step trains.
        files: the user's files that are looked at.

    Returns:
        The path of each such layer and the tensor. None of a model, or of one within it, that the step does not train:
        as a generator where its judge is. None at all where the files ask for ``losses`` anywhere: another step of the
        training may have them.
    """
    asked = (one for file in files for one in nodes_of_type(file, ast.Attribute))
    if any(one.attr == "losses" and last_name(one.value) not in ("keras", "tf") for one in asked):
        return []
    layers = list(dict.fromkeys(one for one in walk(models) if isinstance(one, keras.layers.Layer)))
    whole = [(one, {id(part) for part in walk([one])}) for one in layers if isinstance(one, keras.Model)]
    idle = [parts for one, parts in whole if one.trainable_variables and not _trains(one, trained)]
    return [
        (str(layer.path), loss)
        for layer in layers
        if not any(id(layer) in parts for parts in idle)
        for loss in layer._get_own_losses()
    ]


def _trains(model: Any, trained: Set[int]) -> bool:
    return any(id(one) in trained for one in model.trainable_variables)


def find_unadded(
    forward: Sequence[Any], loss: Any, added: Sequence[tuple[str, Any]], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Losses that layers add, of what a step computes on the way to its own loss, which has none of them in it.

    Args:
        forward: as for `find_unpenalised`.
        loss: what the gradients were asked of; None where it is not known.
        added: as `added_losses` gives them.
        layer_paths: as for `find_unpenalised`.

    Returns:
        One entry, type ``Penalty``, name, layer and source line of the first such loss, and ``unadded``: how many there
        are. None where one is asked for its gradient by itself, or where the step does something of its own with what
        they are made of.
    """
    if loss is None:
        return []
    ids = {id(op) for op in forward}
    left = [(layer, one) for layer, one in added if getattr(one, "graph", None) is loss.graph]
    if not left or any(not _is_left_out(one, ids, layer_paths) for _, one in left):
        return []
    layer, first = left[0]
    place = {"layer": layer, "source": source_of(first.op)}
    return [{"type": "Penalty", "name": first.op.name, **place, "unadded": len(left)}]


def _is_left_out(tensor: Any, forward: Set[int], layer_paths: Sequence[str]) -> bool:
    own = [op for op in _until(tensor.op, forward) if id(op) not in forward]
    if not own or any(user.name.startswith(GRADIENT_SCOPE) for op in own for user in op.outputs[0].consumers()):
        return False
    ends = {one.op for op in own for one in op.inputs if id(one.op) in forward and _is_computed(one)}
    users = (user for op in ends for user in op.outputs[0].consumers() if id(user) in forward)
    return bool(ends) and all(layer_of(user.name, layer_paths) for user in users if user.type not in SHAPES)


def _until(op: Any, forward: Set[int]) -> Iterator[Any]:
    """What an operation is made of, up to what is on the way to the loss."""
    pending, seen = [op], set[int]()
    while pending:
        one = pending.pop()
        if id(one) not in seen and id(one) not in forward:
            seen.add(id(one))
            yield one
            pending.extend(source.op for source in one.inputs)


def _is_computed(tensor: Any) -> bool:
    """Whether it is what a network gives, and neither a weight nor what it was given."""
    ways = (op for op in behind([tensor.op], through=HANDING | {"StopGradient"}))
    kinds = {op.type for op in ways}
    return tensor.dtype.is_floating and not kinds & (GIVEN | {"Const", "ReadVariableOp"})


def _is_read_outside(op: Any, layer_paths: Sequence[str]) -> bool:
    pending = [op]
    while pending:
        for one in pending.pop().outputs[0].consumers():
            if one.type in HANDING:
                pending.append(one)
            elif one.type not in SHAPES and not layer_of(one.name, layer_paths):
                return True
    return False
