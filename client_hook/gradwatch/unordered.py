"""Attentions over words that are not told their places, in the graph. Owns no state.

An attention gives the same for its words in any order. What knows their order adds something to each place: a table of
places, waves, a mask of what came before; or it reads them in order, or weighs each place by a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

from gradwatch.origin import layer_of
from gradwatch.walk import behind, beyond, reads_variable
from gradwatch.weighed import product_of

__all__ = ["find_unordered"]

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
