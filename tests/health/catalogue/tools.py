"""What the trainings of the catalogue share: data, networks, and the two ways to train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

BATCH = 32

_DIGITS = load_digits()
DIGITS = (_DIGITS.data / 16).astype("float32")
LABELS = _DIGITS.target.astype("int64")
IMAGES = DIGITS.reshape(-1, 8, 8, 1)
ROWS = DIGITS.reshape(-1, 8, 8)
_CANCER = load_breast_cancer()
CELLS = _CANCER.data.astype("float32")
"""Thirty measures of each cell as they come: from 0.0004 to 4,254."""
IS_BENIGN = _CANCER.target.astype("float32")
_DIABETES = load_diabetes(scaled=False)
PATIENTS = ((_DIABETES.data - _DIABETES.data.mean(0)) / _DIABETES.data.std(0)).astype("float32")
COURSE = ((_DIABETES.target - _DIABETES.target.mean()) / _DIABETES.target.std()).astype("float32")

cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def mlp(
    n_inputs: int = 64,
    n_outputs: int = 10,
    *,
    n_layers: int = 2,
    width: int = 32,
    activation: str = "relu",
    start: Any = "he_normal",
    last: str | None = None,
) -> Any:
    """A multilayer perceptron."""
    hidden = [layers.Dense(width, activation, kernel_initializer=start, name=f"hidden_{i}") for i in range(n_layers)]
    return keras.Sequential([keras.Input((n_inputs,)), *hidden, layers.Dense(n_outputs, last, name="out")])


def loop(
    watch: Callable[..., Any],
    model: Any,
    loss_of: Callable[[Any, Any], Any],
    data: tuple[Any, Any],
    *,
    optimizer: Any = None,
    n_steps: int = 150,
    seed: int = 0,
    batch: int = BATCH,
    jit: bool = False,
) -> None:
    """Trains in a loop of one's own; `loss_of` takes the targets and the inputs of a batch."""
    optimizer = optimizer or keras.optimizers.SGD(0.1)
    watched = watch(model)

    @tf.function(jit_compile=jit)
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(y, x)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        watched.log(loss=loss)

    random = np.random.default_rng(seed)
    x, y = data
    for _ in range(n_steps):
        chosen = random.integers(len(x), size=batch)
        step(tf.constant(x[chosen]), tf.constant(y[chosen]))


def fit(
    watch: Callable[..., Any],
    model: Any,
    loss: Any,
    data: tuple[Any, Any],
    *,
    optimizer: Any = None,
    n_steps: int = 150,
    seed: int = 0,
    batch: int = BATCH,
    jit: bool = False,
    **options: Any,
) -> None:
    """Trains with ``fit``."""
    model.compile(optimizer or keras.optimizers.SGD(0.1), loss, jit_compile=jit, **options)
    watch(model)
    random = np.random.default_rng(seed)
    x, y = data
    chosen = random.integers(len(x), size=batch * n_steps)
    model.fit(x[chosen], y[chosen], batch_size=batch, epochs=1, shuffle=False, verbose=0)


def one_hot(labels: Any, n: int = 10) -> Any:
    """Labels as rows of 0 and 1."""
    return np.eye(n, dtype="float32")[labels]
