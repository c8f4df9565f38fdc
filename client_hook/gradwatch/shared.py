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
from tensorflow.python.framework import auto_control_deps_utils, ops
from tensorflow.python.ops import control_flow_util_v2

from gradwatch.ring import create_untraced
from gradwatch.xla import held_back, is_under_xla

__all__ = ["SharedFunction", "has_gpu", "leave_apart", "static_shape"]

TRACES_MAX: Final = 256
"""Traces of one function that are kept: new types or shapes make new ones."""
Tensor = Any  # tensorflow ships no types
_AS_IT_IS: Final = tf.compat.v1.ConfigProto(
    graph_options={"rewrite_options": {"disable_meta_optimizer": True}}
).SerializeToString()
"""Runs a function unoptimized: to optimize it takes as long as to trace it, for the few steps in which it is due."""
Signature = tuple[tuple[Any, Any], ...]  # shape (None: any) and dtype of each tensor


class SharedFunction:
    """A pure function ``(tensors, *options) -> tensor``, or a list of them, that is traced once for each signature.

    Args:
        function: the function. It must not look at the graph or the device that it is called in, for it is traced in
            none: what depends on them is an option.
        has_shapes: whether the trace knows the shapes of its tensors, and is made anew for others. Else it knows
            their types only, and takes any shape.
    """

    def __init__(self, function: Callable[..., Any], *, has_shapes: bool = False) -> None:
        self._function = function
        self._has_shapes = has_shapes
        self._traces = lru_cache(maxsize=TRACES_MAX)(self._trace_anew)

    def __call__(self, tensors: Sequence[Tensor], *options: Hashable) -> Tensor:
        """The function's value, one tensor: one op in a graph, whatever the function is made of."""
        trace = self.trace(tensors, *options)
        if tf.executing_eagerly():
            return trace(*tensors)
        return _call(trace, tensors)[0]

    def where(
        self,
        is_due: Tensor,
        otherwise: Sequence[Any],
        tensors: Sequence[Tensor],
        *options: Hashable,
        variables: Sequence[Any] = (),
    ) -> list[Tensor]:
        """The function's values where they are due, else constants of their types; in a graph.

        Args:
            is_due: a bool scalar.
            otherwise: arrays or numbers of NumPy, one for each value.
            tensors: what the function is given.
            options: what it is given beside tensors.
            variables: their values are given behind the tensors; they are read only where it is due.
        """
        signature = self._signature(tensors)
        read = tuple((tuple(variable.shape.as_list()), variable.dtype) for variable in variables)
        trace = _called(self._traces(signature, read, options), is_under_xla())
        constant = _constants(
            trace, *((one.tobytes(), one.dtype.name, one.shape) for one in map(np.asarray, otherwise))
        )
        found: list[Tensor] = _either(
            is_due,
            trace,
            constant,
            is_pure=not variables,
            input=[*tensors, *(variable.handle for variable in variables)],
            Tout=[output.dtype for output in trace.outputs],
            output_shapes=[_common(*pair) for pair in zip(trace.outputs, constant.outputs, strict=True)],
        )
        op = found[0].op
        control_flow_util_v2.maybe_set_lowering_attr(op)  # as `tf.cond` does it
        leave_apart(op)
        if variables:  # and what only reads a variable need not wait for others who do
            places = range(1 + len(tensors), 1 + len(tensors) + len(variables))
            ops.set_int_list_attr(op, auto_control_deps_utils.READ_ONLY_RESOURCE_INPUTS_ATTR, list(places))
        return found

    def trace(self, tensors: Sequence[Tensor], *options: Hashable) -> Any:
        """The concrete function for such tensors and options."""
        return self._traces(self._signature(tensors), (), options)

    def _signature(self, tensors: Sequence[Tensor]) -> Signature:
        return tuple((static_shape(one) if self._has_shapes else None, one.dtype) for one in tensors)

    def _trace_anew(self, given: Signature, read: Signature, options: tuple[Hashable, ...]) -> Any:
        def function(*inputs: Tensor) -> Any:
            handles = zip(inputs[len(given) :], read, strict=True)
            return self._function([*inputs[: len(given)], *(_read(handle, *one) for handle, one in handles)], *options)

        specs = [tf.TensorSpec(shape, dtype) for shape, dtype in given] + [tf.TensorSpec([], tf.resource)] * len(read)
        # Not inlined, what is seldom due costs a step one op to pass by, not a hundred.
        return _traced(function, specs, {"_noinline": True})


