"""Whether the batches of a `Sequence` or `PyDataset` of the user's own are pairs, and others at each step.

What is read is the class that a running `fit` trains on: its ``__getitem__``, and what shuffles its arrays.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Final

import keras

from gradwatch.origin import is_users, running_fit, source_at
from gradwatch.syntax import last_name, nodes_in, nodes_of
from gradwatch.target import has_keras_step

__all__ = ["find_batches", "find_served", "served_by"]

DRAWING: Final = ("rand", "rng", "choice", "sample", "shuffle", "permut", "integers", "uniform", "normal", "next")
"""Parts of the names of what gives something else at each call."""
CHANGING_NOTHING: Final = frozenset({"array", "asarray", "astype", "copy", "reshape", "stack", "append", "concatenate"})
MAKING: Final = frozenset({"ones", "zeros", "full", "empty", "ones_like", "zeros_like", "full_like", "empty_like"})
"""What gives rows that are all alike."""
INDICES: Final = (1.0, 2.0, 5.0)
"""At which the bounds of two slices are compared."""
OPERATORS: Final = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
FIRST_NUMBER: Final = 17.0
NUMBER_STEP: Final = 13.0
"""What stands in for a number that is not known; another one for each."""


def find_served(files: Sequence[str]) -> list[dict[str, Any]]:
    """What a class that the running `fit` reads its batches from does wrong.

    Args:
        files: the user's files that are looked at.

    Returns:
        Each with type (``Data``), no name and no layer, and the source line: ``serves`` (``same``: the number of the
        batch is never read, ``apart``: inputs and targets are cut out at other places in each batch), or ``moved``: of
        a pair of arrays the one whose rows a method shuffles alone.
    """
    fit = running_fit()
    if fit is None:
        return []
    code = getattr(getattr(type(fit.known.get("x")), "__getitem__", None), "__code__", None)
    if code is None or code.co_filename not in files or not is_users(code.co_filename):
        return []
    for node in nodes_of(code.co_filename):
        if isinstance(node, ast.ClassDef) and any(one.lineno == code.co_firstlineno for one in node.body):
            found = served_by(node)
            if not has_keras_step(fit.known.get("self")):
                found = [one for one in found if one[1] == {"serves": "same"}]
            return [
                {"type": "Data", "name": "", "layer": "", "source": source_at([(code.co_filename, line)]), **known}
                for line, known in found[:1]
            ]
    return []


def find_batches() -> list[dict[str, Any]]:
    """How many batches of a `PyDataset` an epoch of the running `fit` has; no slip, as long as they differ.

    A data set that repeats all it has as one batch has as many as an epoch is to have steps.

    Returns:
        Type (``Epoch``), no name and no layer, the source line of that `fit`, and ``batches``; none for one batch.
    """
    fit = running_fit()
    if fit is None or not isinstance(fit.known.get("x"), keras.utils.PyDataset):
        return []
    n_batches = getattr(fit.known.get("epoch_iterator"), "num_batches", None)
    if not n_batches or n_batches < 2:  # with one, each is the same
        return []
    source = source_at([(fit.file, fit.line)]) if fit.file else None
    return [{"type": "Epoch", "name": "", "layer": "", "source": source, "batches": int(n_batches)}]


def served_by(node: ast.ClassDef) -> list[tuple[int, dict[str, str]]]:
    """The lines of a class by which its batches are the same, or no pairs.

    Args:
        node: the class, with a ``__getitem__``.

    Returns:
        Each line's number, and what is known of it as `find_served` has it.
    """
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    getter = methods.get("__getitem__")
    if getter is None or len(getter.args.args) != 2:
        return []
    index, made = getter.args.args[1].arg, _assigned_in(getter)
    found: list[tuple[int, dict[str, str]]] = []
    if _is_same(getter, index, methods.get("__len__")) and not _is_refilled(getter, methods):
        found.append((getter.lineno, {"serves": "same"}))
    for pair in _pairs(getter):
        slices = [_slices_of(one, made) for one in pair.elts]
        if [len(one) for one in slices] != [1, 1]:
            continue
        (first,), (second,) = slices
        names = [ast.unparse(one.value) for one in (first, second)]
        if names[0] == names[1] or any(_is_made_alike(name, methods) for name in names):
            continue
        if _are_apart(first, second, index, made):
            found.append((second.lineno, {"serves": "apart"}))
        elif ast.dump(first.slice) == ast.dump(second.slice):
            found += _moved_alone(names, methods)
    return found


def _assigned_in(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What the names of a function are given, each that is given something once."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes_in(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, [])
    stores = [node for node in nodes_in(function) if isinstance(node, (ast.Assign, ast.AugAssign, ast.For))]
    for node in stores:
        plain = _parts(node) if isinstance(node, ast.Assign) else []
        for name, value in plain:
            found.setdefault(name, []).append(value)
        if not isinstance(node, ast.Assign):  # given more than once
            for one in nodes_in(node.target):
                if isinstance(one, ast.Name):
                    found.setdefault(one.id, []).extend([node.target, node.target])
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _parts(node: ast.Assign) -> list[tuple[str, ast.expr]]:
    to = node.targets[0]
    if isinstance(to, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(to.elts) == len(node.value.elts):
        pairs: list[tuple[ast.expr, ast.expr]] = list(zip(to.elts, node.value.elts, strict=True))
    else:
        pairs = [(one, node.value) for one in node.targets]
    return [(one.id, value) for one, value in pairs if isinstance(one, ast.Name)]


def _is_same(getter: ast.FunctionDef, index: str, length: ast.FunctionDef | None) -> bool:
    """Whether a batch is a part of the arrays, and nothing in it depends on its number or is drawn."""
    inner = [node for one in getter.body for node in nodes_in(one)]
    is_read = any(isinstance(node, ast.Name) and node.id == index for node in inner)
    parts = [node for node in inner if isinstance(node, ast.Subscript) and _is_own(node.value)]
    # Whoever trains on all at once has one batch; a name that begins so says that it is not read.
    if is_read or index.startswith("_") or not parts or length is None or _is_single(length):
        return False
    calls = [node for node in inner if isinstance(node, ast.Call)]
    if any(_may_change(call) for call in calls) or any(_is_own_store(node) for node in inner):
        return False
    words = {node.attr for node in inner if isinstance(node, ast.Attribute)} | {
        node.id for node in inner if isinstance(node, ast.Name)
    }
    return not any(part in word.lower() for word in words for part in DRAWING)


def _is_refilled(getter: ast.FunctionDef, methods: dict[str, ast.FunctionDef]) -> bool:
    """Whether what a batch is cut out of is a property, or is given other values after the class was made."""
    read = {node.attr for node in nodes_in(getter) if isinstance(node, ast.Attribute) and _is_own(node)}
    later = (node for name, one in methods.items() if name != "__init__" for node in nodes_in(one))
    stored = {_name_of(node) for node in later if _is_own_store(node)}
    return not read.isdisjoint(methods.keys() | stored)


def _name_of(node: ast.AST) -> str:
    """``a`` of ``self.a``, and of ``self.a[i]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else ""


