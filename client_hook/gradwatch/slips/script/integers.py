"""Numbers that an integer type cannot hold, fractions or below 0, in the user's own files. Runs none of it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import frames_of, source_of
from gradwatch.slips.script.fed import (
    FLOATS,
    INTEGERS,
    KEEPING,
    Calls,
    array_name,
    asks_for,
    chain_of,
    data_sets_held,
    data_slip,
    first_of,
    held_as,
    is_within,
    keyword,
    known_array,
    mapped_graph,
    subject_of,
    type_named,
)
from gradwatch.slips.script.scaled import WHOLE_LEVELS
from gradwatch.syntax import last_name, nodes_in, nodes_of, stored_names
from gradwatch.target import is_of_keras

__all__ = ["find_integers"]

SHARES_MAX: Final = 4096
"""Of an array, how many numbers are looked at."""
MOST: Final = 0.5
SEQUENCES_MAX: Final = 64
"""Of padded sequences, how many are looked at."""
LOST_MIN: Final = 0.3
"""Of the deviation of numbers, what their fractions have: with less, whole numbers tell nearly as much."""
FLOOR_DIVISIONS: Final = frozenset({"floor_divide", "floordiv"})
WHOLE: Final = INTEGERS | {"int", "uint8", "uint16", "uint32", "uint64"}


def find_integers(files: Sequence[str]) -> list[dict[str, Any]]:
    """Arrays of integers that lose what they are to hold.

    Args:
        files: the user's files that are looked at.

    Returns:
        Each with type (``Data``), no name, no layer and the source line, the first of each kind: ``wraps``: the
        unsigned type of two arrays of which the difference is taken; ``floored``: the type of whole numbers to which an
        array of fractions between 0 and 1 is cast, which it was ``scaled`` (True) to, or (``padded``, True) to which
        sequences of fractions are padded; ``//`` where that divides by the largest level of an image.
    """
    return first_of(
        (
            _wrapped,
            _floored,
            _floored_in_map,
            _divided,
            _padded,
        ),
        files,
    )


def _wrapped(file: str) -> Iterator[dict[str, Any]]:
    running, calls = list(frames_of(file)), Calls.of(file)
    for node in nodes_of(file):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            continue
        names = [array_name(one) for one in (node.left, node.right)]
        if None in names or ast.dump(node.left) == ast.dump(node.right):
            continue
        given = [(str(name), _given_to(str(name), calls.around.get(id(node)), calls)) for name in names]
        for frame in running:
            arrays = [held_as(own if outer is None else outer, frame) for own, outer in given]
            if all(isinstance(one, np.ndarray) and one.dtype.kind == "u" for one in arrays):
                yield data_slip(file, node.lineno, wraps=str(arrays[0].dtype))


def _given_to(name: str, function: ast.FunctionDef | None, calls: Calls) -> str | None:
    """The name of what is given for an argument of a function; None for a name that is none of its arguments.

    Empty where that is not known, as where the function gives the name to something else.
    """
    given = None if function is None else calls.given(name, function)
    if function is None or given is None:
        return None
    inner = (node for node in nodes_in(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    if any(node.id == name for node in inner):
        return ""
    return next((own for one in given if (own := array_name(one)) is not None), "")


def _floored(file: str) -> Iterator[dict[str, Any]]:
    running, calls = list(frames_of(file)), Calls.of(file)
    stores: dict[str, list[ast.Assign | ast.AugAssign]] = defaultdict(list)
    for node in nodes_of(file):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for to in stored_names(node):
                stores[to].append(node)
    for node in nodes_of(file) if running else ():
        name, dtype, scale = _cast_to_whole(node) or ("", "", None)
        function = calls.around.get(id(node))
        is_given = bool(name) and function is not None and calls.given(name, function) is not None
        # What is given another value then, here or below, is not what was cast.
        later = [one for one in stores.get(name, []) if (one.end_lineno or 0) >= node.lineno]  # type: ignore[attr-defined]
        for frame in running if name else ():
            factor, array = _factor(scale, frame), known_array(calls.find(name, node, frame))
            if factor is None:
                continue
            is_own = len(later) == 1 and is_within(later[0], node.lineno) and not is_given  # type: ignore[attr-defined]
            is_there = scale is None or is_given or not later
            if (scale is not None and is_own and _is_of_zeros(array)) or (is_there and _is_of_shares(array, factor)):
                yield data_slip(file, node.lineno, floored=dtype, **_scaled(factor))  # type: ignore[attr-defined]


def _scaled(factor: float) -> dict[str, Any]:
    return {} if factor == 1 else {"scaled": True}


def _cast_to_whole(node: ast.AST) -> tuple[str, str, ast.BinOp | None] | None:
    """The name of an array that a call casts, reshaped or not, the type of whole numbers, and what scales it before."""
    if not isinstance(node, ast.Call) or last_name(node) not in ("astype", "cast"):
        return None
    is_method = last_name(node) == "astype"
    asked = next(iter(node.args[0 if is_method else 1 :]), keyword(node, "dtype"))
    dtype = "" if asked is None else type_named(asked)
    of = _kept(node.func.value if is_method and isinstance(node.func, ast.Attribute) else next(iter(node.args), None))
    scale = of if isinstance(of, ast.BinOp) and isinstance(of.op, (ast.Div, ast.Mult)) else None
    name = array_name(_kept(of if scale is None else scale.left) or node)
    return None if name is None or dtype not in WHOLE else (name, dtype, scale)


def _kept(node: ast.expr | None) -> ast.expr | None:
    """The array of whose numbers an expression is made, each as it is."""
    while isinstance(node, ast.Call) and (last_name(node) in KEEPING or asks_for(node, FLOATS, ("astype", "cast"))):
        node = subject_of(node)
    return node


def _factor(scale: ast.BinOp | None, frame: Any) -> float | None:
    """By what an array is multiplied; None where that is not known."""
    if scale is None:
        return 1.0
    node = scale.right
    value: Any = held_as(node.id, frame) if isinstance(node, ast.Name) else getattr(node, "value", None)
    if not isinstance(value, (int, float, np.number)) or not value > 0:
        return None
    return float(1 / value if isinstance(scale.op, ast.Div) else value)


def _is_of_zeros(array: Any) -> bool:
    """Whether an array of whole numbers holds nothing but 0: what was cut under its own name is gone."""
    dtype = getattr(array, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and np.size(array) > 1 and not np.any(array)


def _is_of_shares(array: Any, factor: float = 1.0) -> bool:
    """Whether an array, times a factor, holds numbers from 0 to 1, most of which are neither."""
    dtype = getattr(array, "dtype", None)
    dtype = getattr(dtype, "as_numpy_dtype", dtype)
    if dtype is None or not np.issubdtype(dtype, np.floating if factor == 1 else np.number) or not np.size(array):
        return False
    values = np.ravel(array)[:: max(1, np.size(array) // SHARES_MAX)] * factor
    is_between = (values > 0) & (values < 1)
    return bool(((values >= 0) & (values <= 1)).all() and is_between.mean() > MOST)


def _floored_in_map(file: str) -> Iterator[dict[str, Any]]:
    """The lines of a data set's map that scale what it was made of to shares, and cast these to whole numbers."""
    for data in data_sets_held():
        chain = chain_of(data)
        for place, part in enumerate(chain):
            graph, arrays = mapped_graph(part), _slices(chain[place + 1 :])
            if graph is None or len(graph.inputs) != len(arrays):
                continue
            for op in (op for op in graph.get_operations() if _is_cut(op)):
                number, factor = _scaled_in(op, graph)
                source = source_of(op) if number >= 0 and _is_of_shares(arrays[number], factor) else None
                if source is not None and source["file"] == file:
                    yield data_slip(file, source["line"], floored=op.outputs[0].dtype.name, **_scaled(factor))


