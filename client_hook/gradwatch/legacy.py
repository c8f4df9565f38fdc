"""Keras 2 (``tf_keras``) and the optimizers of TensorFlow 1: what they name and do otherwise than Keras 3.

Keras 2 is never imported from here: whoever has an object of it has imported it. Owns no state.
"""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf

__all__ = [
    "is_model",
    "is_optimizer",
    "iterations",
    "layer_paths",
    "learning_rate",
    "loss_scale",
    "model_classes",
    "optimizer_classes",
    "version",
]

Tensor = Any  # tensorflow ships no types


def version() -> str | None:
    """The version of ``tf_keras``, None where it is not in use."""
    keras = _keras()
    return None if keras is None else str(keras.__version__)


def optimizer_classes() -> tuple[type, ...]:
    """The bases of their optimizers: those of TensorFlow 1, and where ``tf_keras`` is in use its two families."""
    keras, oldest = _keras(), tf.compat.v1.train.Optimizer
    return (oldest,) if keras is None else (oldest, keras.optimizers.Optimizer, keras.optimizers.legacy.Optimizer)


def model_classes() -> tuple[type, ...]:
    """The base of its models; none where ``tf_keras`` is not in use."""
    keras = _keras()
    return () if keras is None else (keras.Model,)


def is_optimizer(target: Any) -> bool:
    """Whether it is an optimizer of Keras 2 or of TensorFlow 1."""
    return isinstance(target, optimizer_classes())


def is_model(target: Any) -> bool:
    """Whether it is a model of Keras 2."""
    return isinstance(target, model_classes())


def learning_rate(optimizer: Any) -> Tensor | None:
    """The rate of the step that an optimizer is about to take, None if it has none. Creates no variable."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        rate = getattr(optimizer, "_learning_rate", getattr(optimizer, "_lr", None))
        return None if rate is None else tf.cast(tf.convert_to_tensor(rate() if callable(rate) else rate), tf.float32)
    rate = getattr(optimizer, "_learning_rate", None)
    decay = 0.0
    if rate is None:  # the older family keeps it among its hyperparameters
        rate = getattr(optimizer, "_hyper", {}).get("learning_rate")
        decay = getattr(optimizer, "_initial_decay", 0.0)
    if rate is None:
        return None
    step = tf.cast(0 if optimizer._iterations is None else optimizer._iterations, tf.float32)
    if _is_schedule(rate):
        rate = rate(step)
    elif callable(rate):
        rate = rate()
    rate = tf.cast(tf.convert_to_tensor(rate), tf.float32)
    return rate / (1.0 + decay * step) if decay else rate


def loss_scale(optimizer: Any) -> Tensor | None:
    """The factor on the loss of a ``LossScaleOptimizer``, None for every other optimizer."""
    keras = _keras()
    if keras is None or not isinstance(optimizer, keras.mixed_precision.LossScaleOptimizer):
        return None
    return tf.cast(tf.convert_to_tensor(optimizer.loss_scale), tf.float32)


def iterations(optimizer: Any) -> int | None:
    """How many steps an optimizer has taken, None before its first. Creates no variable."""
    counter = getattr(getattr(optimizer, "inner_optimizer", optimizer), "_iterations", None)
    return None if counter is None else int(counter.numpy())


def layer_paths(model: Any) -> list[str]:
    """Names for all layers of a model, as its variables and its operations' scopes have them."""
    return [_path(layer) for layer in model._flatten_layers(include_self=True, recursive=True)]


def _keras() -> Any:
    return sys.modules.get("tf_keras")


def _is_schedule(rate: Any) -> bool:
    return isinstance(rate, _keras().optimizers.schedules.LearningRateSchedule)


def _path(layer: Any) -> str:
    own = [*getattr(layer, "_trainable_weights", ()), *getattr(layer, "_non_trainable_weights", ())]
    return str(own[0].name).rpartition("/")[0] if own and "/" in own[0].name else str(layer.name)
