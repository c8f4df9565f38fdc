"""Layers that a watched layer's code calls by a name from outside of it, or holds where Keras does not look.

Keras knows the layers that a layer holds as its attributes. One that a function calls by a name of the script, as that
of a ``Lambda`` does, is computed with, and is in no ``trainable_variables``; nor is one within an object that is no
layer, or that a function keeps. Owns no state.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final

import keras

from gradwatch import legacy
from gradwatch.origin import is_users, source_at
from gradwatch.syntax import nodes_in, nodes_of, nodes_of_type
from gradwatch.target import file_of, parts_within, path_of, walk

__all__ = ["find_outside", "outside_layers"]

DEPTH_MAX: Final = 4
"""Objects within objects that are looked into."""


def outside_layers(models: Sequence[Any]) -> list[Any]:
    """Those that none of these models of Keras 3 has."""
    held = [one for *_, found in _held(models) for one in found]
    return list({id(layer): layer for layer in (*(one for *_, one in _calls(models)), *held)}.values())


def find_outside(models: Sequence[Any]) -> list[dict[str, Any]]:
    """What is told of them; they are no slip unless nothing trains them.

    Returns:
        Type (the class of the layer that calls), name (of the layer that is called), layer (the path of the former) and
        source line of each, and ``outside``: the names of the variables that could be trained. Of an object that layers
        are held in, name is the attribute, with the line that sets it, and ``held``: its class.
    """
    found = []
    for layer, code, name, called in _calls(models):
        lines = (node.lineno for node in nodes_of(code.co_filename) if isinstance(node, ast.Name) and node.id == name)
        line = next((line for line in sorted(lines) if line >= code.co_firstlineno), code.co_firstlineno)
        place = {"layer": path_of(layer), "source": source_at([(code.co_filename, line)])}
        variables = [str(one.path) for one in called.trainable_variables]
        found.append({"type": type(layer).__name__, "name": str(called.name), **place, "outside": variables})
    for layer, name, held, within in _held(models):
        variables = [str(one.path) for called in within for one in called.trainable_variables]
        place = {"name": name, "layer": path_of(layer), "source": _find_setter(layer, name)}
        found.append({"type": type(layer).__name__, **place, "outside": variables, "held": held})
    return [one for one in found if one["outside"]]


def _find_setter(layer: Any, name: str) -> dict[str, Any] | None:
    """The line of a layer's class that sets an attribute."""
    for cls in type(layer).__mro__:
        file = file_of(cls)
        if not file or not is_users(file):
            continue
        classes = [one for one in nodes_of_type(file, ast.ClassDef) if one.name == cls.__name__]
        within = (one for node in classes for one in nodes_in(node) if isinstance(one, ast.Attribute))
        lines = [one.lineno for one in within if one.attr == name and isinstance(one.ctx, ast.Store)]
        if lines:
            return source_at([(file, lines[0])])
    return None


def _held(models: Sequence[Any]) -> Iterator[tuple[Any, str, str, list[Any]]]:
    """A layer of the user's class, its attribute, the class of what that holds layers in, and these layers."""
    layers = list(walk([model for model in models if not legacy.is_model(model)]))
    known = {id(one) for one in layers}
    for layer in layers:
        own = dict(vars(layer)) if is_users(file_of(type(layer))) else {}
        for name in (one for one in own if not one.startswith("_self_")):  # TensorFlow's own lists
            found = {id(one): (one, holder) for one, holder in _layers_in(own[name]) if id(one) not in known}
            known |= found.keys()
            if found:
                holder = next(iter(found.values()))[1]
                yield layer, name, holder, [one for one, _ in found.values()]


def _layers_in(value: Any, holder: str = "", depth: int = DEPTH_MAX) -> Iterator[tuple[Any, str]]:
    """The layers within an object that is none, and the class of the first such object on the way."""
    for part in parts_within(value) if depth else ():
        if isinstance(part, keras.Layer):
            yield part, holder or type(value).__name__
        else:
            is_way = isinstance(value, (dict, list, tuple)) or inspect.ismethod(value)
            yield from _layers_in(part, holder or ("" if is_way else type(value).__name__), depth - 1)


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
