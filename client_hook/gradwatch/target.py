"""What can be watched, and what is known of it without asking. Owns no state."""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import sys
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from gradwatch import legacy
from gradwatch.errors import ConfigurationError, TargetError

__all__ = [
    "describe_environment",
    "describe_targets",
    "layer_paths",
    "name_of",
    "sort_targets",
    "trainable_variables",
]


def sort_targets(targets: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Sorts what was given to `gradwatch.watch` into models and optimizers, of Keras 3 or of Keras 2 (``tf_keras``).

    Raises:
        TargetError: none given, another type, or a model with nothing to train.
        ConfigurationError: Keras runs on another backend than TensorFlow.
    """
    expected = "a Keras model or optimizer, e.g. gradwatch.watch(model)"
    if not targets:
        raise TargetError("watch()", "no target", expected)
    if keras.backend.backend() != "tensorflow":
        raise ConfigurationError("the Keras backend", keras.backend.backend(), "'tensorflow' (set KERAS_BACKEND)")
    models: list[Any] = [target for target in targets if isinstance(target, (keras.Model, *legacy.model_classes()))]
    optimizer_classes = (keras.optimizers.Optimizer, *legacy.optimizer_classes())
    optimizers: list[Any] = [target for target in targets if isinstance(target, optimizer_classes)]
    for target in targets:
        if not any(target is known for known in (*models, *optimizers)):
            raise TargetError("watch()", _shown(target), expected)
    for model in models:
        if model.built and not model.trainable_variables:
            raise TargetError(
                "watch()",
                f"model {model.name!r} without trainable weights",
                "a model with something to train; is every layer frozen (layer.trainable = False)?",
            )
    return models, optimizers


def _shown(target: Any) -> str:
    if isinstance(target, type):
        return f"the class {target.__name__} (an instance of it is needed)"
    return f"{type(target).__name__} {target!r}"[:200]


def name_of(target: Any) -> str:
    """The name of a model or an optimizer; the older optimizers of Keras 2 keep theirs to themselves."""
    return str(getattr(target, "name", None) or getattr(target, "_name", None) or type(target).__name__)


def trainable_variables(model: Any) -> list[Any]:
    """What a model can train now; nothing before it is built."""
    try:
        return list(model.trainable_variables)
    except ValueError:  # what Keras 2 says of a model whose weights do not exist yet
        return []


def describe_targets(models: Sequence[Any], optimizers: Sequence[Any]) -> dict[str, Any]:
    """What is known of the run without asking: the optimizer and its settings, the model's size."""
    known = list(optimizers) + [model.optimizer for model in models if getattr(model, "optimizer", None) is not None]
    config: dict[str, Any] = {}
    for optimizer in known[:1]:
        config["optimizer"] = type(optimizer).__name__
        with contextlib.suppress(Exception):  # a custom optimizer may not know its own configuration
            for key, value in optimizer.get_config().items():
                if key != "name" and isinstance(value, (bool, int, float, str)):
                    config[f"optimizer.{key}"] = value
    for model in models[:1]:
        config["model"] = model.name
        if model.built:
            config["model.n_parameters"] = int(model.count_params())
    return config


def describe_environment(version: str) -> dict[str, Any]:
    """Versions, host, devices and script of this process; ``version`` is gradwatch's own."""
    return {
        "gradwatch": version,
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        **({} if legacy.version() is None else {"tf_keras": legacy.version()}),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "script": " ".join(sys.argv)[:500],
        "devices": [device.name for device in tf.config.list_physical_devices()],
    }


def layer_paths(models: Sequence[Any]) -> list[str]:
    """The Keras paths of all layers of some models, nested ones included."""
    paths: list[str] = []
    pending = [model for model in models if not legacy.is_model(model)]
    for model in models:
        if legacy.is_model(model):
            paths += legacy.layer_paths(model)
    while pending:
        layer = pending.pop()
        if layer.path:  # what was never called has none
            paths.append(str(layer.path))
        # Keras shows a model's layers, but not those that a layer holds.
        pending.extend(getattr(layer, "layers", ()) or getattr(layer, "_layers", ()))
    return list(dict.fromkeys(paths))
