"""The step of an eager loop as a graph, drawn operation by operation while it runs.

An eager step leaves no graph in which to look for slips. Its operations can be listened to, and each is made again in a
graph that nobody runs: with the scope of its layer, and in the stack of the user's own line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf
from tensorflow.python.framework import func_graph, op_def_library, op_def_registry, ops

from gradwatch.origin import GRADIENT_SCOPE

__all__ = ["Sketch", "scope_of"]

CONSTANT_MAX: Final = 16
"""Elements of a tensor from outside the step that is taken for a constant of the user's code, not for data."""
OPERATIONS_MAX: Final = 10_000
Tensor = Any  # tensorflow ships no types


class Sketch:
    """The graph of what was drawn so far.

    Attributes:
        graph: that graph. What the step was given is a placeholder; a variable's handle is captured.
        is_whole: whether there was room for all operations.
    """

    def __init__(self) -> None:
        self.graph = func_graph.FuncGraph("gradwatch_sketch")
        self.is_whole = True
        self._drawn: dict[int, Tensor] = {}
        self._n_operations = 0

    def draw(
        self, op_type: str, inputs: Sequence[Any], attributes: Sequence[Any], outputs: Sequence[Any], scope: str
    ) -> None:
        """Draws an operation that has run.

        Args:
            op_type: TensorFlow's type of it.
            inputs: the eager tensors that it was given.
            attributes: names and values in turn.
            outputs: the eager tensors that it gave.
            scope: that of its layer, or that of a gradient.
        """
        self._n_operations += 1
        self.is_whole &= self._n_operations <= OPERATIONS_MAX
        definition = op_def_registry.get(op_type)
        if not self.is_whole or definition is None:
            return
        kinds = {one.name: one.type for one in definition.attr}
        if "func" in kinds.values():  # a call of a graph: what it gives is as if from outside
            return
        given = dict(zip(map(_text, attributes[::2]), attributes[1::2], strict=True))
        values = {
            name: op_def_library.value_to_attr_value(value, kinds[name], name)
            for name, value in given.items()
            if name in kinds
        }
        with self.graph.as_default():
            op = self.graph._create_op_internal(
                op_type,
                [self._find_or_enter(one) for one in inputs],
                [one.dtype for one in outputs],
                attrs=values,
                name="/".join(part for part in (scope, op_type) if part),
            )
        for output, drawn in zip(outputs, op.outputs, strict=True):
            self._drawn[output._id] = drawn

    def find(self, tensor: Any) -> Tensor | None:
        """What was drawn for an eager tensor; a placeholder for one that came from outside, None for none."""
        if not isinstance(tensor, ops.EagerTensor):
            return None
        with self.graph.as_default():
            return self._find_or_enter(tensor)

    def _find_or_enter(self, tensor: Any) -> Tensor:
        drawn = self._drawn.get(tensor._id)
        if drawn is None:
            drawn = self._drawn[tensor._id] = self._enter(tensor)
        return drawn

    def _enter(self, tensor: Any) -> Tensor:
        if tensor.dtype in (tf.resource, tf.variant):
            return self.graph.capture(tensor)
        if tensor._num_elements() <= CONSTANT_MAX:
            return tf.constant(tensor.numpy(), tensor.dtype)
        return tf.compat.v1.placeholder(tensor.dtype, tensor.shape)


def scope_of(scope: str, *, is_backward: bool) -> str:
    """The scope in the graph of what runs in an eager scope, perhaps while a tape differentiates."""
    return (GRADIENT_SCOPE + scope).rstrip("/") if is_backward else scope


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
