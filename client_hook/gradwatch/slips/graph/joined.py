"""Merges of a tensor with itself, in the graph. Owns no state.

A shortcut adds what a block was given to what it made. ``add([x, x])`` is twice x: the other tensor is lost. Keras'
layers alone are looked at: ``x + x`` by hand may be meant so, and `Multiply` of one tensor squares it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import is_users, layer_of, source_at
from gradwatch.syntax import last_name, nodes_of_type, users_files

__all__ = ["find_joined"]

MERGING: Final = re.compile(r"[/\\]layers[/\\]merging[/\\](add|average|concatenate|maximum|minimum|subtract)\.py$")
RISING: Final = re.compile(r"[/\\]layers[/\\](reshaping[/\\]up_sampling2d|convolutional[/\\]base_conv_transpose)\.py$")
JOINED: Final = frozenset({"AddV2", "ConcatV2", "Maximum", "Minimum", "Sub"})
MAP_RANK: Final = 4
WAY_MAX: Final = 24
Tensor = Any  # tensorflow ships no types


def find_joined(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Merges of Keras' whose two inputs are one tensor.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name and layer of the first, the line of the user's that hands one name twice, where that is one, and
        ``itself``: the function, such as ``add``. Of `Concatenate` just where an upsampling's features are doubled: a
        decoder's other half comes from the encoder.
    """
    for op in forward:
        if op.type in JOINED and _is_doubled(op):
            kind = _file_of(op, MERGING)
            if kind is not None and (kind != "concatenate" or _is_upsampled(op)):
                place = {"layer": layer_of(op.name, layer_paths), "source": _line_of(op, kind)}
                return [{"type": op.type, "name": op.name, **place, "itself": kind}]
    return []


def _is_doubled(op: Any) -> bool:
    parts = op.inputs[:2]
    if parts[0] is not parts[1] or op.type != "ConcatV2":
        return parts[0] is parts[1]
    rank, axis = parts[0].shape.rank, tf.get_static_value(op.inputs[-1])
    return len(op.inputs) == len(parts) + 1 and rank == MAP_RANK and axis is not None and int(axis) in (-1, rank - 1)


def _file_of(op: Any, wanted: re.Pattern[str]) -> str | None:
    """The first group of a pattern that the file of a frame has which made an operation."""
    return next((match[1] for frame in op.traceback if (match := wanted.search(frame.filename))), None)


def _is_upsampled(op: Any) -> bool:
    for _ in range(WAY_MAX):
        if not op.inputs:
            break
        op = op.inputs[-1 if op.type == "Conv2DBackpropInput" else 0].op
        if _file_of(op, RISING) is not None:
            return True
    return False


def _line_of(op: Any, kind: str) -> dict[str, Any] | None:
    own = [(frame.filename, frame.lineno) for frame in op.traceback if is_users(frame.filename)]
    files = dict.fromkeys([*(file for file, _ in own), *users_files()])
    lines = {(file, line): name for file in files for line, name in _lines_in(file)}
    places = [place for place in own if place in lines] or [place for place in lines if lines[place] == kind]
    return source_at(places) if len(set(places)) == 1 else None


def _lines_in(file: str) -> Iterator[tuple[int, str]]:
    """The lines that hand one name twice in a list, and what they hand it to."""
    for node in nodes_of_type(file, ast.Call):
        for one in node.args:
            parts = [ast.dump(part) for part in one.elts] if isinstance(one, (ast.List, ast.Tuple)) else []
            if len(parts) > len(set(parts)) == 1:
                yield one.lineno, last_name(node.func).lower()
