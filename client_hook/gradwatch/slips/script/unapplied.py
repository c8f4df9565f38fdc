"""Clipped gradients that nothing reads, while the unclipped ones are applied. Reads the user's own code alone.

`tf.clip_by_global_norm` and its like change nothing in place: what they return has to be what the optimizer is given.
Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gradwatch.syntax import last_name, names_in, nodes_below, nodes_in, nodes_of

__all__ = ["Unapplied", "find_unapplied"]

CLIPS: Final = frozenset({"clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value"})
APPLYING: Final = frozenset({"apply", "apply_gradients"})


class Unapplied(NamedTuple):
    """A clip in vain.

    Attributes:
        file: the file.
        node: the gradients that are applied, where the clipped ones have a name; else the call of the clip.
        clipped: that name; None where they have none.
    """

    file: str
    node: ast.expr
    clipped: str | None


def find_unapplied(files: Sequence[str]) -> Iterator[Unapplied]:
    """The clips of gradients whose results nothing reads, where the same gradients are applied as they were.

    Args:
        files: the user's files to be looked through.

    Yields:
        Each, in the order of files and lines; of names that begin with an underscore none.
    """
    for file in files:
        for scope in nodes_of(file):
            if isinstance(scope, (ast.FunctionDef, ast.Module)):
                for node, clipped in _of_scope(scope):
                    yield Unapplied(file, node, clipped)


def _of_scope(scope: ast.FunctionDef | ast.Module) -> Iterator[tuple[ast.expr, str | None]]:
    own = nodes_below(scope)
    given = [one for call in own for one in _applied(call)]
    if not given:
        return
    names = {one.id for one in given}
    read = {one.id for one in names_in(scope) if isinstance(one.ctx, ast.Load)}
    for node in own:
        if isinstance(node, ast.For):
            yield from ((clip, None) for clip in _of_loop(node, names))
        elif isinstance(node, ast.Expr) and names & _names(node) and (clip := _clip_in(node.value)):
            yield clip, None
        elif isinstance(node, ast.Assign) and any(map(_is_clip, nodes_in(node.value))):
            raw = next((one for one in given if one.id in _names(node.value)), None)
            clipped = _first_name(node)
            if raw is not None and clipped and not clipped.startswith("_") and clipped not in read:
                yield raw, clipped


def _clip_in(value: ast.expr) -> ast.expr | None:
    """The clip that is all of an expression, or each item of a list of its own."""
    item = value.elt if isinstance(value, ast.ListComp) else value
    return item if _is_clip(item) else None


def _applied(node: ast.AST) -> list[ast.Name]:
    """The names that stand in what an optimizer is given."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in APPLYING):
        return []
    return [one for argument in node.args for one in names_in(argument)]


def _of_loop(loop: ast.For, given: set[str]) -> Iterator[ast.expr]:
    """Clips in a loop over gradients of which nothing is kept, or a name of the loop that its rest does not read."""
    names = _names(loop.target)
    if not given & _names(loop.iter):
        return
    for place, node in enumerate(loop.body):
        if isinstance(node, ast.Expr) and _is_clip(node.value) and names & _names(node.value):
            yield node.value
        if isinstance(node, ast.Assign) and _is_clip(node.value) and _first_name(node) in names:
            later = set().union(*map(_names, loop.body[place + 1 :]))
            if _first_name(node) not in later:
                yield node.value


def _is_clip(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node) in CLIPS


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in names_in(node)}


def _first_name(node: ast.Assign) -> str:
    """The name that a value, or the first of several, is assigned to; empty where it is none."""
    target = node.targets[0]
    first = target.elts[0] if isinstance(target, (ast.Tuple, ast.List)) and target.elts else target
    return first.id if len(node.targets) == 1 and isinstance(first, ast.Name) else ""
