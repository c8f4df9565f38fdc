"""What the watched models are built of that tells of a slip, or explains one. Owns no state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import keras

from gradwatch.target import walk

__all__ = ["find_built"]

UNBOUNDED: Final = frozenset({"elu", "exponential", "gelu", "leaky_relu", "linear", "relu", "selu", "silu", "softplus"})
"""Functions without an end, by Keras' names."""
RECURRENT: Final = (keras.layers.GRU, keras.layers.LSTM, keras.layers.SimpleRNN)


def find_built(models: Iterable[Any]) -> list[dict[str, Any]]:
    """Layers that scale a whole input by one number, and recurrences of a function without an end.

    Returns:
        Type (``Normalization`` of a layer whose ``axis`` is None, so that all numbers of an input have one mean and one
        deviation there, or ``While``), name and layer (its Keras path) of each, without a source line; of the latter
        the function's name, as ``unbounded``.
    """
    found = []
    for part in walk(models):
        path = str(getattr(part, "path", None) or getattr(part, "name", ""))
        place = {"name": path, "layer": path, "source": None}
        function = getattr(getattr(part, "activation", None), "__name__", "")
        if type(part).__name__ == "Normalization" and getattr(part, "axis", None) in ((), []):
            found.append({"type": "Normalization", **place})
        elif isinstance(part, RECURRENT) and function in UNBOUNDED:
            found.append({"type": "While", **place, "unbounded": function})
    return found
