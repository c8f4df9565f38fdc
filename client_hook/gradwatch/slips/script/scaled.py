"""How images are scaled, in the user's own source and by layers: twice, not at all, or beyond their range. Runs none.

What a layer is given, and what enters the model, tells whether it is a slip. Owns no state.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import keras

from gradwatch.origin import source_at
from gradwatch.syntax import assigned_before, last_name, nodes_in, nodes_of, nodes_of_type
from gradwatch.target import leaves, path_of

__all__ = ["LEVELS", "WHOLE_LEVELS", "find_scaled", "scaling_in"]

LEVELS: Final = (127.5, 128.0, 255.0, 256.0)
"""What images of 8 bits are divided by."""
HELD_OUT: Final = ("test", "val")
"""In lines of what is not trained on, mostly."""
WHOLE_LEVELS: Final = (255.0, 256.0)
CHANNELS: Final = (1, 3, 4)
FLOATS: Final = frozenset({"float", "float16", "float32", "float64"})
KEEPING: Final = frozenset(
    {"cast", "clip_by_value", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_up_down"}
)
"""Functions that leave images in their range."""
RESIZING: Final = frozenset({"resize", "resize_with_crop_or_pad", "resize_with_pad"})
DEPTH_MAX: Final = 8
"""Statements that a name is followed through."""
WHOLE: Final = 255.0
"""What a layer takes a change of 1 for, by default."""
DELTA_MIN: Final = 1.5
"""No image from 0 to 1 is made brighter by more."""
DELTA_SEEN: Final = 16.0
"""Where it is not known that they were scaled: more than numbers of a deviation of 1 ever are."""


class _Brightened(NamedTuple):
    """A call that makes images brighter or darker, by how much at most, and whether they lie between 0 and 1 there."""

    file: str
    line: int
    delta: float
    is_scaled: bool
    is_layer: bool


def find_scaled(models: Iterable[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    """Layers that scale images, and lines that scale none or change their brightness by more than their range.

    Args:
        models: the watched models.
        files: the user's files that are looked at.

    Returns:
        ``Rescaling`` of each layer that divides by one of `LEVELS`, behind none that has weights, with name, layer and
        the only line, if there is one, that scales images as well; ``rescales`` and ``offset``: what it multiplies by,
        and adds. ``Data`` of the first call of ``convert_image_dtype`` on what is floating-point already, with
        ``unconverted`` (True). And ``Data`` of the first line, or layer, that makes images brighter or darker, with
        ``brightens``: by how much at most, and ``scaled``: whether they are known to lie between 0 and 1 there. And
        ``Rescaling`` of such a layer that subtracts 1 as well, or ``Data`` of the first line that divides by a whole
        `LEVELS` and does, with ``halved`` (True). And ``Data`` of the last line that scales images for the
        training, with ``dims``: how many do. None is a slip by itself, but ``brightens`` of ``scaled`` images.
    """
    lines = [(file, line) for file in files for line in sorted(set(scaling_in(file)))]
    source = source_at(lines) if len(lines) == 1 else None
    trained_on = [one for one in lines if not any(word in linecache.getline(*one) for word in HELD_OUT)] or lines
    found: list[dict[str, Any]] = [_line(*one, dims=len(lines)) for one in trained_on[-1:]]
    brightening = [one for file in files for one in _brightened_in(file)]
    lines = [(one.file, one.line) for one in brightening if one.is_layer]
    halving = [(file, line) for file in files for line in _halving_in(file)]
    is_in_model = False
    for model in models:
        is_before = is_behind = False
        for part in leaves(model):
            path = path_of(part)
            place = {"name": path, "layer": path}
            if isinstance(part, keras.layers.Rescaling) and _is_of_images(part) and not is_behind:
                known = {"rescales": part.scale, "offset": float(part.offset)}
                found.append({"type": "Rescaling", **place, "source": source, **known})
                if _is_halved(part.scale, part.offset):
                    line = source_at(halving) if len(halving) == 1 else None
                    found.append({"type": "Rescaling", **place, "source": line, "halved": True})
                    halving = []
                is_before = True
            elif isinstance(part, keras.layers.RandomBrightness) and not is_in_model:
                is_in_model = True
                line = source_at(lines) if len(lines) == 1 else None
                delta = max(map(abs, part.factor)) * (part.value_range[1] - part.value_range[0])
                if delta > DELTA_MIN:
                    known = {"brightens": float(delta), "scaled": is_before}
                    found.append({"type": "RandomBrightness", **place, "source": line, **known})
            is_behind = is_behind or bool(part.weights)  # what a layer has made is no image any more
    outside = [one for one in brightening if not (one.is_layer and is_in_model)]
    found += [_line(one.file, one.line, brightens=one.delta, scaled=one.is_scaled) for one in outside[:1]]
    found += [_line(file, line, halved=True) for file, line in halving[:1]]
    return found + list(itertools.islice((one for file in files for one in _unconverted_in(file)), 1))


def _is_halved(scale: float | None, offset: float | None) -> bool:
    """Whether a scale of images, from 0 to 1, and an offset of -1 leave them between -1 and 0."""
    return (
        offset == -1 and scale is not None and any(math.isclose(scale * one, 1, rel_tol=1e-3) for one in WHOLE_LEVELS)
    )


def _halving_in(file: str) -> Iterator[int]:
    """The lines that divide by the whole range of images and subtract 1, or make a layer that does."""
    for node in nodes_of(file):
        if isinstance(node, ast.Call) and last_name(node) == "Rescaling":
            known = {one.arg: one.value for one in node.keywords}
            given = dict(zip(("scale", "offset"), node.args, strict=False)) | known
            if _is_halved(_number(given.get("scale")), _number(given.get("offset"))):
                yield node.lineno
        elif _is_halving(node):
            yield getattr(node, "lineno", 0)


def _is_halving(node: ast.AST) -> bool:
    is_less = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _number(node.right) == 1
    return is_less and _is_quotient(node.left)  # type: ignore[attr-defined]


def _is_quotient(node: ast.expr) -> bool:
    """Whether something that is no number is divided by the whole range of images."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or isinstance(node.left, ast.Constant):
        return False
    return isinstance(node.right, ast.Constant) and node.right.value in WHOLE_LEVELS


