"""Layers that a user's own layer or model makes and never calls, and settings of a loss that it never reads.

Of the watched models' own classes: attributes that nothing in the user's files asks for. Runs none of their code. Owns
no state.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

import keras

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_in, nodes_of, nodes_of_type, readers_of
from gradwatch.target import walk

__all__ = ["find_uncalled"]

SETTING: Final = re.compile(
    r"alpha|beta|margin|tau|temperature|label_smoothing|(lambda|weight|coef)_[a-z]+|[a-z_]+_(lambda|weight|coef|alpha)"
)
"""Names of what a loss is made with."""
LOOKING: Final = frozenset({"__dict__", "getattr", "vars"})
"""What may read an attribute that does not stand there."""
BASES: Final = frozenset({"Layer", "Loss", "Model"})
TRAINING: Final = frozenset({"call", "compute_loss", "train_step"})


def find_uncalled(models: Sequence[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    """The first layer with weights to be that its owner has never called, or setting of a loss that it never reads.

    Args:
        models: the watched models, which have been called.
        files: the user's files that are looked at.

    Returns:
        Type (``Attribute``), the attribute's name as name, the owner's path as layer, the line that sets it, and
        ``uncalled`` (the class of a layer), or ``setting`` (True).
    """
    read = _read_in([one for file in files for one in readers_of(file)])
    for owner in walk(models) if not read & LOOKING else ():
        module = sys.modules.get(type(owner).__module__)
        file = str(getattr(module, "__file__", None) or "")
        unread = dict(_set_in(file, type(owner).__name__)) if file in files else {}
        for name, (line, is_setting) in unread.items():
            if name in read:
                continue
            held = getattr(owner, name, None)
            known: dict[str, Any] = {"setting": True} if is_setting else {}
            if isinstance(held, keras.Layer) and _is_unbuilt(held) and owner.built:
                known = {"uncalled": type(held).__name__}
            if known:
                place = {"name": name, "layer": str(getattr(owner, "path", None) or owner.name)}
                return [{"type": "Attribute", **place, "source": source_at([(file, line)]), **known}]
    return []


def _is_unbuilt(layer: Any) -> bool:
    """Whether a layer has never been called, and would have had weights."""
    return not layer.built and not layer.weights and type(layer).build is not keras.Layer.build


def _read_in(files: Sequence[str]) -> set[str]:
    """The names of all attributes that files read, but where a configuration is saved, and of what they call."""
    nodes = [node for file in files for node in nodes_of(file)]
    kept = (node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == "get_config")
    saved = {id(one) for function in kept for one in nodes_in(function)}
    asked = (node for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store))
    read = {node.attr for node in asked if id(node) not in saved}
    return read | {last_name(node) for node in nodes if isinstance(node, ast.Call)}


def _set_in(file: str, name: str) -> Iterator[tuple[str, tuple[int, bool]]]:
    """The attributes that a class's ``__init__`` sets: the line of each, and whether it looks like a loss's setting."""
    classes = [node for node in nodes_of_type(file, ast.ClassDef) if node.name == name]
    methods = {one.name: one for node in classes for one in node.body if isinstance(one, ast.FunctionDef)}
    made = methods.get("__init__")
    is_own = len(classes) == 1 and all(last_name(one) in BASES for one in classes[0].bases)
    if made is None or not is_own or not TRAINING & methods.keys():
        return
    given = {one.arg for one in [*made.args.args, *made.args.kwonlyargs]}
    for node in nodes_in(made):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
            attribute, is_given = node.targets[0].attr, isinstance(node.value, ast.Name) and node.value.id in given
            yield attribute, (node.lineno, is_given and SETTING.fullmatch(attribute) is not None)
