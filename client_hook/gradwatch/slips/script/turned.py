"""Arrays whose axes change places by a reshape, and copies of two arrays that do not pair, in the user's own files.

Runs none of it.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gradwatch.origin import frames_of, locals_of, source_of
from gradwatch.slips.script.fed import (
    PACKAGES,
    Calls,
    array_name,
    chain_of,
    data_sets_held,
    data_slip,
    first_of,
    held_as,
    is_of_package,
    known_array,
    mapped_graph,
    subject_of,
)
from gradwatch.syntax import last_name, names_in, nodes_in, nodes_of

__all__ = ["find_turned"]

LAYING: Final = frozenset({"concat", "concatenate", "vstack"})
COPYING: Final = frozenset({"repeat", "tile"}) | LAYING
FRAMES_MAX: Final = 8
"""Frames of a series that are merged to one."""


def find_turned(files: Sequence[str]) -> list[dict[str, Any]]:
    """Arrays that a reshape lays along other axes than before, where they were to be moved.

    Args:
        files: the user's files that are looked at.

    Returns:
        Each with type (``Data``), no name, no layer and the source line, the first of each kind: ``before`` and
        ``after``: the shapes of an array, or in the map of a data set (the batch's axis is -1), before and after a
        reshape that gives it the same axes in another order; ``copies``: the copies of one of two arrays of a pair are
        made by ``repeat``, of the other by ``tile`` or end to end: which of ``repeat`` and ``tile`` the line has;
        ``unrolled`` (True): the other is laid out by a reshape that merges two axes.
    """
    return first_of(
        (
            _turned,
            _turned_in_place,
            _turned_in_map,
            _copied,
        ),
        files,
    )


def _turned(file: str) -> Iterator[dict[str, Any]]:
    running, calls = list(frames_of(file)), Calls.of(file)
    for node in nodes_of(file):
        targets = [one.id for one in node.targets if isinstance(one, ast.Name)] if isinstance(node, ast.Assign) else []
        name = _reshaped(node.value) if isinstance(node, ast.Assign) else None
        for frame in running if targets and name is not None and name not in targets else ():
            before, after = (np.shape(known_array(held_as(str(one), frame))) for one in (name, targets[0]))
            if _is_other_order(before, after):
                yield data_slip(file, node.lineno, before=list(before), after=list(after))  # type: ignore[attr-defined]
        function = calls.around.get(id(node))
        if function is None or not isinstance(node, ast.Call) or _reshaped(node) is None or calls.turns(function):
            continue
        for frame in running:
            before = np.shape(known_array(calls.find(str(_reshaped(node)), node, frame)))
            after = _asked_shape(node, math.prod(before), frame)
            if after is not None and _is_other_order(before, after):
                yield data_slip(file, node.lineno, before=list(before), after=after)


def _turned_in_place(file: str) -> Iterator[dict[str, Any]]:
    """The lines that give an array another shape under its own name, where its memory tells what shape it had."""
    held = [(frame, value) for frame in frames_of(file) for value in locals_of(frame).values()]
    turned = [(frame, value) for frame, value in held if isinstance(value, np.ndarray) and _is_turned_view(value)]
    for node in nodes_of(file) if turned else ():
        name = _reshaped(node.value) if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or name not in [getattr(to, "id", "") for to in node.targets]:
            continue
        for frame, array in turned:
            whole: Any = array.base
            asked = _asked_shape(node.value, whole.size, frame)  # type: ignore[arg-type]
            if asked is not None and asked[1:] == list(array.shape[1:]) and asked[0] == len(whole):
                yield data_slip(file, node.lineno, before=list(whole.shape), after=asked)


def _is_turned_view(array: Any) -> bool:
    """Whether rows of an array are those of another one, with their axes in another order and no transpose."""
    whole = array.base
    if not isinstance(whole, np.ndarray) or not (array.flags.c_contiguous and whole.flags.c_contiguous):
        return False
    shapes = whole.shape[1:], array.shape[1:]
    return whole.dtype == array.dtype and _is_other_order(*shapes) and not _is_of_frames(*shapes)


def _turned_in_map(file: str) -> Iterator[dict[str, Any]]:
    """The lines of a data set's map that reshape what they are given where its axes should change places."""
    for data in data_sets_held():
        graphs = filter(None, map(mapped_graph, chain_of(data)))
        for op in (op for graph in graphs for op in graph.get_operations()):
            shapes = [one.shape for one in (*op.inputs[:1], *op.outputs)] if op.type == "Reshape" else []
            if any(shape.rank is None for shape in shapes) or not shapes:
                continue
            before, after = ([-1 if n is None else n for n in shape] for shape in shapes)
            is_mixed = _is_other_order(before, after) and _is_known(before, after) and not _is_of_frames(before, after)
            source = source_of(op) if is_mixed else None
            if source is not None and source["file"] == file:
                yield data_slip(file, source["line"], before=before, after=after)


def _is_known(*shapes: Sequence[int]) -> bool:
    """Whether no length is open but that of the batch, in the first place of all."""
    starts = {shape[0] for shape in shapes}
    return all(-1 not in shape[1:] for shape in shapes) and (len(starts) == 1 or -1 not in starts)


def _is_other_order(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether two shapes have the same axes in another order."""
    axes = [[length for length in shape if length != 1] for shape in (before, after)]
    return axes[0] != axes[1] and sorted(axes[0]) == sorted(axes[1])


def _is_of_frames(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether of two lengths that change places one is a few times the other: frames are merged then, or split."""
    axes = [[length for length in shape if length != 1] for shape in (before, after)]
    moved = {length for one, other in zip(*axes, strict=True) if one != other for length in (one, other)}
    pairs = itertools.permutations((length for length in moved if length > 0), 2)
    return any(one % other == 0 and one // other <= FRAMES_MAX for one, other in pairs)


def _asked_shape(call: ast.Call, size: int, frame: Any) -> list[int] | None:
    """The shape that a reshape asks for of an array of so many elements; None where a length is not known."""
    given = call.args[1:] if is_of_package(call) else call.args
    if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    lengths = [_length(one, frame) for one in given]
    if lengths.count(None) + lengths.count(-1) > 1 or not lengths:
        return None
    # One that is not known in a place of its own, such as `len(x)`, is what is left as well.
    known = math.prod(one for one in lengths if one is not None and one >= 0)
    if known <= 0 or size % known:
        return None
    return [size // known if one is None or one < 0 else one for one in lengths]


def _length(node: ast.expr, frame: Any) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _length(node.operand, frame)
        return None if value is None else -value
    known: Any = held_as(node.id, frame) if isinstance(node, ast.Name) else getattr(node, "value", None)
    return int(known) if isinstance(known, (int, np.integer)) else None


def _reshaped(node: ast.expr) -> str | None:
    """The name of the array that a call gives another shape; None for anything else."""
    if not isinstance(node, ast.Call) or last_name(node) != "reshape" or not isinstance(node.func, ast.Attribute):
        return None
    of = subject_of(node)
    return of.id if isinstance(of, ast.Name) and of.id not in PACKAGES else None


def _copied(file: str) -> Iterator[dict[str, Any]]:
    running, given = list(frames_of(file)), Calls.of(file)
    for function in nodes_of(file):
        if not isinstance(function, (ast.FunctionDef, ast.Module)):
            continue
        inner = nodes_in(function)
        assigned = [(to, one.value) for one in inner if isinstance(one, ast.Assign) for to in one.targets]
        made = {to.id: value for to, value in assigned if isinstance(to, ast.Name)}
        for pair in (one for one in inner if isinstance(one, ast.Tuple) and len(one.elts) == 2):
            copies = [_made_of(one, made) for one in pair.elts]
            calls = {last_name(one): one for one in copies if isinstance(one, ast.Call)}
            if "repeat" in calls and "tile" in calls:
                yield data_slip(file, calls["tile"].lineno, copies="tile")
            elif "repeat" in calls and any(_is_end_to_end(one, made) for one in calls.values()):
                yield data_slip(file, calls["repeat"].lineno, copies="repeat")
            elif len(calls.keys() & {"repeat", "tile"}) == 1 and "reshape" in calls:
                name = "tile" if "tile" in calls else "repeat"
                if any(_is_across(calls["reshape"], calls[name], given, frame) for frame in running):
                    yield data_slip(file, calls[name].lineno, copies=name, unrolled=True)


def _is_across(unrolled: ast.Call, copied: ast.Call, calls: Calls, frame: Any) -> bool:
    """Whether a reshape lays the samples of an array out in one order, and their targets are copied in the other.

    Of ``[n, k, ...]`` a reshape makes k rows of the first of n samples, then k of the second; `tile` begins anew.
    """
    of = subject_of(copied)
    name, targets = _reshaped(unrolled), None if of is None else array_name(of)
    if name is None or targets is None:
        return False
    before = np.shape(known_array(calls.find(name, unrolled, frame)))
    asked = np.shape(known_array(calls.find(targets, copied, frame)))
    after = _asked_shape(unrolled, math.prod(before), frame) if len(before) > 1 and asked else None
    if after is None or after[0] != math.prod(before[:2]) or before[0] == before[1]:
        return False
    return bool(asked[0] > 1 and asked[0] == before[0 if last_name(copied) == "tile" else 1])


def _made_of(node: ast.expr, made: Mapping[str, ast.expr]) -> ast.expr:
    """The call that makes what an expression is of, so far as it is of one alone."""
    if any(isinstance(one, ast.Call) and last_name(one) in COPYING for one in nodes_in(node)):
        return node
    calls = [made[one.id] for one in names_in(node) if isinstance(made.get(one.id), ast.Call)]
    return calls[0] if len(calls) == 1 else node


def _is_end_to_end(call: ast.Call, made: Mapping[str, ast.expr]) -> bool:
    """Whether a call lays an array and what is made of it, such as its mirror images, one behind the other."""
    if last_name(call) not in LAYING or not call.args:
        return False
    parts = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    first = parts[0].id if parts and isinstance(parts[0], ast.Name) else None
    others = [made.get(one.id, one) if isinstance(one, ast.Name) else one for one in parts[1:]]
    return bool(others) and all(any(name.id == first for name in names_in(one)) for one in others)
