"""An attention that cannot attend, in the graph: its mask is the wrong way round, or its softmax has nothing to weigh.

Padding is 0: a mask is made by comparing with 0, and ends before a softmax, either choosing between the scores and a
number far below them, or multiplied by such a number and added to them. A causal mask hides what comes later. Owns no
state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

from gradwatch.constants import constant, parted
from gradwatch.origin import is_own, layer_of, slip_of, source_of
from gradwatch.slips.graph.diagonals import OFFSETS, find_diagonals
from gradwatch.walk import ADDING, PASSING, behind, consumers_of, goes_into, passed

__all__ = ["find_ahead", "find_inverted", "find_onward", "find_single", "is_hiding", "is_onward"]

FAR_BELOW: Final = -1e3
"""From here on a number that stands for minus infinity: of its exponential nothing is left."""
MASKS_MAX: Final = 4
DEPTH_MAX: Final = 16
Tensor = Any  # tensorflow ships no types

_WEIGHING: Final = {"BatchMatMulV2", "Einsum", "MatMul", "Mul"}
"""Operations that take weights."""
_CHOOSING: Final = frozenset({"Select", "SelectV2"})
_OF_TRUTHS: Final = PASSING | {"Equal", "Greater", "GreaterEqual", "Less", "LogicalNot", "NotEqual", "Sub"}
"""What makes a mask of another."""
_UPRIGHT: Final = PASSING - {"Transpose"}
"""What leaves a matrix the way it is turned."""


class _Mask(NamedTuple):
    """A tensor of truths, or of 0 and 1; ``keeps``: what is to be seen where it is true, else what is not."""

    tensor: Tensor
    keeps: bool


def find_inverted(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Comparisons with 0 that let an attention see nothing but what is 0.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of each comparison, the first `MASKS_MAX`.
    """
    found: dict[str, dict[str, Any]] = {}
    for op in forward:
        if op.type == "Softmax":
            for mask in _masks_of(passed(op.inputs[0])):  # another axis than the last is moved there
                for compared in _comparisons(mask):
                    one = {"type": compared.type, "layer": layer_of(compared.name, layer_paths)}
                    found.setdefault(compared.name, {"name": compared.name, **one, "source": source_of(compared)})
    return list(found.values())[:MASKS_MAX]


