"""Layers behind the last one that change what a model gives: dropouts and batch normalisations. Owns no state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import keras

from gradwatch.target import walk

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
        for layer, head in _tops_of(model) if len(models) == 1 or _has_loss(model) else ():
            path = str(layer.path or layer.name)
            place = {"name": path, "layer": path, "source": None}
            return [{"type": type(layer).__name__, **place, "tops": str(head.path or head.name)}]
    return []


def _tops_of(model: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(model, keras.Model) or len(getattr(model, "outputs", None) or []) != 1:
        return
    within = {id(part) for part in walk([model])}
    for output in model.outputs:
        layer = output._keras_history.operation
        if not isinstance(layer, (*DROPPING, keras.layers.BatchNormalization)) or id(layer) not in within:
            continue
        head = layer.input._keras_history.operation if len(layer._inbound_nodes) == 1 else None
        function = getattr(getattr(head, "activation", None), "__name__", "")
        is_drop = isinstance(layer, DROPPING) and layer.rate >= RATE_MIN
        is_asked = is_drop and _has_loss(model) and hasattr(head, "kernel")
        if is_asked or (function in SHARES and (is_drop or isinstance(layer, keras.layers.BatchNormalization))):
            yield layer, head


def _has_loss(model: Any) -> bool:
    """Whether a model is compiled with a loss of Keras' own, by its name or as it is."""
    loss = getattr(model, "loss", None)
    kind = loss if hasattr(loss, "__name__") else type(loss)
    return isinstance(loss, str) or str(getattr(kind, "__module__", "")).startswith("keras.")
