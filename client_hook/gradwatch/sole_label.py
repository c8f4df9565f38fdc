"""Labels that are all the same, in what `fit` is given for a cross-entropy. Trains nothing, and owns no state."""

from __future__ import annotations

from typing import Any, Final

import keras
import numpy as np
import tensorflow as tf

from gradwatch.origin import running_fit, source_at

__all__ = ["find_sole_label"]

ROWS_MIN: Final = 100
"""Fewer samples may be of one class by chance, or a trial."""
CELLS_MAX: Final = 10_000_000
ENTROPIES: Final = (keras.losses.BinaryCrossentropy, keras.losses.SparseCategoricalCrossentropy)
FUNCTIONS: Final = (keras.losses.binary_crossentropy, keras.losses.sparse_categorical_crossentropy)


def find_sole_label() -> list[dict[str, Any]]:
    """The only class of all labels that the running `fit` was given, for a cross-entropy of Keras' own.

    Returns:
        One entry, type ``Data``, no name, no layer, the line of `fit`, ``only``: the label, and ``samples``: how many
        have it; none where there are other labels, or where they are no array.
    """
    fit = running_fit()
    if fit is None or not fit.file or not _is_of_labels(fit.known.get("self")):
        return []
    found = _only_label(fit.known.get("y"))
    place = {"type": "Data", "name": "", "layer": "", "source": source_at([(fit.file, fit.line)])}
    return [] if found is None else [{**place, "only": found[0], "samples": found[1]}]


def _is_of_labels(model: Any) -> bool:
    """Whether a model's only loss is a cross-entropy of Keras' own with one label for each sample."""
    loss = getattr(model, "loss", None)
    if isinstance(loss, str):
        loss = keras.losses.get(loss)
    return isinstance(loss, ENTROPIES) or loss in FUNCTIONS


def _only_label(labels: Any) -> tuple[float, int] | None:
    array = np.asarray(labels) if isinstance(labels, np.ndarray | tf.Tensor) else None
    if array is None or array.dtype.kind not in "iufb" or not ROWS_MIN <= array.size == len(array) <= CELLS_MAX:
        return None
    first = array.flat[0]
    return (float(first), array.size) if (array == first).all() else None
