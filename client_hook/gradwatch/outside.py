"""Layers that a watched layer's code calls by a name from outside of it. Owns no state.

Keras knows the layers that a layer holds as its attributes. One that a function calls by a name of the script, as that
of a ``Lambda`` does, is computed with, and is in no ``trainable_variables``.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import keras

from gradwatch import legacy
from gradwatch.origin import is_users, source_at
from gradwatch.syntax import nodes_of
from gradwatch.target import walk

__all__ = ["find_outside", "outside_layers"]


def outside_layers(models: Sequence[Any]) -> list[Any]:
    """Those that none of these models of Keras 3 has."""
    return list({id(layer): layer for *_, layer in _calls(models)}.values())


def find_outside(models: Sequence[Any]) -> list[dict[str, Any]]:
    """What is told of them; they are no slip unless nothing trains them.

    Returns:
        Type (the class of the layer that calls), name (of the layer that is called), layer (the path of the former) and
        source line of each, and ``outside``: the names of the variables that could be trained.
    """
    found = []
    for layer, code, name, called in _calls(models):
        lines = (node.lineno for node in nodes_of(code.co_filename) if isinstance(node, ast.Name) and node.id == name)
        line = next((line for line in sorted(lines) if line >= code.co_firstlineno), code.co_firstlineno)
        place = {"layer": str(layer.path or layer.name), "source": source_at([(code.co_filename, line)])}
        variables = [str(one.path) for one in called.trainable_variables]
        found.append({"type": type(layer).__name__, "name": str(called.name), **place, "outside": variables})
    return [one for one in found if one["outside"]]


def _calls(models: Sequence[Any]) -> Iterator[tuple[Any, Any, str, Any]]:
    """The layer whose code calls, that code, the name by which it calls, and the layer that is called."""
    layers = list(walk([model for model in models if not legacy.is_model(model)]))
    known = {id(one) for one in layers}
    for layer in layers:
        function = layer.function if isinstance(layer, keras.layers.Lambda) else type(layer).__dict__.get("call")
        if not inspect.isfunction(function) or not is_users(function.__code__.co_filename):
            continue
        names = inspect.getclosurevars(function)
        for name, held in {**names.globals, **names.nonlocals}.items():
            if isinstance(held, keras.Layer) and id(held) not in known:
                yield layer, function.__code__, name, held
