"""Columns that meet vectors element by element, so that each sample meets every other, in the graph. Owns no state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final

from gradwatch.origin import GRADIENT_SCOPE, is_users, layer_of, source_of
from gradwatch.slips.graph.least import COMPARING
from gradwatch.tap import find_outer
from gradwatch.walk import DIFFERENCES, GIVEN, PRODUCTS, SAME_NUMBERS, behind, beyond, goes_into, passed, reads_variable

__all__ = ["find_crossings"]

Tensor = Any  # tensorflow ships no types

_ELEMENTWISE: Final = frozenset(
    {
        "Add",
        "AddV2",
        "Div",
        "DivNoNan",
        "Maximum",
        "Minimum",
        "Mul",
        "Pow",
        "RealDiv",
        "SquaredDifference",
        "Sub",
        "Xlogy",
    }
)
_CAST: Final = frozenset({"Cast", "Identity"})


def find_crossings(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The user's own operations outside layers that make ``[n, n, *axes]`` of ``[n, 1, *axes]`` and ``[n, *axes]``.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, source line and ``axes``, the further ones, which there may be none of. Those of which the column
        was made by adding an axis there and then are left out: that is how one asks for all pairs. Where one function
        adds it and another one takes the difference, nobody did. Where nothing else asks for them either, and more than
        a mean of all is taken, ``unasked`` is True. Tables ``[n, n]`` that meet ``[n, n, 1]`` have ``square`` True.
    """
    ids = {id(op) for op in forward}
    found: list[dict[str, Any]] = []
    for op in filter(_crosses, forward):
        source = None if layer_of(op.name, layer_paths) else source_of(op)
        if source is not None and source not in [one["source"] for one in found]:
            vector, column = _by_rank(op)
            is_own = _is_weighed_sum(op, vector, column) or _adds_axis(column)
            is_plain = is_own or _is_plain_column(column, layer_paths)
            is_asked = _is_of_one(vector, column) or not is_plain or _is_grid(vector, column)
            is_square = _is_square(op)
            unasked = {} if (is_asked and not is_square) or _is_averaged(op, ids) else {"unasked": True}
            shape = {"axes": [], "square": True} if is_square else {"axes": vector.shape.as_list()[1:]}
            found.append({"type": op.type, "name": op.name, "source": source, **shape, **unasked})
    return found


def _by_rank(op: Any) -> list[Tensor]:
    return sorted(op.inputs, key=lambda one: int(one.shape.rank))


_UNARY: Final = frozenset(
    {
        "Abs",
        "Cast",
        "Exp",
        "Identity",
        "Log",
        "Neg",
        "Relu",
        "Sigmoid",
        "Softplus",
        "Sqrt",
        "Square",
        "StopGradient",
        "Tanh",
    }
)


def _is_plain_column(column: Tensor, layer_paths: Sequence[str], depth: int = 12) -> bool:
    """Whether a column ``[n, 1, ...]`` is one as it comes from a layer, from the data or out of a wider table.

    What is picked from each row of a table, as the score of an action, is one, by its place or by a sum over ones and
    zeros, and so is the gradient with respect to a column. Not where it was made one in the step by a `Reshape`, or by
    another sum that keeps its axis, as in distances of all.
    """
    op = column.op
    if (
        layer_of(op.name, layer_paths)
        or op.type in ("Placeholder", "Split", "SplitV")
        or op.name.startswith(GRADIENT_SCOPE)
    ):
        return True
    if op.type in _MAKING_COLUMNS:
        return bool(_MAKING_COLUMNS[op.type](op))
    if op.type not in _UNARY | _ELEMENTWISE | COMPARING | {"SelectV2"} or not depth:
        return False
    columns = [one for one in op.inputs if one.shape.rank == column.shape.rank]
    # An axis that is added to fit a column asks for no pairs: `prediction - y[:, None]`.
    return any(_is_plain_column(one, layer_paths, depth - 1) for one in columns)


def _is_pick(op: Any) -> bool:
    """Whether a sum is one of a table times a one in each row."""
    product = op.inputs[0].op
    made = (passed(one, _CAST) for one in product.inputs)
    return product.type == "Mul" and any(one.type == "OneHot" for one in made)


