"""Layers behind the last one that change what a model gives: dropouts and batch normalisations. Owns no state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import keras

from gradwatch.target import has_keras_losses, path_of, walk

__all__ = ["find_topped"]

DROPPING: Final = (keras.layers.AlphaDropout, keras.layers.Dropout, keras.layers.GaussianDropout)
RATE_MIN: Final = 0.05
SHARES: Final = frozenset({"sigmoid", "softmax"})
"""Functions that end a model which gives probabilities, by Keras' names."""


def find_topped(models: Sequence[Any]) -> list[dict[str, Any]]:
    """The first layer that drops, or normalises, the numbers which a model is asked for.

    That is known of the only output, where it is probabilities and no other model is watched, or where the model is
    compiled with a loss of Keras': what has another loss, or goes into another model, may be an embedding.

    Args:
        models: the watched models.

    Returns:
        Type (the layer's class), name and layer (its Keras path), no source line, and ``tops``: the path of the layer
        whose output it changes.
    """
    for model in models:
        top = _top_of(model) if len(models) == 1 or has_keras_losses(model) else None
        if top is not None:
            layer, head = top
            path = path_of(layer)
            place = {"name": path, "layer": path, "source": None}
            return [{"type": type(layer).__name__, **place, "tops": path_of(head)}]
    return []


def _top_of(model: Any) -> tuple[Any, Any] | None:
    """The layer that changes what a model's last one gives, and that last one."""
    outputs: list[Any] = list(getattr(model, "outputs", None) or [])
    if not isinstance(model, keras.Model) or len(outputs) != 1:
        return None
    layer = outputs[0]._keras_history.operation
    is_normalised = isinstance(layer, keras.layers.BatchNormalization)
    if not (is_normalised or isinstance(layer, DROPPING)) or not any(part is layer for part in walk([model])):
        return None
    head = layer.input._keras_history.operation if len(layer._inbound_nodes) == 1 else None
    function = getattr(getattr(head, "activation", None), "__name__", "")
    is_drop = not is_normalised and layer.rate >= RATE_MIN
    is_asked = is_drop and has_keras_losses(model) and hasattr(head, "kernel")
    return (layer, head) if is_asked or (function in SHARES and (is_drop or is_normalised)) else None
