"""With which sign something goes into a loss, in the graph. Owns no state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from gradwatch.constants import factor
from gradwatch.walk import reads_variable

__all__ = ["is_descended", "signs_in", "terms_of"]

ADDING: Final = frozenset(
    {"AddN", "AddV2", "Cast", "ExpandDims", "Identity", "Mean", "Pack", "Reshape", "Squeeze", "Sub", "Sum"}
)
DIVIDING: Final = frozenset({"DivNoNan", "RealDiv"})
WAY_MAX: Final = 60
Tensor = Any  # tensorflow ships no types


def signs_in(tensor: Tensor, loss: Tensor, rising: Set[str] = frozenset()) -> Iterator[int]:
    """With which sign a tensor goes into a loss, on each way that only adds, averages and scales by a number.

    Args:
        tensor: what goes into it.
        loss: what the gradients were asked of.
        rising: further types of operations on the way that are the larger, the larger their first input is.
    """
    pending = [(tensor, 1)]
    for _ in range(WAY_MAX):
        if not pending:
            return
        one, sign = pending.pop()
        if one is loss:
            yield sign
        for user in one.consumers():
            if user.type == "Neg" or (user.type == "Sub" and user.inputs[1] is one):
                pending.append((user.outputs[0], -sign))
            elif user.type in DIVIDING | {"Mul"}:
                scaled = factor(user)
                if scaled is not None and scaled[1] is one:
                    if scaled[0]:  # times 0 it is no part of the loss
                        pending.append((user.outputs[0], sign if scaled[0] > 0 else -sign))
                elif user.type in DIVIDING and user.inputs[1] is not one and not reads_variable(user.inputs[1], None):
                    pending.append((user.outputs[0], sign))  # by how many there are
            elif user.type in ADDING or (user.type in rising and user.inputs[0] is one):
                pending.append((user.outputs[0], sign))


def terms_of(loss: Tensor, ends: Set[str]) -> Iterator[Any]:
    """The operations that give what a loss averages, adds and scales: those of some names, and any other's last."""
    pending = [loss.op]
    for _ in range(WAY_MAX):
        if not pending:
            return
        op = pending.pop()
        if op.name in ends or op.type not in ADDING | DIVIDING | {"Mul", "Neg"}:
            yield op
        else:
            parts = [one for one in op.inputs if one.dtype.is_floating and reads_variable(one, None)]
            pending.extend(part.op for part in parts)
    yield from pending


def is_descended(gradients: Sequence[Any]) -> bool:
    """Whether gradients go to the optimizer as they are, and not with the other sign, to make a loss large."""
    made = [getattr(one, "values", one).op for one in gradients if one is not None]
    return not any(op.type == "Neg" or ((scaled := factor(op)) is not None and scaled[0] < 0) for op in made)