def _is_of_images(layer: Any) -> bool:
    """Whether a layer scales images of 8 bits, so far as the shape is known that it was built for."""
    is_number = all(isinstance(one, (int, float)) for one in (layer.scale, layer.offset))
    shape = (getattr(layer, "_build_shapes_dict", None) or {}).get("input_shape")
    if shape is not None and shape[-1] not in CHANNELS:
        return False
    return is_number and any(math.isclose(layer.scale * level, 1, rel_tol=1e-3) for level in LEVELS)


def scaling_in(file: str) -> Iterator[int]:
    """The lines that bring images of 8 bits to a range of about 1; those that make a layer which does are none."""
    nodes = nodes_of(file)
    layers = [node for node in nodes if isinstance(node, ast.Call) and last_name(node) == "Rescaling"]
    inner = {id(one) for layer in layers for one in nodes_in(layer)}
    for node in nodes:
        if id(node) not in inner and _is_scaling(node):
            yield getattr(node, "lineno", 0)


def _is_scaling(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and last_name(node) == "convert_image_dtype":
        return _dtype_of(node) in FLOATS
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        return _is_level(node.value)
    if not isinstance(node, ast.BinOp) or isinstance(node.left, ast.Constant):
        return False
    if isinstance(node.op, ast.Mult) and isinstance(node.right, ast.BinOp):
        return isinstance(node.right.op, ast.Div) and _is_level(node.right.right)
    return isinstance(node.op, ast.Div) and _is_level(node.right)


def _is_level(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in LEVELS


def _dtype_of(call: ast.Call) -> str:
    """The last name of the type that a call is given second, or by that name; empty for none."""
    given = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "dtype")]
    names = [str(one.value) if isinstance(one, ast.Constant) else last_name(one) for one in given]
    return next(iter(names), "")