def find_ahead(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Masks that let an attention see just what comes later, and neither a place itself nor what was before it.

    Args:
        forward: as for `find_inverted`.
        layer_paths: likewise.

    Returns:
        Type (``Mask``), name, layer and source line of the first, and ``ahead``: True. None where another attention of
        the step sees just what was before: then the one beside it is meant to see the rest.
    """
    ids = {id(op) for op in forward}
    found: list[dict[str, Any]] = []
    for op in forward:
        if op.type == "Softmax" and goes_into(op, ids, _WEIGHING, through=PASSING | _CHOOSING):
            for made, kept in _seen_by(op.inputs[0]):
                if (kept == (OFFSETS < 0)).all():
                    return []
                if (kept == (OFFSETS > 0)).all():
                    found.append(_describe(op, made, layer_paths) | {"ahead": True})
    return found[:1]


def find_onward(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Masks that let an attention see a place itself and what comes later: no slip unless that is asked for.

    Args:
        forward: as for `find_inverted`.
        layer_paths: likewise.

    Returns:
        Type (``Mask``), name, layer and source line of the first, and ``onward``: True.
    """
    softmaxes = (op for op in forward if op.type == "Softmax")
    found = ((op, made) for op in softmaxes for made, kept in _seen_by(op.inputs[0]) if _is_onward(kept))
    return [_describe(op, made, layer_paths) | {"onward": True} for op, made in found][:1]


def is_onward(scores: Tensor) -> bool:
    """Whether the scores of an attention have such a mask."""
    return any(_is_onward(kept) for _, kept in _seen_by(scores))


def is_hiding(given: Tensor) -> bool:
    """Whether all that becomes of what a step was given is a mask that hides scores, or chooses between two tensors."""
    pending, is_mask = [given], False
    while pending:
        tensor = pending.pop()
        for op in consumers_of(tensor):
            if op.type in _OF_TRUTHS:
                pending += op.outputs
            elif (op.type in _CHOOSING and op.inputs[0] is tensor) or (op.type == "Mul" and _is_far(parted(op))):
                is_mask = True
            else:
                return False
    return is_mask


def _is_far(product: tuple[float, Tensor] | None) -> bool:
    return product is not None and abs(product[0]) >= -FAR_BELOW


def _is_onward(kept: Any) -> bool:
    return bool((kept == (OFFSETS >= 0)).all())


def _describe(softmax: Any, made: Any, layer_paths: Sequence[str]) -> dict[str, Any]:
    ways = filter(is_own, behind([made], through=None))
    own = sorted(ways, key=lambda one: one.type in PASSING | {"Const"})[:1] or [made]
    place = {"layer": layer_of(softmax.name, layer_paths), "source": source_of(own[0])}
    return {"type": "Mask", "name": made.name, **place}


def _seen_by(scores: Tensor) -> Iterator[tuple[Any, Any]]:
    """The masks on scores that depend on the distance alone: what makes them, and which of `OFFSETS` they keep."""
    op = passed(scores, _UPRIGHT)
    for mask in (part for one in _masks_of(op) for part in _parts(one, _UPRIGHT)):
        held = find_diagonals(mask.tensor)
        if held is not None:
            yield mask.tensor.op, (held != 0) == mask.keeps
    for added in op.inputs if op.type in ADDING else ():
        held = find_diagonals(added)
        if held is not None:
            yield added.op, held > FAR_BELOW


def find_single(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Softmaxes over an axis of one whose output weighs something: each of these weights is 1.

    Args:
        forward: as for `find_inverted`.
        layer_paths: likewise.

    Returns:
        Type (``Softmax``), name, layer and source line of each, the first `MASKS_MAX`.
    """
    ids = {id(op) for op in forward}
    found = [
        slip_of(op, layer_paths)
        for op in forward
        if op.type == "Softmax" and op.inputs[0].shape.rank is not None and op.inputs[0].shape[-1] == 1
        if goes_into(op, ids, _WEIGHING, through=PASSING)
    ]
    return found[:MASKS_MAX]


def _masks_of(scores: Any) -> Iterator[_Mask]:
    """The masks that an operation before a softmax puts on its scores."""
    if scores.type in ("SelectV2", "Select"):
        chosen, kept, other = scores.inputs
        if _is_far_below(other):
            yield _Mask(chosen, keeps=True)
        elif _is_far_below(kept):
            yield _Mask(chosen, keeps=False)
    elif scores.type in ADDING:
        for one in scores.inputs:
            yield from _masks_added(one, 1.0)
    elif scores.type == "Sub":
        yield from _masks_added(scores.inputs[1], -1.0)


def _masks_added(tensor: Tensor, sign: float) -> Iterator[_Mask]:
    """The mask in what is added to scores, or subtracted: a mask times a number far from 0."""
    op = passed(tensor)
    if op.type == "Mul":
        for factor, other in (op.inputs, reversed(op.inputs)):
            number = constant(factor)
            if number is not None and sign * number <= FAR_BELOW:
                yield _Mask(other, keeps=False)


def _comparisons(mask: _Mask) -> Iterator[Any]:
    """The comparisons with 0 which hold where something is 0 and that is all that is kept."""
    for part in _parts(mask, PASSING):
        op = passed(part.tensor)
        is_wanted = op.type in ("Equal", "NotEqual", "Greater") and part.keeps is (op.type == "Equal")
        if is_wanted and any(_is_constant(one, 0) for one in op.inputs) and find_diagonals(part.tensor) is None:
            yield op


def _parts(mask: _Mask, through: Set[str], depth: int = DEPTH_MAX) -> Iterator[_Mask]:
    """A mask and those that it is made of, each of which must hold for what is kept."""
    yield mask
    op, keeps = passed(mask.tensor, through), mask.keeps
    if not depth:
        return
    if op.type == "LogicalNot":
        yield from _parts(_Mask(op.inputs[0], keeps=not keeps), through, depth - 1)
    elif op.type == "Sub" and _is_constant(op.inputs[0], 1):
        yield from _parts(_Mask(op.inputs[1], keeps=not keeps), through, depth - 1)
    elif op.type in (("LogicalAnd", "Mul") if keeps else ("LogicalOr",)):
        for one in op.inputs:
            yield from _parts(_Mask(one, keeps=keeps), through, depth - 1)


def _is_far_below(tensor: Tensor) -> bool:
    value = constant(tensor)
    return value is not None and value <= FAR_BELOW


def _is_constant(tensor: Tensor, value: float) -> bool:
    return constant(tensor) == value
