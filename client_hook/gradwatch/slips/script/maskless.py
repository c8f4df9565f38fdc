"""Masks of padding that a layer loses on the way to one that would use them, as a step is traced.

An `Embedding` with `mask_zero=True`, or a `Masking`, hangs a mask on what it gives. A layer that does not say that it
supports masks hands on none, nor does a line that computes with the tensor, and whatever reads what they give, a
recurrent layer, an attention, an average, reads the padding too. Who takes the mask as an argument, or has a
`compute_mask` of its own, means what it does. Owns what the layers of the step that is being traced were called with.
"""

from __future__ import annotations

import ast
import inspect
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import keras
import tensorflow as tf

from gradwatch.origin import is_own, is_users, source_at, source_of
from gradwatch.syntax import last_name, nodes_of
from gradwatch.target import file_of, path_of
from gradwatch.walk import WAY_MAX

__all__ = ["Masks"]

CALLS_MAX: Final = 500
"""Calls of layers in one step."""
USING: Final = (
    keras.layers.AdditiveAttention,
    keras.layers.Attention,
    keras.layers.Bidirectional,
    keras.layers.GlobalAveragePooling1D,
    keras.layers.MultiHeadAttention,
    keras.layers.RNN,
)
"""Layers that leave out what a mask leaves out."""
SEQUENCE: Final = 3
"""The rank of sequences of features."""
Tensor = Any  # tensorflow ships no types


class _Call(NamedTuple):
    """A call of a layer.

    Attributes:
        layer: it.
        given: the tensors that it was given.
        mask: that hangs on one of them; None where none does.
        is_told: whether the caller gives a mask beside them.
        outputs: what it gave; nothing before it has.
        mask_after: that hung on the first of them then.
    """

    layer: Any
    given: list[Tensor]
    mask: Tensor | None
    is_told: bool
    outputs: list[Tensor]
    mask_after: Tensor | None


class Masks:
    """Follows the masks of the step that is being traced."""

    def __init__(self) -> None:
        self._calls: deque[_Call] = deque(maxlen=CALLS_MAX)

    def enter(self, layer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A layer is about to be called, with these; what is returned goes to `leave`. It may take a mask away."""
        if tf.executing_eagerly():
            return None
        given = _symbolic((args, kwargs))
        is_told = any("mask" in name and one is not None for name, one in kwargs.items())
        mask = next((one for one in map(_mask_of, given) if one is not None), None)
        return _Call(layer, given, mask, is_told, [], None)

    def leave(self, entered: Any, output: Any) -> None:
        """It was called, and gave an output."""
        outputs = [] if entered is None else _symbolic(output)
        if outputs:
            self._calls.append(entered._replace(outputs=outputs, mask_after=_mask_of(outputs[0])))

    def take(self, files: Sequence[str]) -> list[dict[str, Any]]:
        """The first layer that would use a mask, and was given what another one lost it on. No slip by itself.

        Args:
            files: the user's files that are looked at.

        Returns:
            Type (the class of the layer that loses it) and name (its path), or those of the operation; layer (the path
            of the one that would use it) and source line, ``loses`` (the path of the layer that made the mask),
            ``is_own`` (whether that class is the user's), ``is_op`` (whether it is no layer) and ``n_steps`` (how long
            the sequences are, 0 where that is not known).
        """
        graph = tf.compat.v1.get_default_graph()
        calls = [one for one in self._calls if one.outputs[0].graph is graph]
        self._calls.clear()
        for call in calls if any(one.mask_after is not None for one in calls) else ():
            if isinstance(call.layer, USING) and call.given and call.mask is None and not call.is_told:
                found = _find_lost(call, calls, files)
                if found:
                    return [found]
        return []


def _find_lost(call: _Call, calls: Sequence[_Call], files: Sequence[str]) -> dict[str, Any]:
    """Where a mask was lost on the way to a call of a layer that would use it; empty for nowhere."""
    ways = _way_to(call.given[0], calls)
    before = [one for one in reversed(calls) if id(one.outputs[0].op) in ways]
    place = {"layer": path_of(call.layer), "n_steps": int(call.given[0].shape[1] or 0)}
    for one in before:  # the last first
        mask = one.mask_after if one.mask is None else one.mask
        if mask is None:
            continue
        maker = next((its for its in calls if its.mask is None and its.mask_after is mask), one)
        place["loses"] = path_of(maker.layer)
        if _loses(one):
            return _describe_layer(one.layer, files) | place
        masked = one.outputs[0]
        users = [op for op in masked.consumers() if id(op) in ways and is_own(op)]
        if one.mask_after is None or not users:
            return {}
        known = {"type": users[0].type, "name": users[0].name, "source": source_of(users[0])}
        return known | {"is_own": False, "is_op": True} | place
    return {}


def _way_to(tensor: Tensor, calls: Sequence[_Call]) -> set[int]:
    """The operations, by id, on the way to sequences of features, over others as long: each layer is one step of it."""
    made = {id(one.outputs[0].op): one for one in calls if one.mask is None and one.mask_after is None}
    pending, seen = [tensor], set[int]()
    while pending and len(seen) < WAY_MAX:
        one = pending.pop()
        is_as_long = one.shape.rank == SEQUENCE and one.dtype.is_floating and one.shape[1] == tensor.shape[1]
        if is_as_long and id(one.op) not in seen:
            seen.add(id(one.op))
            layer = made.get(id(one.op))
            pending += list(one.op.inputs) if layer is None else layer.given
    return seen


def _describe_layer(layer: Any, files: Sequence[str]) -> dict[str, Any]:
    cls = type(layer)
    is_of_user = is_users(file_of(cls))
    lines = list(_lines_of(cls.__name__, [file_of(cls)] if is_of_user else files, is_of_user=is_of_user))
    source = source_at(lines) if len(lines) == 1 else None
    return {"type": cls.__name__, "name": path_of(layer), "source": source, "is_own": is_of_user, "is_op": False}


def _lines_of(name: str, files: Sequence[str], *, is_of_user: bool) -> Iterator[tuple[str, int]]:
    """Where a class is written, or one of Keras' is called."""
    for file in files:
        for node in nodes_of(file):
            if isinstance(node, ast.ClassDef):
                is_meant = is_of_user and node.name == name
            else:
                is_meant = not is_of_user and isinstance(node, ast.Call) and last_name(node) == name
            if is_meant and isinstance(node, (ast.Call, ast.ClassDef)):
                yield file, node.lineno


def _loses(call: _Call) -> bool:
    """Whether a layer was given sequences with a mask, and gave as long ones without."""
    layer, output = call.layer, call.outputs[0]
    is_lambda = isinstance(layer, keras.layers.Lambda) and layer.mask is None
    is_told = call.is_told and not is_lambda  # which a functional model hands the mask, and few functions take it
    if call.mask is None or is_told or call.mask_after is not None or isinstance(layer, USING):
        return False
    means_it = layer.supports_masking or type(layer).compute_mask is not keras.layers.Layer.compute_mask
    called = layer.function if is_lambda else layer.call
    if (means_it and not is_lambda) or "mask" in inspect.signature(called).parameters:
        return False
    is_sequence = output.shape.rank == SEQUENCE and output.dtype.is_floating
    return bool(is_sequence and call.mask.shape.rank == SEQUENCE - 1 and output.shape[1] == call.mask.shape[1])


def _symbolic(held: Any) -> list[Tensor]:
    return [one for one in keras.tree.flatten(held) if isinstance(one, tf.Tensor) and tf.is_symbolic_tensor(one)]


def _mask_of(tensor: Tensor) -> Tensor | None:
    return getattr(tensor, "_keras_mask", None)
