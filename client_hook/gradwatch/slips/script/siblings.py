"""Lines that were copied from a neighbour and keep a name of it, while nothing reads the name that was meant.

Of two lines that differ by one word, ``train`` and ``test`` or ``real`` and ``fake``, all names with that word differ,
but one. Runs none of their code. Owns no state.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from gradwatch.origin import source_at
from gradwatch.syntax import SCOPES, names_in, nodes_below, nodes_of, stored_names

__all__ = ["find_siblings"]

REACH: Final = 3
"""Statements between which a line and its copy stand."""
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


class _Copy(NamedTuple):
    """A line, the one that it was copied from, the name that it kept, and the one that was meant."""

    node: ast.Assign
    of: ast.Assign
    kept: str
    meant: str


def find_siblings(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that keeps a name of the line that it was copied from.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the name that was kept, no layer, the source line, ``unused`` (``sibling``),
        ``meant``: the name that was meant, and ``of``: the source of the line that it is like; none elsewhere.
    """
    for file in files:
        for scope in nodes_of(file):
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                for one in _in_scope(scope):
                    source, of = source_at([(file, one.node.lineno)]), source_at([(file, one.of.lineno)])
                    known = {"unused": "sibling", "meant": one.meant, "of": of}
                    return [{"type": "Line", "name": one.kept, "layer": "", "source": source, **known}]
    return []


def _in_scope(scope: _Scope) -> Iterator[_Copy]:
    own = nodes_below(scope)
    blocks = [getattr(node, name, None) for node in (scope, *own) for name in ("body", "orelse")]
    for block in (one for one in blocks if isinstance(one, list)):
        for place, first in enumerate(block):
            for second in block[place + 1 : place + 1 + REACH]:
                for copy in (_copied(first, second), _copied(second, first)):
                    if copy is not None and _is_left(copy, scope, own):
                        yield copy


def _copied(of: ast.stmt, node: ast.stmt) -> _Copy | None:
    """A line as a copy of another one, where all names but one have the other word."""
    if not isinstance(of, ast.Assign) or not isinstance(node, ast.Assign) or isinstance(of.value, ast.Name):
        return None
    targets, pairs = _pairs(of.targets, node.targets), _pairs(of.value, node.value)
    words = {_word_of(*one) for one in targets or () if one[0] != one[1]}
    if pairs is None or len(words) != 1 or None in words:
        return None
    old, new = words.pop() or ("", "")
    kept: set[tuple[str, str]] = set()
    for one, other in pairs:
        meant = _WORDS.sub(lambda word: new if word[0] == old else word[0], one)
        if other == one and meant != one:
            kept.add((one, meant))
        elif other != meant:
            return None
    name, meant = kept.pop() if len(kept) == 1 else ("", "")
    return _Copy(node, of, name, meant) if name and name[0] != "." else None


def _pairs(one: Any, other: Any) -> list[tuple[str, str]] | None:
    """The names of two pieces of code, in pairs, attributes with a dot; None where these are not made alike."""
    if type(one) is not type(other):
        return None
    if isinstance(one, list):
        found = [_pairs(*both) for both in zip(one, other, strict=False)] if len(one) == len(other) else [None]
    elif isinstance(one, ast.Name):
        return [(one.id, other.id)]
    elif isinstance(one, ast.AST):
        found = [_pairs(getattr(one, name, None), getattr(other, name, None)) for name in one._fields if name != "attr"]
        found += [[(f".{one.attr}", f".{other.attr}")]] if isinstance(one, ast.Attribute) else []
    else:
        return [] if one == other else None
    return None if None in found else [pair for part in found for pair in part or ()]


def _word_of(one: str, other: str) -> tuple[str, str] | None:
    """The only word by which two names differ; None where there are more."""
    words = _WORDS.findall(one), _WORDS.findall(other)
    if len(words[0]) != len(words[1]) or _WORDS.sub("", one) != _WORDS.sub("", other):
        return None
    found = {both for both in zip(*words, strict=True) if both[0] != both[1]}
    return found.pop() if len(found) == 1 else None


def _is_left(copy: _Copy, scope: _Scope, own: Sequence[ast.AST]) -> bool:
    """Whether nothing reads the value of the name that was meant, or not before the line gives it another one."""
    names = [one for one in own if isinstance(one, ast.Name) and one.id == copy.meant]
    is_given = any(isinstance(one.ctx, ast.Store) and one.lineno < copy.node.lineno for one in names)
    if not is_given and copy.meant not in [one.arg for one in own if isinstance(one, ast.arg)]:
        return False
    begun = [one for one in scope.body if isinstance(one, ast.Assign) and one.lineno < copy.node.lineno]
    since = max((one.end_lineno or 0 for one in begun if copy.meant in stored_names(one)), default=0)
    read = [one.lineno for one in names if not isinstance(one.ctx, ast.Store) and one.lineno > since]
    if copy.meant in stored_names(copy.node):
        return copy.of.lineno < copy.node.lineno and not any(line <= copy.node.lineno for line in read)
    inner = (child for one in (scope, *own) for child in ast.iter_child_nodes(one) if isinstance(child, SCOPES))
    return not read and not any(one.id == copy.meant for child in inner for one in names_in(child))
