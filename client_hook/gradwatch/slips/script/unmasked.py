"""A `Masking` layer that masks nothing, though the sequences that `fit` is given are padded. Owns no state.

It masks a time of which every number is its value. Where none is, and most sequences begin or end in one and the same
time, for lengths that differ, they are padded with something else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

import keras
import numpy as np

from gradwatch.origin import running_fit, source_at
from gradwatch.syntax import last_name, nodes_of_type
from gradwatch.target import leaves, path_of

__all__ = ["find_unmasked"]

ROWS: Final = 512
"""Sequences that are looked at."""
ROWS_MIN: Final = 16
RANK: Final = 3
RUN_MIN: Final = 2
"""Times that are alike at the end of a sequence."""
LENGTHS_MIN: Final = 3
"""Lengths of these ends, over the sequences."""
AMONG_MAX: Final = 0.1
"""Of the padded sequences, those that hold such a time before their end, too."""
MOST: Final = 0.5


def find_unmasked(models: Sequence[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    """The first layer that masks no time of padded sequences.

    Args:
        models: the watched models.
        files: the user's files that are looked at.

    Returns:
        Type (``Masking``), name and layer (its Keras path), the source line where that is clear, ``unmasked``: the
        value that it masks, as text, and ``pads``: the number that the padding holds, None where it is several. None
        unless `fit` is being run on one array.
    """
    fit = running_fit()
    known = {} if fit is None else fit.known
    rows = known.get("x")
    model = next((one for one in models if one is known.get("self")), None)
    if not isinstance(rows, np.ndarray) or rows.ndim != RANK or len(rows) < ROWS_MIN or model is None:
        return []
    parts = [one for one in leaves(model) if not isinstance(one, keras.layers.InputLayer)]
    first = parts[0] if parts else None
    if not isinstance(first, keras.layers.Masking) or (rows[:ROWS] == first.mask_value).all(axis=-1).any():
        return []
    padding = next((one for one in map(_padding_of, (rows[:ROWS], rows[:ROWS, ::-1])) if one is not None), None)
    if padding is None:
        return []
    calls = [(file, node) for file in files for node in nodes_of_type(file, ast.Call)]
    lines = [(file, node.lineno) for file, node in calls if last_name(node) == "Masking"]
    path = path_of(first)
    place = {"name": path, "layer": path, "source": source_at(lines) if len(lines) == 1 else None}
    pads = float(padding[0]) if (padding == padding[0]).all() else None
    return [{"type": "Masking", **place, "unmasked": f"{float(first.mask_value):g}", "pads": pads}]


def _padding_of(rows: Any) -> Any:
    """The time that most sequences end in, again and again; None where there is none."""
    ends = rows[:, -1:]
    is_same = np.cumprod((rows == ends).all(axis=-1)[:, ::-1], axis=1)
    lengths = is_same.sum(axis=1)
    last = ends[np.argmax(lengths), 0]
    is_padded = (lengths >= RUN_MIN) & (lengths < rows.shape[1]) & (ends[:, 0] == last).all(axis=-1)
    is_many = is_padded.mean() >= MOST and len(np.unique(lengths[is_padded])) >= LENGTHS_MIN
    if not is_many:
        return None
    # What stands among other times as well is data: a time without an event.
    is_before = np.arange(rows.shape[1]) < rows.shape[1] - lengths[:, None]
    is_alike = (rows == last).all(axis=-1)
    return None if (is_alike & is_before)[is_padded].any(axis=1).mean() > AMONG_MAX else last
