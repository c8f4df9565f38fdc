"""Losses of Keras' that are given the prediction for the target and the target for the prediction. Owns no state.

They take the logarithm of what is predicted. Where it is that of what was given, and weighs what a network makes, the
two have changed places: what the network makes is a factor then, without a bound.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import is_users, slip_of, source_of
from gradwatch.walk import GIVEN, behind, reads_variable

__all__ = ["find_exchanged"]

PASSING: Final = frozenset({"Cast", "Identity", "Neg", "Reshape"})
_LOSSES: Final = re.compile(r"[/\\]keras[/\\]src[/\\]losses[/\\]")
"""Files of the losses whose arguments are known."""


def find_exchanged(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first logarithm within such a loss that is of nothing which is learned, times what is.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Log``), name, layer and the user's source line of it, and ``exchanged``: True.
    """
    for op in forward:
        if op.type == "Log" and _is_of_losses(op):
            ways = list(behind([op], through=None))
            is_given = any(one.type in GIVEN for one in ways) and not any(one.type == "ReadVariableOp" for one in ways)
            if is_given and _weighs_what_is_learned(op):
                return [slip_of(op, layer_paths) | {"source": source_of(op), "exchanged": True}]
    return []


def _is_of_losses(op: Any) -> bool:
    """Whether a loss of Keras' made it, and not the user's own within one."""
    inner = itertools.takewhile(lambda frame: not is_users(frame.filename), reversed(op.traceback))
    return any(_LOSSES.search(frame.filename) for frame in inner)


def _weighs_what_is_learned(log: Any) -> bool:
    pending = [log]
    while pending:
        op = pending.pop()
        for user in op.outputs[0].consumers():
            if user.type == "Mul":
                return any(one.op is not op and reads_variable(one, None) for one in user.inputs)
            if user.type in PASSING:
                pending.append(user)
    return False