def _unconverted_in(file: str) -> Iterator[dict[str, Any]]:
    calls = nodes_of_type(file, ast.Call)
    if any(last_name(node) == "preprocess_input" for node in calls):
        return  # which takes images of 8 bits as they are
    for node in calls:
        is_asked = last_name(node) == "convert_image_dtype" and _dtype_of(node) in FLOATS
        if is_asked and node.args and _is_floating(node.args[0], file):
            yield _line(file, node.lineno, unconverted=True)


def _is_floating(node: ast.expr, file: str, depth: int = DEPTH_MAX) -> bool:
    """Whether an expression is known to give floating-point numbers that are in the range they had as integers."""
    if isinstance(node, ast.Name) and depth:
        given = assigned_before(node, file)
        return given is not None and _is_floating(given, file, depth - 1)
    if not isinstance(node, ast.Call):
        return False
    name, method = last_name(node), node.func.value if isinstance(node.func, ast.Attribute) else None
    if name == "cast":
        return _dtype_of(node) in FLOATS and not _is_scaled(node, file)
    if name == "astype":
        dtypes = [str(one.value) if isinstance(one, ast.Constant) else last_name(one) for one in node.args[:1]]
        return bool(FLOATS & set(dtypes)) and method is not None and not _is_scaled(method, file)
    if name in RESIZING and method is not None and ast.unparse(method).endswith("image"):
        is_nearest = any("nearest" in ast.unparse(one).lower() for one in [*node.args, *node.keywords])
        is_between = name != "resize_with_crop_or_pad" and not is_nearest
        return is_between and bool(node.args) and not _is_scaled(node.args[0], file)
    return bool(node.args) and name in KEEPING and _is_floating(node.args[0], file, depth)


def _is_scaled(node: ast.expr, file: str, depth: int = DEPTH_MAX) -> bool:
    """Whether an expression is known to give what was brought to a range of about 1."""
    if _is_scaling(node):
        return True
    if isinstance(node, ast.Name) and depth:
        given = assigned_before(node, file)
        return given is not None and _is_scaled(given, file, depth - 1)
    if isinstance(node, ast.Call) and last_name(node) == "astype" and isinstance(node.func, ast.Attribute):
        return _is_scaled(node.func.value, file, depth)
    is_kept = isinstance(node, ast.Call) and last_name(node) in KEEPING | RESIZING and bool(node.args)
    return is_kept and _is_scaled(node.args[0], file, depth)  # type: ignore[attr-defined]


def _brightened_in(file: str) -> Iterator[_Brightened]:
    for node in nodes_of(file):
        name = last_name(node) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in ("random_brightness", "RandomBrightness"):
            continue
        known, is_layer = {one.arg: one.value for one in node.keywords}, name == "RandomBrightness"
        place, word = (0, "factor") if is_layer else (1, "max_delta")
        number = _number(node.args[place] if len(node.args) > place else known.get(word)) or 0.0
        is_ranged = "value_range" in known or len(node.args) > 1
        is_scaled = not is_layer and bool(node.args) and _is_scaled(node.args[0], file)
        delta = number if not is_layer else 0.0 if is_ranged else WHOLE * number
        if delta > (DELTA_MIN if is_scaled else DELTA_SEEN):
            yield _Brightened(file, node.lineno, delta, is_scaled, is_layer)


def _number(node: ast.expr | None) -> float | None:
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _number(node.operand)
        return None if number is None else -number
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        over, under = _number(node.left), _number(node.right)
        return over / under if over is not None and under else None
    return float(node.value) if is_number else None  # type: ignore[union-attr]


def _line(file: str, line: int, **known: Any) -> dict[str, Any]:
    return {"type": "Data", "name": "", "layer": "", "source": source_at([(file, line)]), **known}
