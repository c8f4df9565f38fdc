"""How what a script feeds its training is found: the lines that prepare it, the data that running code holds.

The lines are looked for in the syntax trees of the user's files; what they work on is looked at, as it is, where the
running code holds it by that name. Runs none of it, and owns no state.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import frames, frames_of, locals_of, running_fit, source_at
from gradwatch.syntax import FILES_KEPT, functions_around, last_name, names_in, nodes_in, nodes_of, nodes_of_type

__all__ = [
    "CALLS_MAX",
    "DATASETS_MAX",
    "FLOATS",
    "INTEGERS",
    "ITERATING",
    "KEEPING",
    "MISSING",
    "PACKAGES",
    "TURNING",
    "Calls",
    "array_name",
    "asks_for",
    "calls_of_method",
    "chain_of",
    "data_sets_held",
    "data_slip",
    "draws_in_map",
    "first_of",
    "held_as",
    "is_of_package",
    "is_within",
    "keyword",
    "known_array",
    "known_to_fit",
    "mapped_graph",
    "slip_by_method",
    "subject_of",
    "trained_on",
    "type_named",
]

ITERATING: Final = (ast.For, ast.GeneratorExp, ast.ListComp)
CALLS_MAX: Final = 3
"""Functions through which an argument is followed to what it was given."""
DATASETS_MAX: Final = 32
"""Data sets that one is made of, each of the one before it."""
KEEPING: Final = frozenset(
    {"array", "asarray", "constant", "convert_to_tensor", "expand_dims", "flatten", "ravel", "reshape", "squeeze"}
)
"""Calls that leave an array its numbers."""
INTEGERS: Final = frozenset({"int8", "int16", "int32", "int64"})
FLOATS: Final = frozenset({"float", "float16", "float32", "float64"})
TURNING: Final = frozenset(
    {"einsum", "matrix_transpose", "moveaxis", "permute_dims", "rollaxis", "swapaxes", "transpose"}
)
"""Functions that give an array's axes another order."""
PACKAGES: Final = frozenset({"np", "numpy", "tf", "tnp", "jnp", "ops"})
MISSING: Final = object()


def first_of(
    finders: Sequence[Callable[[str], Iterator[dict[str, Any]]]], files: Sequence[str]
) -> list[dict[str, Any]]:
    """The first slip in any of some files that each finder tells, in their order."""
    with tf.init_scope():  # a step may be under way, or being traced
        found = [next((one for file in files for one in find(file)), None) for find in finders]
    return [one for one in found if one is not None]


def data_slip(file: str, line: int, layer: str = "", **known: Any) -> dict[str, Any]:
    """A slip of what is fed, as the field ``slips`` of ``tensors`` has it."""
    return {"type": "Data", "name": "", "layer": layer, "source": source_at([(file, line)]), **known}


def trained_on(file: str) -> list[Any]:
    """The data sets that the running `fit` was given to train on, or else that the innermost running loop goes over."""
    if known := known_to_fit():
        return [known["x"]] if isinstance(known.get("x"), tf.data.Dataset) else []
    for frame in frames_of(file):
        loops = [node for node in nodes_of(file) if isinstance(node, ITERATING) and is_within(node, frame.f_lineno)]
        for loop in sorted(loops, key=lambda one: one.lineno, reverse=True):
            over = [loop.iter] if isinstance(loop, ast.For) else [one.iter for one in loop.generators]
            held = (held_as(one.id, frame) for node in over for one in names_in(node))
            if found := [one for one in held if isinstance(one, tf.data.Dataset)]:
                return found
    return []


def is_within(node: Any, line: int) -> bool:
    """Whether a line lies within a node's own."""
    return bool(node.lineno <= line <= node.end_lineno)


def held_as(name: str, frame: Any) -> Any:
    """What the running code holds by a name, `MISSING` for nothing."""
    code = frame.f_code
    # All that a frame holds is copied: only where it has this one.
    if name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars:
        return locals_of(frame).get(name, MISSING)
    return frame.f_globals.get(name, MISSING)


def chain_of(data: Any) -> list[Any]:
    """A data set and those that it is made of, each of the next; the first `DATASETS_MAX`."""
    chain = [data]
    while len(chain) < DATASETS_MAX and (before := getattr(chain[-1], "_input_dataset", None)) is not None:
        chain.append(before)
    return chain


def slip_by_method(file: str, name: str, is_so: Callable[[Any], bool], **known: Any) -> Iterator[dict[str, Any]]:
    """The line that calls a data set's method, where any data set that is held is so.

    Of several lines, the one that makes what the training goes over, if that is so.
    """
    lines = calls_of_method(file, name)
    trained = trained_on(file) if len(lines) > 1 else []
    if any(map(is_so, trained)):
        made = [node for node in nodes_of_type(file, ast.Assign) if _gives(node, trained, file)]
        lines = [call for call in lines if any(call is part for node in made for part in nodes_in(node.value))]
    if len(lines) == 1 and any(map(is_so, data_sets_held())):
        func: Any = lines[0].func
        yield data_slip(file, func.end_lineno, **known)


