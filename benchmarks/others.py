"""What people use instead, brought into the same training step, so that its cost stands in the same table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.debug.lib import dumping_callback
from tensorflow.python.framework import op_callbacks

EPOCH_STEPS = 100
"""Steps of an "epoch", at whose end the TensorBoard callback writes."""


@dataclass(frozen=True)
class Other:
    """One tool.

    Attributes:
        tracing: what is switched on while the step is traced and run for the first time.
        after_step: makes what is called after each step, from the model, its loss, a batch and labels.
    """

    tracing: Callable[[], AbstractContextManager[Any]] = nullcontext
    after_step: Callable[..., Callable[[], None]] | None = None


@contextmanager
def check_numerics() -> Iterator[None]:
    """`tf.debugging.enable_check_numerics`: an op behind every op."""
    tf.debugging.enable_check_numerics()
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


def dump(mode: str) -> Callable[[], AbstractContextManager[None]]:
    """Debugger V2: numbers of every op's output, written to a directory; one mode in a process."""

    @contextmanager
    def tracing() -> Iterator[None]:
        directory = tempfile.mkdtemp()
        tf.debugging.experimental.enable_dump_debug_info(directory, tensor_debug_mode=mode, circular_buffer_size=1000)
        try:
            yield
        finally:
            # Eager ops of the other variants are let be; what was traced goes on writing.
            op_callbacks.remove_op_callback(dumping_callback._state.dumping_callback.callback)

    return tracing


def write_histograms(model: Any, loss_of: Any, x: Any, y: Any) -> Callable[[], None]:
    """A histogram of every weight at the end of each epoch, as the TensorBoard callback writes it."""
    del loss_of, x, y
    writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    n_steps = 0

    def after_step() -> None:
        nonlocal n_steps
        n_steps += 1
        if n_steps % EPOCH_STEPS:
            return
        with writer.as_default():
            for variable in model.trainable_variables:
                tf.summary.histogram(variable.path, variable, step=n_steps)
            writer.flush()

    return after_step


def recompute_gradients(model: Any, loss_of: Any, x: Any, y: Any) -> Callable[[], None]:
    """A callback as many write it: the gradients anew, each as an array, its norm in NumPy."""

    @tf.function
    def gradients_of(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        return tape.gradient(loss, model.trainable_variables)

    def after_step() -> None:
        for gradient in gradients_of(x, y):
            np.linalg.norm(tf.convert_to_tensor(gradient).numpy())

    return after_step


OTHERS = {
    "check_numerics": Other(tracing=check_numerics),
    "debugger, CURT_HEALTH": Other(tracing=dump("CURT_HEALTH")),
    "debugger, FULL_HEALTH": Other(tracing=dump("FULL_HEALTH")),
    "histograms": Other(after_step=write_histograms),
    "naive callback": Other(after_step=recompute_gradients),
}
