"""Attentions over words that are not told their places, in the graph. Owns no state.

An attention gives the same for its words in any order. What knows their order adds something to each place: a table of
places, waves, a mask of what came before; or it reads them in order, or weighs each place by a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import layer_of, slip_of
from gradwatch.slips.graph.weighed import product_of
from gradwatch.tap import find_outer
from gradwatch.walk import ADDING, GIVEN, behind, beyond, passed, reads_variable

__all__ = ["find_by_sample", "find_unordered"]

LENGTH_MIN: Final = 3
GATHERING: Final = frozenset({"GatherV2", "ResourceGather"})
READING: Final = frozenset({"Const", "Identity", "ReadVariableOp"})
PASSING: Final = frozenset({"Cast", "Identity", "Maximum", "Minimum"})
"""What stands between an index and the table that is read with it."""
IN_ORDER: Final = frozenset(
    {
        *("Conv1D", "Conv2D", "CudnnRNN", "CudnnRNNV3", "Cumsum", "DepthwiseConv2dNative", "ReverseV2"),
        *("PartitionedCall", "StatefulPartitionedCall", "StatelessWhile", "TensorListFromTensor", "While"),
    }
)
"""What reads a sequence in its order, or cannot be looked into."""
ELEMENTWISE: Final = frozenset({"Add", "AddV2", "ConcatV2", "Mul", "SelectV2", "Sub"})
WAY_MAX: Final = 20_000
SPREADING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Reshape"})
"""What stands between rows of a table and the sum they go into."""
EMBEDDED_RANK: Final = 3
BEFORE_MAX: Final = 200
"""Operations between what a step is given and the sum with a table of places."""
Tensor = Any  # tensorflow ships no types


def find_unordered(
    forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """An embedding of words that attentions read as a set.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with a target each, as far as they are known.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name and layer of the operation that reads the table, no source, and ``n_places``: how many words there
        are; none where anything on the way may tell of their order.
    """
    ids = {id(op) for op in forward}
    tables = [op for op in forward if op.type in GATHERING and _is_table(op)]
    words = [op for op in tables if op.inputs[1].shape.rank == 2]
    if len(outputs) != 1 or not words or len({id(_index_of(op)) for op in words}) > 1:
        return []
    length = words[0].inputs[1].shape[1]
    if length is None or length < LENGTH_MIN:
        return []
    way = {id(op) for op in behind([outputs[0].op], through=None, most=WAY_MAX)} & ids
    of_words = [*words, *(op for one in words for op in beyond(one, most=WAY_MAX) if id(op) in way)]
    known = {id(op) for op in of_words}
    attends = any(op.type == "Softmax" and product_of(op.inputs[0]) is not None for op in of_words)
    if not attends or any(_tells_order(op, int(length), known) for op in of_words):
        return []
    first = words[0]
    place = {"type": first.type, "name": first.name, "layer": layer_of(first.name, layer_paths), "source": None}
    return [{**place, "n_places": int(length)}]


def _is_table(op: Any) -> bool:
    return op.type == "ResourceGather" or reads_variable(op.inputs[0], READING)


def _index_of(op: Any) -> Any:
    """What a table is read with, before it was made fit for that."""
    index = op.inputs[1]
    while index.op.type in PASSING:
        index = index.op.inputs[0]
    return index


def _tells_order(op: Any, length: int, known: Set[int]) -> bool:
    """Whether an operation gives each place something of its own."""
    if op.type in IN_ORDER:
        return True
    if op.type == "Reshape":  # places and channels made one axis, of which a kernel takes each
        before, after = (one.shape.as_list() if one.shape.rank else [] for one in (op.inputs[0], op.outputs[0]))
        return length in before[1:-1] and length not in after[1:] and after[-1:] not in ([None], before[-1:])
    if op.type not in ELEMENTWISE:
        return False
    others = [one for one in op.inputs if id(one.op) not in known]
    along = [one for one in others if one.shape.rank is None or {length, None} & set(one.shape.as_list()[:-1])]
    return not all(map(_is_drawn, along))


def _is_drawn(tensor: Tensor) -> bool:
    """Whether a tensor is made of random numbers, as the mask of a dropout is."""
    return any("Random" in op.type for op in behind([tensor.op], through=None))


def find_by_sample(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """A table that is cut to as many rows as there are samples, and gives each sample one for all its places.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of the first sum of samples ``[n, n_places, width]`` and such rows
        ``[n, 1, width]``, and ``by_sample``: how many places there are.
    """
    for op in forward:
        for samples, rows in (op.inputs, tuple(reversed(op.inputs))) if op.type in ADDING else ():
            n_places = _places_of(samples, rows)
            if n_places and _is_cut(rows, samples.shape[0]) and _is_by_sample(samples):
                return [slip_of(op, layer_paths) | {"by_sample": n_places}]
    return []


def _places_of(samples: Tensor, rows: Tensor) -> int:
    """How many places each sample has that are given one row; 0 where they are not."""
    if samples.shape.rank != EMBEDDED_RANK or rows.shape.rank != EMBEDDED_RANK:
        return 0
    (n, n_places, width), (n_rows, one, depth) = samples.shape.as_list(), rows.shape.as_list()
    is_one_each = one == 1 and n_rows in (n, None) and n != 1 and width == depth is not None and n_places != n
    return int(n_places or 0) if is_one_each and (n_places or 0) >= LENGTH_MIN else 0


def _is_cut(rows: Tensor, n_samples: int | None) -> bool:
    """Whether these are the first rows of a table, as many as a batch has samples."""
    op = passed(rows, SPREADING)
    while op.type == "StridedSlice" and op.get_attr("new_axis_mask") and op.inputs[0].op.type in SPREADING | GATHERING:
        op = passed(op.inputs[0], SPREADING)
    if op.type in GATHERING:
        return _is_table(op) and _counts(op.inputs[1], n_samples)
    if op.type != "StridedSlice" or _is_given(op.inputs[0]) or op.get_attr("end_mask") & 1:
        return False
    table, begin, end = op.inputs[0].shape, tf.get_static_value(op.inputs[1]), tf.get_static_value(op.inputs[2])
    is_first = op.get_attr("begin_mask") & 1 or (begin is not None and begin[0] == 0)
    if not is_first or table.rank is None:
        return False
    if end is not None:
        return n_samples is not None and end[0] == n_samples and (table[0] or 0) > n_samples
    return _asks_for_size(op.inputs[2], n_samples)


def _is_given(table: Tensor) -> bool:
    """Whether a table is made of what a step is given, or of random numbers, and is another in each step."""
    ways = list(behind([table.op], through=None))
    ends = [one for op in ways if op.type in GIVEN for one in op.outputs]
    return any(find_outer(one) is None for one in ends) or _is_drawn(table)


def _counts(index: Tensor, n_samples: int | None) -> bool:
    """Whether these are the numbers from 0 on, as many as a batch has samples."""
    while index.op.type in {*PASSING, "SelectV2"}:
        index = index.op.inputs[2 if index.op.type == "SelectV2" else 0]
    if index.op.type != "Range":
        return False
    limit = tf.get_static_value(index.op.inputs[1])
    is_size = _asks_for_size(index.op.inputs[1], n_samples)
    return is_size if limit is None else n_samples is not None and limit == n_samples


def _asks_for_size(tensor: Tensor, n_samples: int | None) -> bool:
    """Whether a number is the length of the first axis of something, which may be known already."""
    op = tensor.op.inputs[0].op if tensor.op.type == "Pack" else tensor.op
    if op.type != "StridedSlice":
        return False
    begin, shape = tf.get_static_value(op.inputs[1]), tf.get_static_value(op.inputs[0])
    is_known = n_samples is not None and shape is not None and shape[0] == n_samples
    return begin is not None and list(begin) == [0] and (op.inputs[0].op.type == "Shape" or is_known)


def _is_by_sample(samples: Tensor) -> bool:
    """Whether the first axis is that of the samples, as a step was given them, in a short way without a transpose."""
    ways = list(behind([samples.op], through=None, most=BEFORE_MAX))
    given = [one for op in ways if op.type in GIVEN for one in op.outputs if one.dtype != tf.resource]
    is_turned = any(op.type in ("Transpose", "Einsum") or op.type in IN_ORDER - {"Conv1D", "Conv2D"} for op in ways)
    is_whole = len(ways) < BEFORE_MAX and not is_turned
    return is_whole and any((one.shape.rank or 0) > 1 and one.shape[:2] == samples.shape[:2] for one in given)
