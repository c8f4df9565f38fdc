"""Labels that are all, or nearly all, the same, in what `fit` is given for a cross-entropy. Trains nothing, no state.

Of two scores that are compared the better one may always be the first, and a discriminator is fitted to what is real
and to what is made in turn: no class is missing there.
"""

from __future__ import annotations

import ast
from typing import Any, Final

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.origin import running_fit, source_at
from gradwatch.slips.script.fed import chain_of
from gradwatch.syntax import last_name, nodes_in, nodes_of
from gradwatch.target import has_keras_step

__all__ = ["find_sole_label", "find_usual_target"]

ROWS_MIN: Final = 100
"""Fewer samples may be of one class by chance, or a trial."""
ABSOLUTE: Final = (keras.losses.MeanAbsoluteError, keras.losses.mean_absolute_error)
USUAL_MIN: Final = 0.55
"""Of the targets, that are one number: more than half, or it is not their median."""
SCARCE_MAX: Final = 0.05
CELLS_MAX: Final = 10_000_000
ENTROPIES: Final = (keras.losses.BinaryCrossentropy, keras.losses.SparseCategoricalCrossentropy)
LAYING: Final = ("Batch", "Cache", "Options", "Prefetch", "Repeat", "Shuffle", "Skip", "Take", "TensorSlice")
"""Data sets that hold nothing but what is in the arrays they are made of."""
FUNCTIONS: Final = (keras.losses.binary_crossentropy, keras.losses.sparse_categorical_crossentropy)


def find_sole_label() -> list[dict[str, Any]]:
    """The only class of all labels that the running `fit` was given, for a cross-entropy of Keras' own.

    Returns:
        One entry, type ``Data``, no name, no layer, the line of `fit`, ``only``: the label, and ``samples``: how many
        have it; none where there are other labels, where they are no array, nor one of a data set, where what a last
        layer of units gives is not what meets them, or in a file that calls `fit` in a loop or in several places. And,
        which is no slip by itself, of two labels without weights ``scarce``: the share of the rarer one, up to
        `SCARCE_MAX`, and ``label``.
    """
    fit = running_fit()
    model = None if fit is None else fit.known.get("self")
    if fit is None or not fit.file or not _is_of_labels(model) or not _ends_in_units(model) or _is_of_turns(fit.file):
        return []
    labels, held = _labels(fit.known.get("y")), _labels(_held_labels(fit.known.get("x")))
    found = next((_only_label(one) for one in (labels, held) if one is not None), None)
    place = {"type": "Data", "name": "", "layer": "", "source": source_at([(fit.file, fit.line)])}
    if labels is None or found is not None:
        return [] if found is None else [{**place, "only": found[0], "samples": found[1]}]
    is_weighed = any(fit.known.get(name) is not None for name in ("class_weight", "sample_weight"))
    scarce = None if is_weighed else _scarce_label(labels)
    return [] if scarce is None else [{**place, "scarce": scarce[1], "label": scarce[0]}]


def find_usual_target() -> list[dict[str, Any]]:
    """The number that most targets of the running `fit` are, for a mean absolute error of Keras' own.

    Returns:
        One entry, type ``Data``, no name, no layer, the line of `fit`, ``usual``: the share of the targets that are the
        ``value``, and ``guess``: the error of that answer for each sample; none of other losses, where samples have
        weights, where targets are no array with one number for each sample, or in a file that calls `fit` in a loop or
        in several places.
    """
    fit = running_fit()
    model = None if fit is None else fit.known.get("self")
    if fit is None or not fit.file or not has_keras_step(model) or _is_of_turns(fit.file):
        return []
    is_weighed = any(fit.known.get(name) is not None for name in ("class_weight", "sample_weight"))
    targets = None if is_weighed or not _is_absolute(model) else _labels(fit.known.get("y"))
    if targets is None or not np.isfinite(targets).all():
        return []
    value = float(np.median(targets))
    share, guess = float((targets == value).mean()), float(np.abs(targets - value).mean())
    if share < USUAL_MIN or not guess > 0:
        return []
    place = {"type": "Data", "name": "", "layer": "", "source": source_at([(fit.file, fit.line)])}
    return [{**place, "usual": share, "value": value, "guess": guess}]


def _is_absolute(model: Any) -> bool:
    loss = getattr(model, "loss", None)
    loss = keras.losses.get(loss) if isinstance(loss, str) else loss
    is_own = type(loss) is ABSOLUTE[0] or loss is ABSOLUTE[1]
    return is_own and len(getattr(model, "outputs", None) or [None]) == 1


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
    return len(calls) > 1 or any(one is calls[0] for loop in loops if calls for one in nodes_in(loop))


def _labels(labels: Any) -> npt.NDArray[Any] | None:
    """Enough labels, one for each sample, as an array; None for anything else."""
    array = np.asarray(labels) if isinstance(labels, np.ndarray | tf.Tensor) else None
    if array is None or array.dtype.kind not in "iufb" or not ROWS_MIN <= array.size == len(array) <= CELLS_MAX:
        return None
    return array.reshape(-1)


def _held_labels(data: Any) -> Any:
    """The array of labels that a data set of pairs was made of; None for any other one."""
    chain = chain_of(data) if isinstance(data, tf.data.Dataset) else []
    if not chain or not all(any(word in type(one).__name__ for word in LAYING) for one in chain):
        return None
    arrays, spec = list(getattr(chain[-1], "_tensors", ())), chain[-1].element_spec
    if not isinstance(spec, tuple) or len(spec) not in (2, 3) or len(tf.nest.flatten(spec[1])) != 1:
        return None
    place = len(tf.nest.flatten(spec[0]))
    return arrays[place] if place < len(arrays) else None


def _only_label(array: npt.NDArray[Any]) -> tuple[float, int] | None:
    first = array[0]
    is_class = float(first).is_integer()
    return (float(first), array.size) if is_class and (array == first).all() else None


def _scarce_label(array: npt.NDArray[Any]) -> tuple[float, float] | None:
    """The rarer one of the labels 0 and 1, where hardly any sample has it, and its share."""
    share = float((array == 1).mean())
    if not ((array == 0) | (array == 1)).all():
        return None
    rarer = (1.0, share) if share < 1 - share else (0.0, 1 - share)
    return rarer if 0 < rarer[1] <= SCARCE_MAX else None
