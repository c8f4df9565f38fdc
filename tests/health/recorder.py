"""Trains small real Keras models by a plain tape and records NumPy statistics: the engine's input without the hook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from gradwatch.protocol import STATISTICS
from gradwatch_server.health import Engine
from tests.health.streams import KINDS


def measure(x: np.ndarray | None) -> list[float]:
    """The statistics of an array, in float64."""
    if x is None:
        return [np.nan] * 9 + [0] + [np.nan] * 2
    x = np.asarray(x, np.float64).ravel()
    finite = x[np.isfinite(x)]
    ends = [finite.min(), finite.max(), finite.mean(), finite.std()] if len(finite) else [np.nan] * 4
    counts = [np.isnan(x).sum(), (x == np.inf).sum(), (x == -np.inf).sum(), (x == 0).sum(), x.size]
    return [float(np.sqrt((finite**2).sum())), *ends, *counts, np.nan, np.nan]


def train(
    model: Any,
    optimizer: Any,
    loss_fn: Callable[[Any, Any], Any],
    data: tuple[np.ndarray, np.ndarray],
    *,
    n_steps: int,
    batch: int = 64,
    every: int = 5,
    seed: int = 0,
) -> Engine:
    """Trains for some steps and feeds an engine row by row; weights and updates at every so many steps."""
    variables = model.trainable_variables
    optimizer.build(variables)
    engine = Engine()
    tensors = [
        {
            "kind": kind,
            "tensor": v.path,
            "layer": v.path.rpartition("/")[0],
            "variable": v.name,
            "shape": list(v.shape),
            "dtype": v.dtype,
            "n_elements": int(np.prod(v.shape)),
        }
        for kind in KINDS
        for v in variables
    ]
    engine.add_stream(0, optimizer.name, tensors, ["loss", "learning_rate"])

    @tf.function
    def step_fn(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        gradients = tape.gradient(loss, variables)
        pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if g is not None]
        optimizer.apply(*zip(*pairs, strict=True))
        return loss, gradients

    random = np.random.default_rng(seed)
    inputs, labels = data
    for step in range(n_steps):
        chosen = random.integers(0, len(inputs), batch)
        is_due = step % every == 0
        before = [v.numpy().copy() for v in variables] if is_due else []
        loss, gradients = step_fn(tf.constant(inputs[chosen]), tf.constant(labels[chosen]))
        rows = [measure(None if g is None else tf.convert_to_tensor(g).numpy()) for g in gradients]
        if is_due:
            after = [v.numpy() for v in variables]
            rows += [measure(a) for a in after]
            rows += [measure(a - b) for a, b in zip(after, before, strict=True)]
        else:
            rows += [[np.nan] * len(STATISTICS)] * (2 * len(variables))
        rate = float(optimizer.learning_rate.numpy())
        with np.errstate(over="ignore"):
            statistics = np.clip(np.asarray(rows, np.float64), -3.4e38, 3.4e38).astype(np.float32)
        engine.feed_rows(
            0,
            np.array([step]),
            statistics[None],
            np.array([[float(loss.numpy()), rate]], np.float32),
            np.ones((1, 2), bool),
        )
    return engine
