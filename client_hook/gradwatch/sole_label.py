"""Labels that are all the same, in what `fit` is given for a cross-entropy. Trains nothing, and owns no state.

Of two scores that are compared the better one may always be the first, and a discriminator is fitted to what is real
and to what is made in turn: no class is missing there.
"""

from __future__ import annotations

import ast
from typing import Any, Final

import keras
import numpy as np
import tensorflow as tf

from gradwatch.origin import running_fit, source_at
from gradwatch.syntax import last_name, nodes_of
from gradwatch.target import has_keras_step

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
        have it; none where there are other labels, where they are no array, where what a last layer of units gives is
        not what meets them, or in a file that calls `fit` in a loop or in several places.
    """
    fit = running_fit()
    model = None if fit is None else fit.known.get("self")
    if fit is None or not fit.file or not _is_of_labels(model) or not _ends_in_units(model) or _is_of_turns(fit.file):
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


def _ends_in_units(model: Any) -> bool:
    """Whether what a model gives is that of a `Dense`, or a function of it, and its step is Keras' own."""
    outputs: list[Any] = list(getattr(model, "outputs", None) or [])
    if len(outputs) != 1 or not has_keras_step(model):
        return False
    last = outputs[0]._keras_history.operation
    if isinstance(last, (keras.layers.Activation, keras.layers.Softmax)):
        last = last.input._keras_history.operation
    return isinstance(last, keras.layers.Dense)


def _is_of_turns(file: str) -> bool:
    nodes = nodes_of(file)
    calls = [node for node in nodes if isinstance(node, ast.Call) and last_name(node) == "fit" and len(node.args) != 1]
    loops = (node for node in nodes if isinstance(node, (ast.For, ast.While)))
    return len(calls) > 1 or any(one is calls[0] for loop in loops if calls for one in ast.walk(loop))


def _only_label(labels: Any) -> tuple[float, int] | None:
    array = np.asarray(labels) if isinstance(labels, np.ndarray | tf.Tensor) else None
    if array is None or array.dtype.kind not in "iufb" or not ROWS_MIN <= array.size == len(array) <= CELLS_MAX:
        return None
    first = array.flat[0]
    is_class = float(first).is_integer()
    return (float(first), array.size) if is_class and (array == first).all() else None
