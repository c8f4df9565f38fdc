"""Layers that scale a whole table by one mean and one deviation, in the watched models. Owns no state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwatch.target import walk

__all__ = ["find_scaled"]


def find_scaled(models: Iterable[Any]) -> list[dict[str, Any]]:
    """Normalization layers whose ``axis`` is None: all numbers of an input have one mean and one deviation there.

    Returns:
        Type (``Normalization``), name and layer (its Keras path) of each, without a source line.
    """
    paths = [str(one.path or one.name) for one in walk(models) if _has_one_scale(one)]
    return [{"type": "Normalization", "name": path, "layer": path, "source": None} for path in paths]


def _has_one_scale(layer: Any) -> bool:
    return type(layer).__name__ == "Normalization" and getattr(layer, "axis", None) in ((), [])
