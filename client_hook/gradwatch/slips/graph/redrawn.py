"""Policies that draw their action anew where they learn from the one that was taken, in the graph. Owns no state.

A policy gradient multiplies the log-probability of an action with what came of it. Where the step draws an action by
itself, and multiplies its log-probability with numbers that it was given, these tell of another action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import source_of
from gradwatch.walk import behind

__all__ = ["find_redrawn"]

DRAWING: Final = frozenset({"Multinomial", "StatelessMultinomial"})
PICKING: Final = frozenset(
    {
        "AddV2",
        "Cast",
        "ConcatV2",
        "ExpandDims",
        "GatherNd",
        "GatherV2",
        "Identity",
        "Log",
        "Maximum",
        "Mul",
        "Neg",
        "OneHot",
        "Pack",
        "Reshape",
        "SparseSoftmaxCrossEntropyWithLogits",
        "SoftmaxCrossEntropyWithLogits",
        "Squeeze",
        "StopGradient",
        "StridedSlice",
        "Sum",
    }
)
"""What an action is picked by, and its log-probability."""
PROBABILITIES: Final = frozenset({"AddV2", "Cast", "Identity", "Log", "LogSoftmax", "Maximum", "Reshape", "Softmax"})
"""What makes log-probabilities of scores."""
Tensor = Any  # tensorflow ships no types


def find_redrawn(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """Draws of which the log-probability is multiplied with what does not come of them.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.

    Returns:
        Type, name, no layer and source line of the operation that draws, the first.
    """
    if not any(op.type in DRAWING for op in forward):
        return []
    for op in forward:
        if op.type != "Mul":
            continue
        for picked, given in (op.inputs, tuple(reversed(op.inputs))):
            draw = _draw_of(picked.op)
            if draw is not None and _is_given(given.op, draw):
                return [{"type": draw.type, "name": draw.name, "layer": "", "source": source_of(draw)}]
    return []


def _draw_of(picked: Any) -> Any:
    """The draw whose log-probability something is; None where it is none."""
    found = list(behind([picked], through=PICKING | PROBABILITIES))
    ids = {id(op) for op in found if op.type != "Const"}
    for draw in found:
        if draw.type in DRAWING and draw in behind([picked], through=PICKING):
            scores = behind([draw.inputs[0].op], through=PROBABILITIES)
            if any(id(op) in ids for op in scores):
                return draw
    return None


def _is_given(op: Any, draw: Any) -> bool:
    """Whether something is made of numbers that a step was given, and of nothing that the draw decided."""
    found = list(behind([op], through=None))
    has_data = any(one.type == "Placeholder" and one.outputs[0].dtype.is_floating for one in found)
    return has_data and draw not in found