def _is_single(length: ast.FunctionDef) -> bool:
    returned = [node.value for node in nodes_in(length) if isinstance(node, ast.Return)]
    return any(isinstance(one, ast.Constant) and one.value == 1 for one in returned)


def _may_change(call: ast.Call) -> bool:
    """Whether a call may give something else each time: of a method of its own, or a function of the user's."""
    name = last_name(call)
    if isinstance(call.func, ast.Name):
        return not hasattr(builtins, name) and name != "to_categorical"
    return name not in CHANGING_NOTHING and any(_is_own(one) for one in nodes_in(call.func))


def _is_own(node: ast.AST) -> bool:
    """Whether an expression is ``self.a``, or begins so."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return True
        node = node.value
    return False


def _is_own_store(node: ast.AST) -> bool:
    return isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) and _is_own(node)


def _pairs(getter: ast.FunctionDef) -> Iterator[ast.Tuple]:
    for node in nodes_in(getter):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            yield node.value


def _slices_of(node: ast.expr, made: dict[str, ast.expr]) -> list[ast.Subscript]:
    """The slices of an own array that an expression is made of, by names that are given something once."""
    while isinstance(node, ast.Name) and node.id in made:
        node = made[node.id]
    parts = (one for one in nodes_in(node) if isinstance(one, ast.Subscript))
    return [one for one in parts if isinstance(one.slice, ast.Slice) and isinstance(one.value, ast.Attribute)
            and _is_own(one.value)]  # fmt: skip


def _is_made_alike(name: str, methods: dict[str, ast.FunctionDef]) -> bool:
    """Whether all rows of an own array are alike, or it is not known where it comes from."""
    given = [
        node.value
        for method in methods.values()
        for node in nodes_in(method)
        if isinstance(node, ast.Assign) and any(ast.unparse(one) == name for to in node.targets for one in _leaves(to))
    ]
    calls = (one for value in given for one in nodes_in(value) if isinstance(one, ast.Call))
    return not given or any(last_name(one) in MAKING for one in calls)


def _leaves(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _are_apart(first: ast.Subscript, second: ast.Subscript, index: str, made: dict[str, ast.expr]) -> bool:
    """Whether two slices are of one length, and how far apart they begin depends on the number of the batch."""
    numbers: dict[str, float] = {}
    starts, lengths = [], []
    for at in INDICES:
        bounds = []
        for part in (first.slice, second.slice):
            if not isinstance(part, ast.Slice) or part.step is not None or part.upper is None:
                return False
            low = 0.0 if part.lower is None else _value(part.lower, {index: at}, made, numbers)
            bounds.append((low, _value(part.upper, {index: at}, made, numbers)))
        starts.append(round(bounds[1][0] - bounds[0][0], 6))
        lengths.append(round((bounds[1][1] - bounds[1][0]) - (bounds[0][1] - bounds[0][0]), 6))
    return len(set(starts)) > 1 and set(lengths) == {0.0}


def _value(node: ast.expr, known: dict[str, float], made: dict[str, ast.expr], numbers: dict[str, float]) -> float:
    """A bound as a number; what is not known is any number, the same wherever it stands."""
    found = float("nan")
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        found = float(node.value)
    elif isinstance(node, ast.Name) and node.id in known:
        found = known[node.id]
    elif isinstance(node, ast.Name) and node.id in made:
        found = _value(made[node.id], known, {k: v for k, v in made.items() if k != node.id}, numbers)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = (_value(one, known, made, numbers) for one in (node.left, node.right))
        found = OPERATORS[type(node.op)](left, right)
    elif isinstance(node, ast.Call) and last_name(node) in ("min", "minimum") and node.args:
        found = _value(node.args[0], known, made, numbers)
    elif not any(isinstance(one, ast.Name) and one.id in {*known, *made} for one in nodes_in(node)):
        found = numbers.setdefault(ast.unparse(node), FIRST_NUMBER + NUMBER_STEP * len(numbers))
    return found


def _moved_alone(names: Sequence[str], methods: dict[str, ast.FunctionDef]) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines behind the making of a class that put the rows of one of two own arrays into a random order."""
    for name, method in methods.items():
        if name == "__init__":  # what belongs to them may be made then
            continue
        moved = list(filter(None, map(_moved, nodes_in(method))))
        others = {ast.unparse(node) for node in nodes_in(method) if isinstance(node, ast.Attribute)}
        for line, of in moved:
            partners = [one for one in names if one != of]
            if of in names and len(partners) == 1 and partners[0] not in others:
                yield line, {"moved": of}


def _moved(node: ast.AST) -> tuple[int, str] | None:
    """The line of a statement that shuffles the rows of an own array, and that array; None for any other."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or last_name(node.value) != "shuffle":
        return None
    given = node.value.args
    return (node.lineno, ast.unparse(given[0])) if len(given) == 1 and isinstance(given[0], ast.Attribute) else None
