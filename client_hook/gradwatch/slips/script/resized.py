"""Images and masks that are resized to numbers between those that were meant, in the user's own files. Runs none."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

import keras
import numpy as np

from gradwatch.origin import frames_of
from gradwatch.slips.script.fed import (
    FLOATS,
    INTEGERS,
    KEEPING,
    asks_for,
    data_slip,
    first_of,
    held_as,
    keyword,
    known_to_fit,
    type_named,
)
from gradwatch.syntax import assigned_before, last_name, names_in, nodes_in, nodes_of
from gradwatch.target import losses_of

__all__ = ["find_resized"]

LIKE: Final = frozenset({"empty_like", "full_like", "ones_like", "zeros_like"})
BETWEEN: Final = frozenset({"area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic"})
"""How `tf.image.resize` makes new numbers of those around; "bilinear" where nothing is said."""
NOTHING: Final = "bilinear"
OF_CLASSES: Final = frozenset(
    {
        "SparseCategoricalCrossentropy",
        "sparse_categorical_crossentropy",
        "sparse_softmax_cross_entropy_with_logits",
    }
)
"""Losses that take numbers of classes, and cut them to whole ones."""
NO_LOSSES: Final = frozenset({"Loss", "deserialize", "get", "serialize"})
OTHER_LOSSES: Final = (
    frozenset({"mae", "mse"}) | {one for one in dir(keras.losses) if one[0] != "_"} - OF_CLASSES - NO_LOSSES
)
RESIZE_DEPTH: Final = 10
"""Statements and calls that a mask is followed through."""


def find_resized(files: Sequence[str]) -> list[dict[str, Any]]:
    """Resized images whose numbers are cut to integers, and arrays of integers that are fed as fractions.

    Args:
        files: the user's files that are looked at.

    Returns:
        Each with type (``Data``), no name, no layer and the source line, the first of each kind: ``resized``: the
        method by which an image is resized whose numbers are rounded to integers then, or, with ``uncast`` (True), that
        a loss of class numbers is given as they are; ``buffer``: the integer type of an array that was made like
        another one, and is fed as floating-point numbers.
    """
    return first_of(
        (
            _resized,
            _coarse,
        ),
        files,
    )


def _resized(file: str) -> Iterator[dict[str, Any]]:
    for function in nodes_of(file):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        inner = nodes_in(function)
        made = {
            to.id: one.value
            for one in inner
            if isinstance(one, ast.Assign) and _method_of(one.value)
            for to in one.targets
            if isinstance(to, ast.Name)
        }
        for node in inner:
            if isinstance(node, ast.Call) and asks_for(node, INTEGERS, ("cast",)):
                given = node.args[0] if node.args else node
                call = made.get(given.id, given) if isinstance(given, ast.Name) else given
                if (method := _method_of(call)) is not None:
                    yield data_slip(file, call.lineno, resized=method)
    yield from _uncast(file)


def _uncast(file: str) -> Iterator[dict[str, Any]]:
    """The same of the second of a pair, where a loss of class numbers is to take them as they are."""
    nodes = nodes_of(file)
    if not _is_loss_of_classes(file):
        return
    maps = [node for node in nodes if isinstance(node, ast.Call) and last_name(node) == "map" and node.args]
    mapped = {one.args[0].id for one in maps if isinstance(one.args[0], ast.Name)}
    for function in (node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in mapped):
        returned = [node.value for node in nodes_in(function) if isinstance(node, ast.Return)]
        for pair in (one for one in returned if isinstance(one, ast.Tuple) and len(one.elts) == 2):
            call = _resize_behind(pair.elts[1], file)
            if call is not None and (method := _method_of(call)) is not None:
                yield data_slip(file, call.lineno, resized=method, uncast=True)


def _is_loss_of_classes(file: str) -> bool:
    """Whether the model that is fitted has losses of class numbers alone; where none is, the file names no others."""
    if losses := losses_of(known_to_fit().get("self")):
        names = [one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__) for one in losses]
        return OF_CLASSES.issuperset(names)
    named = {type_named(node) for node in nodes_of(file) if isinstance(node, (ast.Attribute, ast.Constant, ast.Name))}
    return not named.isdisjoint(OF_CLASSES) and named.isdisjoint(OTHER_LOSSES)


def _resize_behind(node: ast.expr | None, file: str, depth: int = RESIZE_DEPTH) -> ast.Call | None:
    """The call of `tf.image.resize` that makes the numbers of an expression; None where it is not known."""
    if node is None or not depth or (isinstance(node, ast.Call) and _method_of(node) is not None):
        return node if isinstance(node, ast.Call) and depth else None
    before: ast.expr | None = None
    if isinstance(node, ast.Name):
        before = assigned_before(node, file)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        before = node.left
    elif isinstance(node, ast.Call) and last_name(node) in KEEPING | {"cast", "round"} and node.args:
        before = node.args[0]
    elif isinstance(node, ast.Subscript):
        before = node.value
    return _resize_behind(before, file, depth - 1)


def _method_of(node: ast.AST) -> str | None:
    """How a call of `tf.image.resize` makes new numbers; None where it takes those that are there, or for no call."""
    is_resize = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("image.resize")
    if not isinstance(node, ast.Call) or not is_resize:
        return None
    given = node.args[2] if len(node.args) > 2 else keyword(node, "method") or keyword(node, "interpolation")
    if given is None:
        return NOTHING
    method = str(given.value) if isinstance(given, ast.Constant) else last_name(given).lower()
    return method if method in BETWEEN else None


def _coarse(file: str) -> Iterator[dict[str, Any]]:
    nodes = nodes_of(file)
    made = {
        to.id: node
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value) in LIKE
        for to in node.targets
        if isinstance(to, ast.Name) and keyword(node.value, "dtype") is None
    }
    if not made:
        return
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    casting = [node for node in calls if asks_for(node, FLOATS, ("constant", "cast", "convert_to_tensor", "astype"))]
    fed = {one.id for node in casting for one in names_in(node)}
    stored = {
        one.value.id
        for one in nodes
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name)
    }
    for name in made.keys() & fed & stored:
        for frame in frames_of(file):
            array = held_as(name, frame)
            if isinstance(array, np.ndarray) and array.dtype.kind in "iu":
                yield data_slip(file, made[name].lineno, buffer=str(array.dtype))
                break
