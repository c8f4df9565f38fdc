"""Functions that a loop makes and keeps, which all see the last value of the loop's name. Runs none of them.

A function looks up a name when it is called, not when it is made. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import (
    free_in,
    functions_around,
    last_name,
    names_in,
    nodes_below,
    nodes_in,
    nodes_of,
    stored_names,
)

__all__ = ["find_late"]

KEEPING: Final = frozenset({"add", "append"})
TRAINING: Final = frozenset({"apply", "apply_gradients", "compile", "fit", "gradient", "train", "train_on_batch"})
AT_ONCE: Final = frozenset({"call", "train_step"})
"""Methods that call what they make."""


def find_late(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first function, kept in a list or a layer, that reads the name of the loop that makes it.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the loop's name, no layer, the source line and ``late`` (True); none where there is no
        such function, or where the loop trains with what it makes, turn by turn.
    """
    for file in files:
        nodes = nodes_of(file)
        loops = [node for node in nodes if isinstance(node, (ast.ListComp, ast.DictComp, ast.For))]
        found = [(node, line, name) for node in loops for line, name in _kept_by(node)]
        around = functions_around(nodes) if found else {}
        for node, line, name in found:
            if getattr(around.get(id(node)), "name", "") not in AT_ONCE:
                source = source_at([(file, line)])
                return [{"type": "Line", "name": name, "layer": "", "source": source, "late": True}]
    return []


def _kept_by(loop: ast.ListComp | ast.DictComp | ast.For) -> Iterator[tuple[int, str]]:
    """The lines of the functions that a loop keeps, and its name that they read."""
    targets = [loop.target] if isinstance(loop, ast.For) else [one.target for one in loop.generators]
    names = {one.id for target in targets for one in names_in(target)}
    for function in _functions_of(loop):
        for name in sorted(names & free_in(function)):
            yield function.lineno, name


def _functions_of(loop: ast.ListComp | ast.DictComp | ast.For) -> Iterator[ast.Lambda | ast.FunctionDef]:
    if not isinstance(loop, ast.For):
        yield from _held_by(loop.elt if isinstance(loop, ast.ListComp) else loop.value)
        return
    inner = [one for part in loop.body for one in nodes_in(part)]
    if any(isinstance(one, ast.Call) and last_name(one) in TRAINING for one in inner):
        return
    own = {name for one in inner if isinstance(one, (ast.Assign, ast.For)) for name in _names_of(one)}
    defined = {one.name: one for one in loop.body if isinstance(one, ast.FunctionDef)}
    if any(isinstance(one, (ast.Break, ast.Return)) for one in nodes_below(loop)):
        return  # the last turn is the one that was meant
    own |= _used_in(inner)
    for kept in _kept_in(inner, own):
        yield from _held_by(kept)
        if isinstance(kept, ast.Name) and kept.id in defined:
            yield defined[kept.id]


def _names_of(node: ast.Assign | ast.For) -> Set[str]:
    """The names that a statement makes anew; a list or dictionary that it stores an item in is none."""
    parts = node.targets if isinstance(node, ast.Assign) else []
    return set() if any(isinstance(one, ast.Subscript) for one in parts) else stored_names(node)


def _used_in(inner: Sequence[ast.AST]) -> Set[str]:
    """The names of lists and dictionaries that a loop reads for more than to put something in, turn by turn."""
    called = [one.func for one in inner if isinstance(one, ast.Call) and last_name(one) in KEEPING]
    put = [one.value for one in called if isinstance(one, ast.Attribute)]
    put += [one.value for one in inner if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    names = (one for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    keeping = {id(one) for one in put}
    return {one.id for one in names if id(one) not in keeping}


def _kept_in(inner: Sequence[ast.AST], own: Set[str]) -> Iterator[ast.expr]:
    """What a loop puts into a list or dictionary that was there before it, and the `Lambda` layers that it calls."""
    for node in inner:
        target: ast.AST | None = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target, kept = node.targets[0].value, node.value
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Call)
        ):
            yield node.value
        elif isinstance(node, ast.Call) and last_name(node) in KEEPING and len(node.args) == 1:
            target, kept = getattr(node.func, "value", None), node.args[0]
        if isinstance(target, (ast.Attribute, ast.Name)) and getattr(target, "id", "") not in own:
            yield kept


def _held_by(value: ast.expr) -> Iterator[ast.Lambda]:
    """A lambda, or that of a `Lambda` layer, which calls it whenever its model is called."""
    if isinstance(value, ast.Lambda):
        yield value
    if isinstance(value, ast.Call):
        made = value.func if isinstance(value.func, ast.Call) else value
        if last_name(made) == "Lambda":
            yield from (one for one in made.args if isinstance(one, ast.Lambda))
