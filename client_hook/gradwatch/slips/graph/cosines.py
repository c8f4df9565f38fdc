"""Cosines that are made smaller before their softmax, or taken with the wrong sign, in the graph. Owns no state.

Scores that their own label changes, as the margin of an angle does, are no predictions: that is told too.

A loss that asks which of many belongs to which divides cosines, which lie between -1 and 1, by a temperature below 1,
so that one may outweigh all others together. Multiplied by it, none can: the loss cannot fall far below guessing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.constants import constant, factor
from gradwatch.origin import find_source, slip_of, source_of
from gradwatch.slips.graph.signs import signs_in, terms_of
from gradwatch.walk import GIVEN, PRODUCTS, behind, given_of, is_given, reads_variable

__all__ = ["find_cooled", "find_handicapped", "find_negated", "find_repelled"]

FACTOR_MAX: Final = 0.5
"""Times a cosine: without a temperature it is 1, with one more."""
CHOOSING: Final = frozenset(
    {"LogSoftmax", "Softmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"}
)
KEEPING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "StridedSlice", "Transpose"})
AVERAGING: Final = frozenset({"DivNoNan", "Mean", "Mul", "RealDiv", "Sum"})
BOUNDING: Final = frozenset({"AddV2", "Maximum", "Minimum"})
WEIGHING: Final = KEEPING | {
    *("Add", "AddV2", "Equal", "Greater", "GreaterEqual", "LogicalAnd", "LogicalNot", "Maximum", "Minimum", "Mul"),
    *("Neg", "NotEqual", "RealDiv", "Select", "SelectV2", "Sub"),
}
"""What scores and a mask of classes may pass."""
WAY_MAX: Final = 16
Tensor = Any  # tensorflow ships no types


def find_cooled(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Products of vectors of length 1 that a constant makes smaller before a softmax is taken of them.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (of the product), name, layer and source line of the first, the line being that of the constant, and
        ``cosines``: what they are multiplied by.
    """
    for op in forward:
        if op.type in CHOOSING:
            scale, at, product = 1.0, None, op.inputs[0].op
            for _ in range(WAY_MAX):
                own = factor(product)
                if own is None and product.type not in KEEPING:
                    break
                number, before = (1.0, product.inputs[0]) if own is None else own
                scale, at, product = scale * number, at if own is None else product, before.op
            if 0 < scale < FACTOR_MAX and product.type in PRODUCTS and all(map(_is_unit, product.inputs)):
                return [slip_of(product, layer_paths) | {"source": source_of(at), "cosines": scale}]
    return []


def find_handicapped(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The mask of a class that the step was given and that changes the scores of a cross-entropy; no slip by itself.

    Args:
        forward: as for `find_cooled`.
        layer_paths: likewise.

    Returns:
        Type, name, layer and source line of the first, and ``handicaps`` (True).
    """
    for op in forward:
        if op.type.endswith("CrossEntropyWithLogits"):
            for one in behind([op.inputs[0].op], through=WEIGHING):
                if one.type == "OneHot" and is_given(one.inputs[0], KEEPING):
                    return [slip_of(one, layer_paths) | {"handicaps": True}]
    return []


def find_negated(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first 1 from which the negative of a cosine is subtracted, as `keras.losses.cosine_similarity` gives it.

    Args:
        forward: as for `find_cooled`.
        layer_paths: likewise.

    Returns:
        Type, name, layer and source line, and ``negated`` (True).
    """
    for op in forward:
        if op.type == "Sub" and constant(op.inputs[0]) == 1 and _is_negative_cosine(op.inputs[1]):
            return [slip_of(op, layer_paths) | {"negated": True}]
    return []


def find_repelled(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Cosines that a loss is made of and makes small: of outputs and targets, or of what a network makes of two views.

    Args:
        forward: as for `find_cooled`.
        loss: what is made small; None where it is not known.
        layer_paths: as for `find_cooled`.

    Returns:
        Type, name, layer and source line of the first, and ``repels``: ``target`` or ``output``. None where the loss
        has another term, or makes a cosine large.
    """
    cosines = [] if loss is None else [op for op in forward if op.type == "Sum" and _is_cosine(op)]
    if not cosines or any(set(signs_in(one.outputs[0], loss)) != {1} for one in cosines):
        return []
    kind = "target" if all(map(_is_of_target, cosines)) else "output"
    if not _is_nothing_else(loss, cosines) or (kind == "output" and not all(map(_is_of_views, cosines))):
        return []
    source = source_of(cosines[0]) or find_source(loss)
    return [slip_of(cosines[0], layer_paths) | {"source": source, "repels": kind}]


def _is_of_target(cosine: Any) -> bool:
    sides = [(reads_variable(one, None), given_of(one)) for one in cosine.inputs[0].op.inputs]
    return sum(is_learned for is_learned, _ in sides) == 1 and all(
        given for is_learned, given in sides if not is_learned
    )


def _is_of_views(cosine: Any) -> bool:
    """Whether a network makes both sides of data: rows of a table alone may be meant to lie apart."""
    sides = [list(behind([one.op], through=None)) for one in cosine.inputs[0].op.inputs]
    given = [{one.name for op in ways for one in op.inputs if _is_data(one)} for ways in sides]
    return all(given) and all(any(op.type == "ReadVariableOp" for op in ways) for ways in sides)


def _is_data(tensor: Tensor) -> bool:
    return tensor.op.type in GIVEN and tensor.dtype.is_floating


def _is_cosine(total: Any) -> bool:
    product = total.inputs[0].op
    return product.type == "Mul" and all(map(_is_unit, product.inputs)) and product.inputs[0] is not product.inputs[1]


def _is_nothing_else(loss: Tensor, cosines: Sequence[Any]) -> bool:
    """Whether a loss is a mean or sum of cosines, times a number, and has no other term."""
    names = {one.name for one in cosines}
    return all(one.name in names for one in terms_of(loss, names))


def _is_negative_cosine(tensor: Tensor) -> bool:
    op = tensor.op
    for _ in range(WAY_MAX):  # the loss of a class is a mean over the batch
        if op.type == "Neg" or op.type not in KEEPING | AVERAGING:
            break
        op = op.inputs[0].op
    total = op.inputs[0].op if op.type == "Neg" else None
    if total is None or total.type != "Sum":
        return False
    product = total.inputs[0].op
    return product.type == "Mul" and all(map(_is_unit, product.inputs))


def _is_unit(tensor: Tensor) -> bool:
    """Whether vectors are divided by their lengths."""
    op = tensor.op
    for _ in range(WAY_MAX):
        if op.type == "ConcatV2":
            return all(map(_is_unit, op.inputs[:-1]))
        if op.type not in KEEPING:
            break
        op = op.inputs[0].op
    root = {"Mul": "Rsqrt", "DivNoNan": "Sqrt", "RealDiv": "Sqrt"}.get(op.type)
    divisors = op.inputs if op.type == "Mul" else op.inputs[1:]
    return root is not None and any(_is_root(one, root) for one in divisors)


def _is_root(tensor: Tensor, kind: str) -> bool:
    """Whether a tensor is a root of a sum of squares, but for a bound."""
    roots = [one for one in behind([tensor.op], through=BOUNDING | KEEPING) if one.type == kind]
    sums = behind([root.inputs[0].op for root in roots], through=BOUNDING | KEEPING)
    return any(one.type == "Sum" and one.inputs[0].op.type in ("Mul", "Square") for one in sums)