def leave_apart(op: Any) -> None:
    """Lets the branches of a condition stay functions, of which the one that is taken is called.

    Else they become ops of the graph around it, and a branch that is not taken is an op or two that are passed by, and
    one for each input: that takes longer from seven inputs on, and to optimize longer than in proportion to them.
    """
    is_placed = has_gpu() or tf.distribute.has_strategy()  # what is on several devices needs ops of its own there
    if not is_placed and not is_under_xla():
        control_flow_util_v2.maybe_set_lowering_attr(op, lower_using_switch_merge=False)


def has_gpu() -> bool:
    """Whether the process has a GPU, so that what is traced may run there."""
    return bool(tf.config.list_logical_devices("GPU"))


def static_shape(tensor: Tensor) -> tuple[int | None, ...] | None:
    """A tensor's shape as far as the trace knows it, which can be a key; None where not even the rank is known."""
    return None if tensor.shape.rank is None else tuple(tensor.shape.as_list())


def _common(one: Tensor, other: Tensor) -> Any:
    return one.shape.most_specific_compatible_shape(other.shape)


def _read(handle: Tensor, shape: Sequence[int | None], dtype: Any) -> Tensor:
    value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
    value.set_shape(shape)
    return value


def _either(is_due: Tensor, trace: Any, constant: Any, *, is_pure: bool, **options: Any) -> Any:
    """The op that calls one of two traces."""
    if is_under_xla() and has_gpu():  # where it is told (`gradwatch.call`): of numbered branches XLA compiles that one
        case = tf.raw_ops.StatelessCase if is_pure else tf.raw_ops.Case
        return case(branch_index=tf.cast(is_due, tf.int32), branches=[_added(constant), _added(trace)], **options)
    choose = tf.raw_ops.StatelessIf if is_pure else tf.raw_ops.If
    return choose(cond=is_due, then_branch=_added(trace), else_branch=_added(constant), **options)


def _call(trace: Any, inputs: Sequence[Tensor]) -> list[Tensor]:
    """A trace's values, by one op that calls it."""
    call = tf.raw_ops.StatefulPartitionedCall if _has_state(trace) else tf.raw_ops.PartitionedCall
    found: list[Tensor] = call(
        args=inputs, Tout=[output.dtype for output in trace.outputs], f=_added(trace), config_proto=_AS_IT_IS
    )
    for one, output in zip(found, trace.outputs, strict=True):
        one.set_shape(output.shape)
    return found


def _has_state(trace: Any) -> bool:
    return any(one.dtype == tf.resource for one in trace.inputs)


@lru_cache(maxsize=TRACES_MAX)
def _called(trace: Any, is_held_back: bool) -> Any:
    """A trace that calls another: inlined where a branch is, it leaves a call that TensorFlow places op by op."""

    def call(*inputs: Tensor) -> list[Tensor]:
        found = _call(trace, inputs)
        return held_back(found) if is_held_back else found

    return _traced(call, trace.structured_input_signature[0])


@lru_cache(maxsize=TRACES_MAX)
def _constants(like: Any, *values: tuple[bytes, str, tuple[int, ...]]) -> Any:
    """A trace with the arguments of another, and constant values."""
    arrays = [np.frombuffer(content, dtype).reshape(shape) for content, dtype, shape in values]
    return _traced(lambda *_: [tf.constant(array) for array in arrays], like.structured_input_signature[0])


def _traced(function: Callable[..., Any], specs: Sequence[Any], attributes: dict[str, Any] | None = None) -> Any:
    as_one = tf.function(function, experimental_attributes=attributes, autograph=False)
    return create_untraced(lambda: as_one.get_concrete_function(*specs))


def _added(trace: Any) -> Any:
    """A trace, known to the graph that is being made."""
    trace.add_to_graph(tf.compat.v1.get_default_graph())
    return trace
