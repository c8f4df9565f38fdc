"""What a function of TensorFlow's is told by the host at each call, long after it was traced. Owns no state.

What a graph reads from a variable the device alone knows. To branch on it a GPU's host waits until the device has come
so far, and launches nothing meanwhile: XLA's program for GPUs does so at every condition. What the host says when it
calls is known before: no wait, and under XLA a program of its own for each value, without what is not due.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.ops.control_flow_v2_func_graphs import (
    CondBranchFuncGraph,
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
)

from gradwatch.xla import is_under_xla

__all__ = ["find_called", "told_at_call"]

Tensor = Any  # tensorflow ships no types


def find_called(graphs: Sequence[Any]) -> Any | None:
    """The innermost of `tap.enclosing_graphs` that is a function which is called at each step.

    None where the host cannot tell: within a loop, whose steps are one call, and on several replicas.
    """
    is_loop = any(isinstance(one, WhileBodyFuncGraph | WhileCondFuncGraph) for one in graphs)
    if is_loop or tf.distribute.has_strategy():
        return None
    return next((one for one in graphs if not isinstance(one, CondBranchFuncGraph)), None)


def told_at_call(called: Any, key: Hashable, tell: Callable[[], Tensor], n: int) -> list[Tensor]:
    """What ``tell`` gives at each call, one by one, in the graph of the function that is called.

    Args:
        called: as `find_called` gave it.
        key: what is asked: of several with one key the first is called.
        tell: gives a bool tensor ``[n]``, on the host; called eagerly once at each call.
        n: how many it tells.
    """
    with called.as_default(), tf.control_dependencies(None):
        values = _captured(called, key, tell, tf.TensorSpec([n], tf.bool))
        if not is_under_xla():
            with tf.device("CPU:0"):
                return tf.unstack(values)  # type: ignore[no-any-return]
        # What a shape is made of XLA must know to compile anything: so the values are constants.
        with tf.control_dependencies([tf.fill(tf.cast(values, tf.int32), 0.0)]):
            return tf.unstack(tf.identity(values))  # type: ignore[no-any-return]


def _captured(graph: Any, key: Hashable, tell: Callable[[], Tensor], spec: Any) -> Tensor:
    """TensorFlow's own way, but for a function that is called in a branch, which it cannot tell anything late."""
    called = graph
    while isinstance(called, CondBranchFuncGraph):
        called = called.outer_graph
    captures = called._function_captures
    is_new = key not in captures.by_ref_external
    found = called.capture_call_time_value(tell, spec, key=key, default_value=tf.zeros(spec.shape, spec.dtype))
    if is_new:
        original = captures.by_ref_external[key]

        def tell_again() -> Any:
            around = tf.compat.v1.get_default_graph()
            if tf.executing_eagerly() or not isinstance(around, CondBranchFuncGraph):
                return original()
            return [_captured(around, key, tell, spec)]

        tell_again.output_spec = original.output_spec  # type: ignore[attr-defined]
        captures.by_ref_external[key] = tell_again
    return found
