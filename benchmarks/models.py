"""The models that the benchmarks train: an MLP of 5 M parameters, a small CNN, a small transformer and a tiny model.

Beside these four, networks of 10, 100 and 1,000 layers, a wide one for the memory of a step, and a large transformer
of the size that GPUs are bought for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers


def mlp() -> tuple[Any, Any, Any]:
    """784-1536-1536-1024-10: 5.1 M parameters, batch 128. Its step is short for its weights: bound by memory."""
    model = keras.Sequential(
        [keras.Input((784,)), *[layers.Dense(n, activation="relu") for n in (1536, 1536, 1024)], layers.Dense(10)]
    )
    return model, _normal(128, 784), _labels(128, 10)


def cnn() -> tuple[Any, Any, Any]:
    """Four convolutions on 32 x 32 x 3, batch 64: 0.1 M parameters, bound by arithmetic."""
    body = []
    for width in (32, 64):
        for _ in range(2):
            body += [layers.Conv2D(width, 3, padding="same", use_bias=False), layers.BatchNormalization()]
            body.append(layers.ReLU())
        body.append(layers.MaxPooling2D())
    model = keras.Sequential([keras.Input((32, 32, 3)), *body, layers.GlobalAveragePooling2D(), layers.Dense(10)])
    return model, _normal(64, 32, 32, 3), _labels(64, 10)


def transformer() -> tuple[Any, Any, Any]:
    """Four blocks of width 128 with 4 heads on 64 tokens, batch 16: 0.9 M parameters, 68 variables."""
    return _blocks(4, 128, n_heads=4, n_tokens=64, batch=16)


def large() -> tuple[Any, Any, Any]:
    """Eight blocks of width 1,024 with 16 heads on 256 tokens, batch 32: 102 M parameters, for a GPU."""
    return _blocks(8, 1024, n_heads=16, n_tokens=256, batch=32)


def _blocks(n_blocks: int, width: int, *, n_heads: int, n_tokens: int, batch: int) -> tuple[Any, Any, Any]:
    inputs = keras.Input((n_tokens,), dtype="int32")
    x = layers.Embedding(1000, width)(inputs)
    for _ in range(n_blocks):
        normed = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(n_heads, width // n_heads)(normed, normed)
        normed = layers.LayerNormalization()(x)
        x = x + layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(normed))
    outputs = layers.Dense(10)(layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x)))
    tokens = np.random.default_rng(0).integers(0, 1000, (batch, n_tokens)).astype(np.int32)
    return keras.Model(inputs, outputs), tokens, _labels(batch, 10)


def tiny() -> tuple[Any, Any, Any]:
    """8-8-1 with batch 16: a step of well under a millisecond, where launching an op is what counts."""
    model = keras.Sequential([keras.Input((8,)), layers.Dense(8, activation="tanh"), layers.Dense(10)])
    return model, _normal(16, 8), _labels(16, 10)


class _Stack(keras.Model):
    """Layers in a row, called in a loop: Keras' own models of a thousand layers are too deep for its recursion."""

    def __init__(self, stack: list[Any]) -> None:
        super().__init__(name="stack")
        self.stack = stack

    def call(self, x: Any) -> Any:
        for layer in self.stack:
            x = layer(x)
        return x


def deep(n_layers: int) -> tuple[Any, Any, Any]:
    """Dense layers of width 32 one upon another, batch 32: what counts is how many there are."""
    model = _Stack([*(layers.Dense(32, activation="tanh") for _ in range(n_layers - 1)), layers.Dense(10)])
    model(np.zeros((1, 32), np.float32))
    return model, _normal(32, 32), _labels(32, 10)


def wide() -> tuple[Any, Any, Any]:
    """Three layers of 2,896: 25 M parameters, 101 MB of weights. Its step's memory is that of its weights."""
    stack = [layers.Dense(2_896, activation="relu") for _ in range(3)]
    model = keras.Sequential([keras.Input((2_896,)), *stack, layers.Dense(10)])
    return model, _normal(32, 2_896), _labels(32, 10)


MODELS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    "mlp": mlp,
    "cnn": cnn,
    "transformer": transformer,
    "tiny": tiny,
    "10 layers": lambda: deep(10),
    "100 layers": lambda: deep(100),
    "1000 layers": lambda: deep(1000),
    "wide": wide,
    "large": large,
}


def _normal(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _labels(n: int, n_classes: int) -> Any:
    return np.random.default_rng(1).integers(0, n_classes, n).astype(np.int32)
