"""What the watched models are built of that tells of a slip, or explains one. Owns no state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import keras
import tensorflow as tf

from gradwatch.target import walk

__all__ = ["find_built"]

UNBOUNDED: Final = frozenset({"elu", "exponential", "gelu", "leaky_relu", "linear", "relu", "selu", "silu", "softplus"})
"""Functions without an end, by Keras' names."""
RECURRENT: Final = (keras.layers.GRU, keras.layers.LSTM, keras.layers.SimpleRNN)


def find_built(models: Iterable[Any]) -> list[dict[str, Any]]:
    """Layers that normalise an input, by one number each or not, and recurrences of a function without an end.

    Returns:
        Type (``Normalization`` of a layer whose ``axis`` is None, so that all numbers of an input have one mean and one
        deviation there, or ``While``), name and layer (its Keras path) of each, without a source line; of the latter
        the function's name, as ``unbounded``. And any other ``Normalization``, with ``normalises``: ``as made`` where
        its mean is 0 and its variance 1 throughout, ``given`` where it was made with numbers, else ``adapted``; it is
        no slip unless its output is not scaled.
    """
    found = []
    for part in walk(models):
        path = str(getattr(part, "path", None) or getattr(part, "name", ""))
        place = {"name": path, "layer": path, "source": None}
        function = getattr(getattr(part, "activation", None), "__name__", "")
        if type(part).__name__ == "Normalization" and getattr(part, "axis", None) in ((), []):
            found.append({"type": "Normalization", **place})
        elif type(part).__name__ == "Normalization" and not getattr(part, "invert", False):
            found.append({"type": "Normalization", **place, "normalises": _origin_of(part)})
        elif isinstance(part, RECURRENT) and function in UNBOUNDED:
            found.append({"type": "While", **place, "unbounded": function})
    return found


def _origin_of(layer: Any) -> str:
    """Where the mean and the variance of a normalisation come from."""
    if getattr(layer, "input_mean", None) is not None:
        return "given"
    return "as made" if _is_as_made(layer) else "adapted"


def _is_as_made(layer: Any) -> bool:
    """Whether a normalisation has the mean 0 and the variance 1 that it was made with."""
    mean, variance = (getattr(layer, name, None) for name in ("adapt_mean", "adapt_variance"))
    if mean is None or variance is None:  # they were given to it, or it is not built yet
        return False
    with tf.init_scope():
        return bool((mean.value.numpy() == 0).all() and (variance.value.numpy() == 1).all())
