"""An array that is changed in place and is fed beside what was to be a copy of it, in the user's own files.

``labels = tokens`` gives an array a second name; what is written into one is in the other. Runs none of their code.
Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from gradwatch.origin import frames_of, locals_of, source_at
from gradwatch.syntax import last_name, names_in, nodes_below, nodes_of, stored_names

__all__ = ["find_aliased"]

ARRAYS: Final = ("np", "numpy", "rng")
"""By what an array is made."""
FEEDING: Final = frozenset({"evaluate", "fit", "from_tensor_slices", "train_on_batch"})
_Scope = ast.FunctionDef | ast.Module


def find_aliased(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that gives an array a second name, before it is changed in place and both are fed.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the second name, no layer, the source line, ``aliased``: the first name, and
        ``written``: the source of the line that changes the array; none where there is no such line.
    """
    for file in files:
        for scope in nodes_of(file):
            if isinstance(scope, (ast.FunctionDef, ast.Module)):
                for node, name, of, write in _in_scope(scope, file):
                    source, written = source_at([(file, node.lineno)]), source_at([(file, write.lineno)])
                    known = {"aliased": of, "written": written}
                    return [{"type": "Line", "name": name, "layer": "", "source": source, **known}]
    return []


def _in_scope(scope: _Scope, file: str) -> Iterator[tuple[ast.stmt, str, str, ast.stmt]]:
    own = nodes_below(scope)
    assigned = [one for one in own if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name)]
    writes = {_written(one) for one in own if isinstance(one, ast.stmt)}
    for node in assigned:
        name, of = getattr(node.targets[0], "id", ""), node.value.id  # type: ignore[attr-defined]
        if len(node.targets) > 1 or not name or name == of:
            continue
        if writes.isdisjoint({name, of}):
            continue
        later = [one for one in own if isinstance(one, ast.stmt) and one.lineno > node.lineno]
        write = next((one for one in later if _written(one) in (name, of)), None)
        if (
            write is None
            or (_written(write) == of and _is_cleaned(write, of))
            or not _is_array(own, scope, file, (name, of), write)
        ):
            continue
        given = (one.lineno for one in later if isinstance(one, ast.Assign) and {name, of} & _plain(one))
        last = min(given, default=float("inf"))
        if write.lineno < last and _are_fed(own, {name, of}, write.lineno, last):
            yield node, name, of, write


def _plain(node: ast.Assign) -> set[str]:
    """The names that a statement gives another value; those of which it stores an item are none."""
    return stored_names(node) - {_written(node)}


def _written(node: ast.stmt) -> str:
    """The name of the array that a statement stores items in."""
    to = _target(node)
    is_item = (
        isinstance(to, ast.Subscript) and isinstance(to.value, ast.Name) and not isinstance(to.slice, ast.Constant)
    )
    return to.value.id if is_item else ""  # type: ignore[union-attr]


def _target(node: ast.stmt) -> ast.expr | None:
    """What a statement gives a value, where that is one."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    return targets[0] if len(targets) == 1 else None


def _is_cleaned(write: ast.stmt, name: str) -> bool:
    """Whether a statement scales an array, or mends it where it is out of range or no number: for both names, then."""
    target = write.targets[0] if isinstance(write, ast.Assign) else getattr(write, "target", None)
    asked = {one.id for one in names_in(target.slice)} if isinstance(target, ast.Subscript) else set()
    is_scaled = isinstance(write, ast.AugAssign) and isinstance(write.op, (ast.Div, ast.Mult, ast.Sub))
    value = write.value if isinstance(write, ast.Assign) else None
    is_scaled |= isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Div, ast.Mult, ast.Sub))
    return is_scaled or name in asked


def _are_fed(own: Sequence[ast.AST], names: set[str], first: int, last: float) -> bool:
    """Whether both names stand in one call that feeds, or one tuple that is given back, between two lines."""
    for one in own:
        is_fed = isinstance(one, (ast.Return, ast.Yield)) or (isinstance(one, ast.Call) and last_name(one) in FEEDING)
        if not isinstance(one, (ast.Call, ast.Return, ast.Yield)) or not is_fed or not first < one.lineno < last:
            continue
        parts = [*one.args, *(key.value for key in one.keywords)] if isinstance(one, ast.Call) else [one.value]
        pairs = [part.elts if isinstance(part, ast.Tuple) else [part] for part in parts]
        if names <= {part.id for pair in pairs for part in pair if isinstance(part, ast.Name)}:
            return True
    return False


def _is_array(own: Sequence[ast.AST], scope: _Scope, file: str, names: tuple[str, str], write: ast.stmt) -> bool:
    """Whether what has two names is an array: one that is held, that was made by NumPy or picked by a mask.

    Or one in which an item is stored by several numbers, in a function of which nothing more is known.
    """
    for frame in frames_of(file):
        if isinstance(scope, ast.Module) or frame.f_code.co_name == scope.name:
            known = frame.f_globals if isinstance(scope, ast.Module) else locals_of(frame)
            one, other = (known.get(name) for name in names)
            return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.shares_memory(one, other)
    assigned = [one for one in own if isinstance(one, ast.Assign)]
    calls = [one.value.func for one in assigned if names[1] in stored_names(one) and isinstance(one.value, ast.Call)]
    masks = {one.id for to in getattr(write, "targets", ()) for one in names_in(to)} - set(names)
    is_masked = any(isinstance(one.value, ast.Compare) and masks & stored_names(one) for one in assigned)
    to = _target(write)
    is_masked |= not isinstance(scope, ast.Module) and isinstance(to, ast.Subscript) and isinstance(to.slice, ast.Tuple)
    return is_masked or any(name.id in ARRAYS for func in calls for name in names_in(func))