def _gives(node: ast.Assign, trained: Sequence[Any], file: str) -> bool:
    """Whether a statement gives a name to one of these data sets."""
    held = [held_as(to.id, frame) for to in node.targets if isinstance(to, ast.Name) for frame in frames_of(file)]
    return any(one is data for one in held for data in trained)


def calls_of_method(file: str, name: str) -> list[ast.Call]:
    """The calls in a file of anything's method of that name."""
    calls = nodes_of_type(file, ast.Call)
    return [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == name]


def mapped_graph(data: Any) -> Any:
    """The graph of what a data set maps; None for one that maps nothing."""
    return getattr(getattr(getattr(data, "_map_func", None), "function", None), "graph", None)


def draws_in_map(data: Any) -> bool:
    """Whether what a data set maps draws random numbers."""
    mapped = mapped_graph(data)
    if mapped is None:
        return False
    graph = mapped.as_graph_def()
    nodes = itertools.chain(graph.node, *(one.node_def for one in graph.library.function))
    return any("Random" in node.op and "Shuffle" not in node.op for node in nodes)


def keyword(node: ast.Call, name: str) -> ast.expr | None:
    """What a call gives by a name; None for nothing."""
    return next((one.value for one in node.keywords if one.arg == name), None)


def asks_for(node: ast.Call, types: frozenset[str], functions: Sequence[str]) -> bool:
    """Whether a function is called with one of these types."""
    given = [*node.args, *(one.value for one in node.keywords if one.arg == "dtype")]
    return last_name(node) in functions and not types.isdisjoint(map(type_named, given))


def type_named(node: ast.expr) -> str:
    """The last name of an expression, or what a constant holds: ``int32`` of ``np.int32`` and of ``"int32"``."""
    return str(node.value) if isinstance(node, ast.Constant) else last_name(node)


def data_sets_held() -> Iterator[Any]:
    """The data sets that the running code holds."""
    return (value for frame in frames() for value in locals_of(frame).values() if isinstance(value, tf.data.Dataset))


def is_of_package(call: ast.Call) -> bool:
    """Whether a call is one of a package's functions, and no method of an array."""
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") in PACKAGES


def subject_of(call: ast.Call) -> ast.expr | None:
    """What a package's function is called with first, or what a method is of; None where there is no such."""
    return next(iter(call.args), None) if is_of_package(call) else getattr(call.func, "value", None)


class Calls:
    """What a file's functions are called with, by name."""

    def __init__(self, file: str) -> None:
        nodes = nodes_of(file)
        self.around = functions_around(nodes)
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._calls[node.func.id].append(node)

    @staticmethod
    @functools.lru_cache(maxsize=FILES_KEPT)
    def of(file: str) -> Calls:
        """Those of a file, read once as its tree is."""
        return Calls(file)

    def given(self, name: str, function: ast.FunctionDef) -> list[ast.expr] | None:
        """What the calls give for an argument of a function, call by call; None for a name that is none."""
        names = [one.arg for one in function.args.args]
        if name not in names:
            return None
        place = names.index(name)
        return [call.args[place] for call in self._calls[function.name] if len(call.args) > place]

    def turns(self, function: ast.FunctionDef) -> bool:
        """Whether a function gives anything's axes another order, as it should."""
        return any(isinstance(one, ast.Call) and last_name(one) in TURNING for one in nodes_in(function))

    def find(self, name: str, node: ast.AST, frame: Any, depth: int = CALLS_MAX) -> Any:
        """What running code holds by a name that stands within a function, through the calls that give it an argument.

        `MISSING` where that is not known.
        """
        function = self.around.get(id(node))
        given = None if function is None else self.given(name, function)
        if given is None:
            return held_as(name, frame)
        for one in given if depth > 0 else ():
            value = self.find(one.id, one, frame, depth - 1) if isinstance(one, ast.Name) else MISSING
            if value is not MISSING:
                return value
        return MISSING


def known_array(value: Any) -> Any:
    """A value, where it is an array of a known shape; a step that is traced may not know its batch's length."""
    is_known = isinstance(value, np.ndarray) or (isinstance(value, tf.Tensor) and value.shape.is_fully_defined())
    return value if is_known else ()


def array_name(node: ast.expr) -> str | None:
    """The name of an array, whole or in part; None for anything else."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def known_to_fit() -> dict[str, Any]:
    """What a `fit` of Keras' that is being run holds by its names: itself, ``x``, ``y``; nothing where none is."""
    fit = running_fit()
    return {} if fit is None else fit.known
