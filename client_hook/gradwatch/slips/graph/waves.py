"""Sines of sums of sines, in the graph: whether they turn too fast is told by their weights. Owns no state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.constants import factor
from gradwatch.origin import layer_of, slip_of
from gradwatch.walk import behind, reads_variable

__all__ = ["find_waves"]

WAVES: Final = frozenset({"Cos", "Sin"})
PRODUCTS: Final = frozenset({"Einsum", "MatMul"})
ADDING: Final = frozenset({"AddV2", "BiasAdd", "Cast", "Identity", "Reshape"})
SHAPING: Final = frozenset({"Cast", "Identity", "Mul", "Reshape"})
"""What stands between a sine and the next kernel."""
READING: Final = frozenset({"Cast", "Identity", "ReadVariableOp", "Reshape"})
DEPTH_MAX: Final = 8
Tensor = Any  # tensorflow ships no types


def find_waves(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first sine or cosine of a kernel's product with sines or cosines.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Its type, name and source line, the layer that the kernel belongs to, and ``turns``: the number that the
        product is multiplied with before the sine is taken.
    """
    for op in forward:
        if op.type in WAVES:
            product, factor = _product_of(op.inputs[0])
            if product is not None and any(map(_is_of_waves, product.inputs)):
                return [slip_of(op, layer_paths) | {"layer": layer_of(product.name, layer_paths), "turns": factor}]
    return []


def _product_of(tensor: Tensor) -> tuple[Any, float]:
    """The product of a kernel that a tensor is made of, and what it is multiplied with; None for neither."""
    scale = 1.0
    for _ in range(DEPTH_MAX):
        op = tensor.op
        if op.type in PRODUCTS:
            return (op if any(map(_is_weight, op.inputs)) else None), scale
        parts = factor(op)
        if parts is not None:
            scale, tensor = scale * parts[0], parts[1]
        elif op.type in ADDING:
            tensor = next((one for one in op.inputs if not _is_weight(one)), op.inputs[0])
        else:
            return None, scale
    return None, scale


def _is_weight(tensor: Tensor) -> bool:
    return reads_variable(tensor, READING)


def _is_of_waves(tensor: Tensor) -> bool:
    return any(one.type in WAVES for one in behind([tensor.op], through=SHAPING))