_MAKING_COLUMNS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "GatherV2": lambda op: op.get_attr("batch_dims") > 0,
    "MatMul": lambda op: op.inputs[1].op.type == "ReadVariableOp",  # a kernel's: of a model that is not watched
    "StridedSlice": lambda op: op.get_attr("new_axis_mask") == 0,
    "Sum": _is_pick,
}
"""Whether what makes a column of a wider table makes a plain one."""


def _is_weighed_sum(op: Any, vector: Tensor, column: Tensor) -> bool:
    """Whether the sums over each row are multiplied by data, or by what no gradient passes, as an advantage is.

    These are weights of rows. Distances of all pairs and cosines have a sum on either side.
    """
    return op.type == "Mul" and column.op.type == "Sum" and vector.op.type in ("Placeholder", "StopGradient")


def _is_grid(vector: Tensor, column: Tensor) -> bool:
    """Whether the vector is the same in every step, and neither has weights behind it: a curve for each sample."""
    made = list(behind([vector.op], through=None))
    ends = (op for op in made if op.type in GIVEN)
    is_fixed = all(find_outer(op.outputs[0]) is not None for op in ends) and not any("Random" in op.type for op in made)
    return is_fixed and not any(reads_variable(one, None) for one in (vector, column))


_SUMS: Final = frozenset({"Add", "AddV2", "Identity", "Neg", "Sub"})


def _is_averaged(op: Any, forward: Set[int]) -> bool:
    """Whether a sum of a column and a vector goes into a mean at once: that is the sum of both means."""
    return op.type in _SUMS and goes_into(op, forward, {"Mean"}, through=_SUMS)


def _is_square(op: Any) -> bool:
    """Whether it is given a table ``[n, n]`` and another ``[n, n, 1]``: no axis meets its own."""
    vector, column = (one.shape.as_list() for one in _by_rank(op))
    return len(vector) == 2 and vector[0] == vector[1] != 1 and column == [*vector, 1]


def _crosses(op: Any) -> bool:
    """Whether an operation of two tensors, element by element, is given a column and a vector as long as it.

    Their elements may have further axes, the same: ``[n, 1, 24]`` and ``[n, 24]``. Or it is a table of all pairs, and
    one with an axis more, of length 1: ``[n, n]`` and ``[n, n, 1]``.
    """
    if op.type not in _ELEMENTWISE or any(one.shape.rank is None for one in op.inputs):
        return False
    vector, column = _by_rank(op)
    (n, *axes), of_column = vector.shape.as_list() or [1], column.shape.as_list()
    is_of_columns = n != 1 and None not in axes and of_column == [n, 1, *axes]
    if not is_of_columns and not _is_square(op):
        return False
    return not _adds_axis(column) or _is_handed_on(op, vector, column)


def _adds_axis(tensor: Tensor) -> bool:
    op = passed(tensor, _CAST)
    return bool(op.type == "ExpandDims" or (op.type == "StridedSlice" and op.get_attr("new_axis_mask") != 0))


def _is_of_one(vector: Tensor, column: Tensor) -> bool:
    return passed(vector, SAME_NUMBERS) is passed(column, SAME_NUMBERS)


def _is_handed_on(op: Any, vector: Tensor, column: Tensor) -> bool:
    """Whether one of the script's functions adds an axis and another takes a difference, which expects no pairs.

    Not where a table of all pairs is what it is for, which then multiplies others, as that of a kernel does.
    """
    added = passed(column, _CAST)
    if op.type not in DIFFERENCES or _adds_axis(vector) or _is_of_one(vector, added.inputs[0]):
        return False
    return _function_of(added) != _function_of(op) and not any(one.type in PRODUCTS for one in beyond(op))


def _function_of(op: Any) -> tuple[str, str] | None:
    """File and name of the user's own function that asked for an operation."""
    frames = (one for one in reversed(op.traceback) if is_users(one.filename) and not one.name.startswith("<"))
    return next(((one.filename, one.name) for one in frames), None)
