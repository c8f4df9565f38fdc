"""Functions of tensors that are traced once in a process, and are one op wherever a step needs them.

An op takes a few microseconds to run and a good part of a millisecond to make: in Python, and once more while
TensorFlow optimizes the graph that it stands in. What a step computes of a hundred tensors alike is therefore traced
for the first of them only. Owns the traces.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_util_v2

from gradwatch.ring import create_untraced

__all__ = ["SharedFunction"]

TRACES_MAX: Final = 256
"""Traces of one function that are kept: new types or shapes make new ones."""
Tensor = Any  # tensorflow ships no types


class SharedFunction:
    """A pure function ``(tensors, *options) -> tensor`` that is traced once for each of its signatures.

    Args:
        function: the function. It must not look at the graph or the device that it is called in, for it is traced in
            none: what depends on them is an option.
        has_shapes: whether the trace knows the shapes of its arguments, and is made anew for others. Else it knows
            their types only, and takes any shape.
    """

    def __init__(self, function: Callable[..., Tensor], *, has_shapes: bool = False) -> None:
        self._function = function
        self._has_shapes = has_shapes
        self._traces = lru_cache(maxsize=TRACES_MAX)(self._trace_anew)

    def __call__(self, tensors: Sequence[Tensor], *options: Hashable) -> Tensor:
        """The function's value: one op in a graph, whatever the function is made of."""
        trace = self.trace(tensors, *options)
        if tf.executing_eagerly():
            return trace(*tensors)
        (found,) = tf.raw_ops.PartitionedCall(args=tensors, Tout=[trace.outputs[0].dtype], f=_added(trace))
        found.set_shape(trace.outputs[0].shape)
        return found

    def where(self, is_due: Tensor, otherwise: Any, tensors: Sequence[Tensor], *options: Hashable) -> Tensor:
        """The function's value where it is due, else a constant of its type and shape; in a graph."""
        trace = self.trace(tensors, *options)
        constant = _constant(trace, otherwise.tobytes(), otherwise.dtype.name, otherwise.shape)
        (found,) = tf.raw_ops.StatelessIf(
            cond=is_due,
            input=tensors,
            Tout=[trace.outputs[0].dtype],
            then_branch=_added(trace),
            else_branch=_added(constant),
            output_shapes=[otherwise.shape],
        )
        # As `tf.cond` does it: a branch that is not taken is then an op or two that are passed by.
        control_flow_util_v2.maybe_set_lowering_attr(found.op)
        return found

    def trace(self, tensors: Sequence[Tensor], *options: Hashable) -> Any:
        """The concrete function for such tensors and options."""
        shapes = [tuple(tensor.shape.as_list()) if self._has_shapes else None for tensor in tensors]
        return self._traces(tuple(zip(shapes, (tensor.dtype for tensor in tensors), strict=True)), options)

    def _trace_anew(self, signature: tuple[tuple[Any, Any], ...], options: tuple[Hashable, ...]) -> Any:
        specs = [tf.TensorSpec(shape, dtype) for shape, dtype in signature]
        return _traced(lambda *tensors: self._function(tensors, *options), specs)


@lru_cache(maxsize=TRACES_MAX)
def _constant(like: Any, content: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """A trace with the arguments of another, and a constant value."""
    value = np.frombuffer(content, dtype).reshape(shape)
    return _traced(lambda *_: tf.constant(value), like.structured_input_signature[0], is_inlined=True)


def _traced(function: Callable[..., Tensor], specs: Sequence[Any], *, is_inlined: bool = False) -> Any:
    # Not inlined, what is seldom due costs a step one op to pass by, not a hundred.
    attributes = {} if is_inlined else {"_noinline": True}
    as_one = tf.function(function, experimental_attributes=attributes, autograph=False)
    return create_untraced(lambda: as_one.get_concrete_function(*specs))


def _added(trace: Any) -> Any:
    """A trace, known to the graph that is being made."""
    trace.add_to_graph(tf.compat.v1.get_default_graph())
    return trace
