"""Noise that a step asks of its model and never shows it, in the graph. Owns no state.

A model that is to tell noise from data is given both together. Where what it is given is made with another draw, the
noise that it is compared with cannot be known: it learns that noise is 0 on the average. And what is to make samples of
noise alone must have been shown noise alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.constants import scaled
from gradwatch.origin import layer_of, source_of
from gradwatch.walk import ADDING, DIFFERENCES, behind, passed

__all__ = ["find_faint", "find_unshown"]

DRAWING: Final = frozenset(
    {"ParameterizedTruncatedNormal", "RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2"}
)
"""Draws whose mean is 0: labels that are blurred have another, which is what is asked for."""
PASSING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Neg", "Reshape", "Squeeze", "StopGradient"})
"""What leaves noise what it is, beside a constant factor and an added 0."""
WAY_MAX: Final = 16
COVERS_MIN: Final = 0.7
"""Where samples are made of noise alone, what is asked for last is noise of which next to nothing is a sample."""
WHOLE: Final = 1e-3
Tensor = Any  # tensorflow ships no types


def find_unshown(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Draws that what a network gives is compared with, and that nothing which it was given is made of.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, no layer and source line of the first such draw; ``shown``: the source line of a draw outside of
        layers that what the network was given is made with, None where there is none.
    """
    if not any(op.type in DRAWING for op in forward):
        return []
    for op in forward:
        if op.type not in DIFFERENCES:
            continue
        for asked, given in (op.inputs, tuple(reversed(op.inputs))):
            draw = _draw_of(asked)
            if draw is None or asked.shape.rank != given.shape.rank:
                continue
            ways = list(behind([given.op], through=None))
            if draw not in ways and any(one.type == "ReadVariableOp" for one in ways):
                others = (one for one in ways if one.type in DRAWING and not layer_of(one.name, layer_paths))
                shown = next((source_of(one) for one in others), None)
                return [{"type": draw.type, "name": draw.name, "layer": "", "source": source_of(draw), "shown": shown}]
    return []


def find_faint(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Noise that is added to samples by a schedule, and that never covers them: ``s[t] * x + n[t] * noise``.

    Args:
        forward: as for `find_unshown`.
        layer_paths: likewise.

    Returns:
        Type of the draw, its name, no layer, the source line of the sum, and ``covers``: the largest part of the noise,
        of one that is asked for, where the squares of both parts add up to 1 and it is below `COVERS_MIN`.
    """
    if not any(op.type in DRAWING for op in forward):
        return []
    asked = [_draw_of(one) for op in forward if op.type in DIFFERENCES for one in op.inputs]
    for op in forward:
        if op.type not in ADDING:
            continue
        for one, other in (op.inputs, tuple(reversed(op.inputs))):
            (noise, of_noise), (_, of_sample) = _scheduled(one), _scheduled(other)
            draw = None if noise is None else _draw_of(noise)
            if draw is None or draw not in asked or of_noise is None or of_sample is None:
                continue
            is_whole = of_noise.shape == of_sample.shape and np.allclose(of_noise**2 + of_sample**2, 1.0, atol=WHOLE)
            if is_whole and of_noise.max() < COVERS_MIN:
                place = {"layer": layer_of(op.name, layer_paths), "source": source_of(op)}
                return [{"type": draw.type, "name": draw.name, **place, "covers": float(of_noise.max())}]
    return []


def _scheduled(tensor: Tensor) -> tuple[Any, Any]:
    """What is multiplied by an element of a table of constants, and the table; None for none."""
    op = tensor.op
    if op.type == "Mul":
        for one, other in (op.inputs, tuple(reversed(op.inputs))):
            gather = passed(other)
            if gather.type == "GatherV2" and (table := _constant_of(gather.inputs[0])) is not None and table.ndim == 1:
                return one, table
    return None, None


def _constant_of(tensor: Tensor) -> Any:
    """The numbers of a constant, made in the step or before it; None where it is none."""
    value = tf.get_static_value(tensor)
    if value is None:
        outer = [one for one, inner in getattr(tensor.graph, "captures", ()) if inner is tensor]
        value = outer[0].numpy() if outer and hasattr(outer[0], "numpy") and outer[0].dtype != tf.resource else None
    return None if value is None else np.asarray(value, np.float64)


def _draw_of(tensor: Tensor) -> Any:
    """The draw that a tensor is, but for its form and a constant factor; None where it is anything else too."""
    for _ in range(WAY_MAX):
        op = tensor.op
        if op.type in DRAWING:
            return op
        if op.type in PASSING:
            tensor = op.inputs[0]
            continue
        parts = scaled(op)
        if parts is None:
            return None
        tensor = parts[1]
    return None
