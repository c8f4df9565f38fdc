"""One layer called several times on one tensor, where each call is to give something else, in the graph. No state.

``[Dense(1)] * n`` is one layer in n places. What its calls give is the same, whatever is asked of each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import layer_of

__all__ = ["find_repeated", "is_same"]

JOINING: Final = frozenset({"ConcatV2", "Pack"})
JOINED_MAX: Final = 64
DRAWING: Final = frozenset({"RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal"})
"""Operations that count their own draws, from a seed: in one step those of the same seed give the same numbers."""
DEPTH_MAX: Final = 16
WAY_MAX: Final = 1000
Tensor = Any  # tensorflow ships no types


def find_repeated(
    forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Layers that give the same to several outputs, or to what is joined of several tensors.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with targets of their own.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Call``), name of the last operation of the first call, layer, ``n`` calls that give the same, and no
        source, for each such layer.
    """
    joining = [op for op in forward if op.type in JOINING]
    groups = [(layer_of(op.name, layer_paths), [one for one in op.inputs if one.dtype.is_floating]) for op in joining]
    found: dict[str, dict[str, Any]] = {}
    for within, group in (("", outputs), *groups):
        for place, first in enumerate(group[:JOINED_MAX]):
            layer = layer_of(first.op.name, layer_paths)
            if layer in ("", within) or layer in found:  # what a layer joins itself are no calls of it
                continue
            others = [one for one in group[place + 1 : JOINED_MAX] if one is not first]
            n_calls = 1 + sum(is_same(first, one) and _has_variable(first) for one in others)
            if n_calls > 1:
                found[layer] = {"type": "Call", "name": first.op.name, "layer": layer, "source": None, "n": n_calls}
    return list(found.values())


def is_same(
    one: Tensor, other: Tensor, depth: int = DEPTH_MAX, known: dict[tuple[int, int, int], bool] | None = None
) -> bool:
    """Whether two tensors are computed alike of the same tensors and variables, with the same random numbers if any.

    Args:
        one: the first.
        other: the second.
        depth: operations on the way back, at the most.
        known: what was found of pairs so far, by their operations: a tensor may be used by many others.
    """
    if one is other:
        return True
    known = {} if known is None else known
    pair = (id(one.op), one.value_index, id(other.op))
    if pair not in known:
        known[pair] = _are_made_alike(one, other, depth, known)
    return known[pair]


def _are_made_alike(one: Tensor, other: Tensor, depth: int, known: dict[tuple[int, int, int], bool]) -> bool:
    op, twin = one.op, other.op
    if not depth or op.type != twin.type or one.value_index != other.value_index or len(op.inputs) != len(twin.inputs):
        return False
    if op.type == "ReadVariableOp":  # the state of random numbers is another one at each reading
        return op.inputs[0] is twin.inputs[0] and one.dtype.is_floating
    if op.type == "Const":
        value, other_value = tf.get_static_value(one), tf.get_static_value(other)
        return value is not None and value.shape == other_value.shape and bool((value == other_value).all())
    is_drawn = op._is_stateful and not (op.type in DRAWING and op.get_attr("seed2"))
    if is_drawn or not op.inputs or _settings(op) != _settings(twin):
        return False
    return all(is_same(*pair, depth - 1, known) for pair in zip(op.inputs, twin.inputs, strict=True))


def _settings(op: Any) -> dict[str, bytes]:
    attributes = op.node_def.attr
    return {name: attributes[name].SerializeToString() for name in attributes if not name.startswith("_")}


def _has_variable(tensor: Tensor) -> bool:
    """Whether a variable is read for it, at most `WAY_MAX` operations before."""
    pending, seen = [tensor.op], set[int]()
    while pending and len(seen) < WAY_MAX:
        op = pending.pop()
        if op.type == "ReadVariableOp":
            return True
        if id(op) not in seen and op.type != "Shape":  # of what is made like another nothing but its size comes from it
            seen.add(id(op))
            pending.extend(one.op for one in op.inputs)
    return False
