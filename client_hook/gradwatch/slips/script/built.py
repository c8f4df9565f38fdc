"""What the watched models are built of that tells of a slip, or explains one. Owns no state."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import keras
import tensorflow as tf

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_of
from gradwatch.target import leaves, path_of, walk

__all__ = ["find_built"]

UNBOUNDED: Final = frozenset({"elu", "exponential", "gelu", "leaky_relu", "linear", "relu", "selu", "silu", "softplus"})
"""Functions without an end, by Keras' names."""
RECURRENT: Final = (keras.layers.GRU, keras.layers.LSTM, keras.layers.SimpleRNN)


KERNELS: Final = ("kernel", "depthwise_kernel", "embeddings")
"""What a layer holds that makes features of its own."""
MOVING: Final = (keras.layers.Permute, keras.layers.Reshape)
IN_PLACE: Final = (
    keras.layers.Activation,
    keras.layers.AveragePooling2D,
    keras.layers.Dropout,
    keras.layers.ELU,
    keras.layers.GaussianDropout,
    keras.layers.LeakyReLU,
    keras.layers.MaxPooling2D,
    keras.layers.PReLU,
    keras.layers.ReLU,
    keras.layers.SpatialDropout2D,
)
"""Layers that leave the axes of maps where they are."""
TURNING: Final = frozenset({"moveaxis", "permute_dimensions", "transpose"})
DEPTH_MAX: Final = 8
"""Layers through which an input is followed."""
MAP_RANK: Final = 4
TIME_AXIS: Final = 1


def find_built(models: Sequence[Any], files: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Layers that normalise an input, by one number each or not, and recurrences of a function without an end.

    Args:
        models: the watched models.
        files: the user's files that are looked at.

    Returns:
        Type (``Normalization`` of a layer whose ``axis`` is None, so that all numbers of an input have one mean and one
        deviation there, or ``While``) and name and layer (its Keras path) of each, without a source line; of the latter
        the function's name, as ``unbounded``. ``While`` of each that was built for sequences of one step, with
        ``one_step`` (True) and the first line that gives an array such an axis; it is no slip by itself. And any other
        ``Normalization``, with ``normalises``: ``as made`` where its mean is 0 and its variance 1 throughout, ``given``
        where it was made with numbers, else ``adapted``; it is no slip unless its output is not scaled.
        And ``BatchNormalization`` of the first that normalises what a convolution gives along an axis of its places,
        which is ``across``, with ``n``, how many do, and the line of all that are made so, where that is one.
    """
    found = _crossing(models, files)
    short = next((source_at([(file, line)]) for file in files for line in sorted(_lines_of_one_step(file))), None)
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
        if isinstance(part, keras.layers.RNN) and _steps_of(part) == 1:
            found.append({"type": "While", **place, "source": short, "one_step": True})
    return found


def _steps_of(layer: Any) -> int | None:
    """How many steps the sequences have that a recurrent layer was built for, where that is known."""
    shape: Sequence[int | None] = (getattr(layer, "_build_shapes_dict", None) or {}).get("sequences_shape") or ()
    return shape[TIME_AXIS] if len(shape) > TIME_AXIS else None


def _lines_of_one_step(file: str) -> Iterator[int]:
    """The lines that reshape to three axes, or to two without the batch's, of which the second last is one."""
    for node in nodes_of(file):
        name = last_name(node) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in ("Reshape", "reshape"):
            continue
        given = [*node.args, *(one.value for one in node.keywords)]
        lists = [one.elts for one in given if isinstance(one, (ast.List, ast.Tuple))]
        axes = lists[0] if lists else given  # `x.reshape(n, 1, d)`
        is_one = len(axes) == (2 if name == "Reshape" else 3) and isinstance(axes[-2], ast.Constant)
        if is_one and axes[-2].value == 1:  # type: ignore[attr-defined]
            yield node.lineno


def _crossing(models: Iterable[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    layers = [layer for model in models for layer in _crossing_in(model)]
    nodes = [node for file in files for node in nodes_of(file)]
    if any(isinstance(node, ast.Call) and last_name(node) in TURNING for node in nodes):
        layers = [layer for layer in layers if _source_of_maps(layer) is not None]
    if not layers:
        return []
    lines = {(file, line) for file in files for line in _lines_with_axis(file)}
    path, axis = path_of(layers[0]), int(layers[0].axis)
    place = {"name": path, "layer": path, "source": source_at(lines) if len(lines) == 1 else None}
    return [{"type": "BatchNormalization", **place, "across": axis % MAP_RANK, "n": len(layers)}]


def _crossing_in(model: Any) -> Iterator[Any]:
    """The batch normalisations of maps whose channels are their last axis, as a convolution before them has it."""
    is_of_maps = False
    for layer in leaves(model):
        if any(hasattr(layer, name) for name in KERNELS):
            is_of_maps = getattr(layer, "data_format", "") == "channels_last"
        elif isinstance(layer, MOVING):
            is_of_maps = False
        elif is_of_maps and isinstance(layer, keras.layers.BatchNormalization) and isinstance(layer.axis, int):
            rank = getattr(layer.input_spec, "ndim", None)
            if rank == MAP_RANK and layer.axis % rank in (1, 2) and _is_from_kernel(layer):
                yield layer


def _is_from_kernel(layer: Any) -> bool:
    """Whether what is normalised comes from a convolution as it is, and its channels lie elsewhere.

    Of a layer whose input is not known, as in a model of the user's own, that is taken as given.
    """
    if _history_of(layer) is None:
        return True
    source = _source_of_maps(layer)
    n_units = getattr(source, "filters", None)
    return source is not None and layer.input.shape[layer.axis] != n_units


def _history_of(layer: Any) -> Any:
    """What made the only input of a layer; None where that is not known."""
    try:
        return layer.input._keras_history
    except (AttributeError, ValueError):  # called more than once, or never with anything but numbers
        return None


def _source_of_maps(layer: Any) -> Any:
    """The layer with a kernel that a layer's input comes from, through nothing that moves its axes; None for others."""
    for _ in range(DEPTH_MAX):
        history = _history_of(layer)
        layer = None if history is None else history.operation
        if any(hasattr(layer, name) for name in KERNELS):
            return layer
        if not isinstance(layer, IN_PLACE):
            return None
    return None


def _lines_with_axis(file: str) -> Iterator[int]:
    for node in nodes_of(file):
        is_call = isinstance(node, ast.Call) and last_name(node) == "BatchNormalization"
        if isinstance(node, ast.Call) and is_call and (node.args or any(one.arg == "axis" for one in node.keywords)):
            yield node.lineno


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
