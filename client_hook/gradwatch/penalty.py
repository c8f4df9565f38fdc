"""Penalties on weights that a step's loss leaves out, in the graph. Owns no state.

A layer's regularizer is added to the loss by `fit`; in a loop of one's own, only where ``model.losses`` is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gradwatch.origin import layer_of
from gradwatch.tap import find_handle
from gradwatch.walk import SHAPES

__all__ = ["find_unpenalised"]

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


def _is_read_outside(op: Any, layer_paths: Sequence[str]) -> bool:
    pending = [op]
    while pending:
        for one in pending.pop().outputs[0].consumers():
            if one.type in HANDING:
                pending.append(one)
            elif one.type not in SHAPES and not layer_of(one.name, layer_paths):
                return True
    return False
