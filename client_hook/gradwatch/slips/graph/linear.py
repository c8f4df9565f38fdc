"""Networks without any function between their kernels, in the graph. Owns no state.

Kernels one behind another make one kernel: however deep, such a network can only weigh its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import layer_of
from gradwatch.walk import ADDING, behind, reads_variable

__all__ = ["find_linear"]

KERNELS_MIN: Final = 3
"""So many one behind another whatever their width: two may be a factorisation that is meant."""
PRODUCTS: Final = frozenset({"Conv2D", "Conv3D", "DepthwiseConv2dNative", "Einsum", "MatMul"})
READING: Final = frozenset({"Cast", "ExpandDims", "Identity", "ReadVariableOp", "Reshape"})
STRAIGHT: Final = frozenset(
    {
        *("Add", "AddN", "AddV2", "AvgPool", "BatchToSpaceND", "BiasAdd", "Cast", "ConcatV2", "Const", "ExpandDims"),
        *("FusedBatchNormV3", "Identity", "IteratorGetNext", "Mean", "Mul", "Neg", "Pack", "Pad", "PadV2"),
        "Placeholder",
        *("ReadVariableOp", "RealDiv", "Reshape", "Rsqrt", "SelectV2", "Shape", "SpaceToBatchND", "Split", "SplitV"),
        *("SquaredDifference", "Squeeze", "StopGradient", "StridedSlice", "Sub", "Sum", "Transpose", "Unpack"),
        *PRODUCTS,
    }
)
"""What a network of kernels, normalisations, means and dropouts is made of. All else may bend."""
BENDING: Final = frozenset({"LogSoftmax", "Sigmoid", "Softmax"})
"""What may stand behind the last kernel, as the output of a classifier."""
DRAWING: Final = frozenset({"GreaterEqual", "StatelessRandomUniformV2", "RandomUniform"})
WAY_MAX: Final = 20_000


def find_linear(outputs: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """An output that kernels one behind another make, and nothing that bends between them.

    Args:
        outputs: what the step compares with a target each, as far as they are known.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name and layer of the last kernel's product, no source, and ``n_kernels``; none where anything on the way
        to one of the outputs may be a function. Of several outputs the first tells.
    """
    chains = [_chain_of(one.op) for one in outputs]
    if not chains or not all(chains) or (len(chains) > 1 and any(len(one) < KERNELS_MIN for one in chains)):
        return []
    last = chains[0][0]
    layer = layer_of(last.name, layer_paths)
    return [{"type": last.type, "name": last.name, "layer": layer, "source": None, "n_kernels": len(chains[0])}]


def _chain_of(output: Any) -> list[Any]:
    """The products of kernels that make an output, the nearest first; none where anything else may bend it."""
    products = [op for op in _behind(output) if op.type in PRODUCTS and _has_kernel(op)]
    if len(products) < 2 or not all(one in _behind(products[0]) for one in products):
        return []
    is_one_kernel = len(products) < KERNELS_MIN and _is_narrow(products)
    return products if all(map(_is_straight, _behind(products[0]))) and not is_one_kernel else []


def _behind(op: Any) -> list[Any]:
    return list(behind([op], through=STRAIGHT | BENDING, most=WAY_MAX))


def _is_narrow(products: Sequence[Any]) -> bool:
    """Whether the numbers between two kernels are no more than those at both ends: a factorisation may be meant."""
    last, first = (next(one.shape for one in op.inputs if reads_variable(one, READING)) for op in products)
    if first.rank is None or last.rank is None or None in (*first[-2:], *last[-2:]):
        return True
    return int(first[-1]) <= min(int(first[-2]), int(last[-1]))


def _has_kernel(op: Any) -> bool:
    return len(op.inputs) == 2 and any(reads_variable(one, READING) for one in op.inputs)


def _is_straight(op: Any) -> bool:
    if op.type in PRODUCTS:
        return _has_kernel(op)
    if op.type == "Mul":  # a gate is the product of two that the input decides; a normalisation is none
        return any(_is_scale(one.op) for one in op.inputs)
    if op.type == "SelectV2":  # of a dropout
        return op.inputs[0].op.type in DRAWING
    if op.type == "GatherV2":  # a table's rows are a kernel's
        return reads_variable(op.inputs[0], READING)
    return op.type in STRAIGHT or op.type in DRAWING or op.type.startswith(("Random", "StatelessRandom"))


def _is_scale(op: Any) -> bool:
    ways = list(behind([op], through=READING | ADDING | {"Mul", "Rsqrt", "Sub", "Neg"}))
    return op.type in ("Const", "Rsqrt", "SelectV2") or any(one.type in ("Rsqrt", "ReadVariableOp") for one in ways)