def _divided(file: str) -> Iterator[dict[str, Any]]:
    """The lines that divide by 255 and drop the rest, which leaves 1 of the brightest level and 0 of all others."""
    for node in nodes_of(file):
        by: ast.expr | None = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            by = node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.FloorDiv):
            by = node.value
        elif isinstance(node, ast.Call) and last_name(node) in FLOOR_DIVISIONS and len(node.args) > 1:
            by = node.args[1]
        if isinstance(by, ast.Constant) and by.value in WHOLE_LEVELS:
            yield data_slip(file, node.lineno, floored="//")  # type: ignore[attr-defined]


def _padded(file: str) -> Iterator[dict[str, Any]]:
    """The lines that pad sequences of fractions, which Keras casts to int32 where no type is asked for."""
    running, calls, nodes = list(frames_of(file)), Calls.of(file), nodes_of(file)
    for node in nodes if running else ():
        if not isinstance(node, ast.Call) or last_name(node) != "pad_sequences" or len(node.args) not in (1, 2):
            continue
        name, function = array_name(node.args[0]), calls.around.get(id(node))
        if name is None or any(one.arg in (None, "dtype") for one in node.keywords):
            continue
        is_given = function is not None and calls.given(name, function) is not None
        stores = [one for one in nodes if isinstance(one, (ast.Assign, ast.AugAssign, ast.For))]
        is_later = any(name in stored_names(one) and one.lineno >= node.lineno for one in stores)
        for frame in running if is_given or not is_later else ():
            if _is_of_keras_by_name(node.func, frame) and _loses_much(calls.find(name, node, frame)):
                yield data_slip(file, node.lineno, floored="int32", padded=True)


