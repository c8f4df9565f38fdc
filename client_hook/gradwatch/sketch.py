"""The step of an eager loop as a graph, drawn operation by operation while it runs.

An eager step leaves no graph in which to look for slips. Its operations can be listened to, and each is made again in a
graph that nobody runs: with the scope of its layer, and in the stack of the user's own line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf
from tensorflow.python.framework import func_graph, op_def_library, op_def_registry, ops

from gradwatch.origin import GRADIENT_SCOPE, is_own
from gradwatch.within import FUNCTIONS

__all__ = ["Place", "Sketch", "scope_of"]

CONSTANT_MAX: Final = 16
"""Elements of a tensor from outside the step that is taken for a constant of the user's code, not for data."""
OPERATIONS_MAX: Final = 10_000
Tensor = Any  # tensorflow ships no types


class Place(NamedTuple):
    """Where a tensor is to be found in a step: an output of the operation with this number, or one of its inputs."""

    number: int
    is_output: bool
    position: int


class Sketch:
    """The graph of what was drawn so far.

    Attributes:
        graph: that graph. What the step was given is a placeholder; a variable's handle is captured.
        is_whole: whether there was room for all operations.
        n_rows: of a batch, where that is known: what has as many is data.
    """

    def __init__(self) -> None:
        self.graph = func_graph.FuncGraph("gradwatch_sketch")
        self.is_whole = True
        self.n_rows: int | None = None
        self._drawn: dict[int, Tensor] = {}
        self._known: dict[int, Any] = {}
        self._places: dict[int, Place] = {}
        self._n_operations = 0

    def draw(
        self,
        op_type: str,
        inputs: Sequence[Any],
        attributes: Sequence[Any],
        outputs: Sequence[Any],
        *,
        scope: str,
        number: int,
    ) -> None:
        """Draws an operation that has run.

        Args:
            op_type: TensorFlow's type of it.
            inputs: the eager tensors that it was given.
            attributes: names and values in turn.
            outputs: the eager tensors that it gave.
            scope: that of its layer, or that of a gradient.
            number: its number in the step.
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
            if name in kinds and value is not None  # what is left to its default
        }
        with self.graph.as_default():
            op = self.graph._create_op_internal(
                op_type,
                [self._find_or_enter(one) for one in inputs],
                [one.dtype for one in outputs],
                attrs=values,
                name="/".join(part for part in (scope, op_type) if part),
            )
        for position, drawn in enumerate(op.inputs):
            self._places.setdefault(id(drawn), Place(number, is_output=False, position=position))
        for position, (output, drawn) in enumerate(zip(outputs, op.outputs, strict=True)):
            self._drawn[output._id] = drawn
            self._places[id(drawn)] = Place(number, is_output=True, position=position)
            if op_type in FUNCTIONS and is_own(op):
                self._known[id(drawn)] = output

    def find(self, tensor: Any) -> Tensor | None:
        """What was drawn for an eager tensor; a placeholder for one that came from outside, None for none."""
        if not isinstance(tensor, ops.EagerTensor):
            return None
        with self.graph.as_default():
            return self._find_or_enter(tensor)

    def find_place(self, drawn: Tensor) -> Place | None:
        """Where in the step a tensor of the graph was made, or first used; None where neither was drawn."""
        return self._places.get(id(drawn))

    def find_eager(self, drawn: Tensor) -> Any:
        """The eager tensor that a placeholder of the graph stands for, or a function's output; None for another."""
        return self._known.get(id(drawn))

    def _find_or_enter(self, tensor: Any) -> Tensor:
        drawn = self._drawn.get(tensor._id)
        if drawn is None:
            drawn = self._drawn[tensor._id] = self._enter(tensor)
        return drawn

    def _enter(self, tensor: Any) -> Tensor:
        if tensor.dtype in (tf.resource, tf.variant):
            return self.graph.capture(tensor)
        if tensor._num_elements() <= CONSTANT_MAX and not self.is_batch(tensor):
            return tf.constant(tensor.numpy(), tensor.dtype)
        drawn = tf.compat.v1.placeholder(tensor.dtype, tensor.shape)
        self._known[id(drawn)] = tensor
        return drawn

    def is_batch(self, tensor: Any) -> bool:
        """Whether an eager tensor has a row for each sample, if their number is known."""
        is_as_long = tensor is not None and bool(tensor.shape.rank) and tensor.shape[0] == self.n_rows
        return is_as_long and tensor.dtype.is_floating and self.n_rows != 1


def scope_of(scope: str, *, is_backward: bool) -> str:
    """The scope in the graph of what runs in an eager scope, perhaps while a tape differentiates."""
    return (GRADIENT_SCOPE + scope).rstrip("/") if is_backward else scope


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
