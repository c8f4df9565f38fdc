"""Recurrent layers that keep their state from batch to batch, while the samples are shuffled. Owns no state."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

import keras
import numpy as np
import tensorflow as tf

from gradwatch.origin import running_fit
from gradwatch.slips.script.fed import chain_of, data_slip
from gradwatch.syntax import nodes_in, nodes_of_type
from gradwatch.target import path_of, walk

__all__ = ["find_stateful"]

RESETTING: Final = frozenset({"reset_state", "reset_states"})
ARRAYS: Final = (np.ndarray, tf.Tensor, list, tuple, dict)
"""What `fit` shuffles by itself."""


def find_stateful(models: Sequence[Any]) -> list[dict[str, Any]]:
    """The first layer of the models that keeps its state, where `fit` shuffles the samples or its data set does.

    Args:
        models: the models that are trained.

    Returns:
        Type (``Data``), no name, its layer, the source line of the `fit` and ``stateful`` (True); or ``of_set`` (True)
        too, where the data set does it.
    """
    with tf.init_scope():  # a step may be under way, or being traced
        found = _shuffled(models)
    return [] if found is None else [found]


def _shuffled(models: Sequence[Any]) -> dict[str, Any] | None:
    keeping = [one for one in walk(models) if isinstance(one, keras.layers.RNN) and one.stateful]
    fit = running_fit() if keeping else None
    if fit is None or not fit.file:
        return None
    layer, x = path_of(keeping[0]), fit.known.get("x")
    if _is_shuffled(x):
        is_reset = _is_reset_in_batches(fit.file)
        return None if is_reset else data_slip(fit.file, fit.line, layer, stateful=True, of_set=True)
    is_shuffled = fit.known.get("shuffle") is True and isinstance(x, ARRAYS)
    return data_slip(fit.file, fit.line, layer, stateful=True) if is_shuffled else None


def _is_shuffled(data: Any) -> bool:
    """Whether a data set's samples are shuffled, and not sequences that are cut into windows only then."""
    kinds = [type(one).__name__ for one in chain_of(data)] if isinstance(data, tf.data.Dataset) else []
    place = next((place for place, kind in enumerate(kinds) if "ShuffleDataset" in kind), None)
    cutting = ("FlatMap", "Interleave", "Window", "Zip", "Directed")
    return place is not None and not any(word in kind for kind in kinds[:place] for word in cutting)


def _is_reset_in_batches(file: str) -> bool:
    """Whether a state may be set back at each batch, so that none is carried on."""
    functions = nodes_of_type(file, ast.FunctionDef)
    inner = [one for node in functions if "batch" in node.name or "step" in node.name for one in nodes_in(node)]
    return any(isinstance(one, ast.Attribute) and one.attr in RESETTING for one in inner)