def _is_of_keras_by_name(node: ast.expr, frame: Any) -> bool:
    """Whether what running code calls by a name is a function of Keras'."""
    first, *parts = ast.unparse(node).split(".")
    value = held_as(first, frame)
    for part in parts:
        value = getattr(value, part, None)
    return callable(value) and is_of_keras(value)


def _loses_much(sequences: Any) -> bool:
    """Whether sequences are of numbers that are not much any more once their fractions are cut off."""
    if not isinstance(sequences, (list, tuple, np.ndarray)):
        return False
    try:
        arrays = [np.ravel(np.asarray(one)) for one in sequences[:SEQUENCES_MAX]]
    except ValueError:  # of other lengths within one
        return False
    arrays = [one for one in arrays if one.size]
    if not arrays or any(one.dtype.kind != "f" for one in arrays):
        return False
    values = np.concatenate(arrays).astype(np.float64)
    values = values[np.isfinite(values)]
    lost = values - np.trunc(values)
    return values.size > 1 and bool((lost != 0).mean() > MOST and lost.std() > LOST_MIN * values.std() > 0)


def _slices(chain: Sequence[Any]) -> list[Any]:
    """The arrays that a data set is made of, if nothing but their order changes on the way."""
    is_plain = not any(hasattr(one, "_map_func") or hasattr(one, "_datasets") for one in chain)
    return list(getattr(chain[-1], "_tensors", ())) if chain and is_plain else []


def _is_cut(op: Any) -> bool:
    return bool(op.type == "Cast" and op.inputs[0].dtype.is_floating and op.outputs[0].dtype.is_integer)


def _scaled_in(op: Any, graph: Any) -> tuple[int, float]:
    """Which input of a graph an operation is given, and times what; -1 where it is more than that."""
    tensor, factor, inputs = op.inputs[0], 1.0, [one.name for one in graph.inputs]
    while tensor.name not in inputs:
        made, by = tensor.op, 1.0
        if made.type in ("Mul", "RealDiv"):
            given = tf.get_static_value(made.inputs[1])
            if given is None or np.size(given) != 1 or not np.all(given > 0):
                return -1, factor
            by = float(np.ravel(given)[0]) ** (1 if made.type == "Mul" else -1)
        elif made.type not in ("Cast", "ExpandDims", "Identity", "Reshape", "Squeeze"):
            return -1, factor
        tensor, factor = made.inputs[0], factor * by
    return inputs.index(tensor.name), factor
