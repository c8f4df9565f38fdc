"""The syntax trees of the user's own files, read once each. Runs none of their code."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Iterator
from typing import Final

from gradwatch.origin import is_users

__all__ = ["FILES_KEPT", "FILES_MAX", "last_name", "names_in", "nodes_of", "parse", "users_files"]

FILES_MAX: Final = 64
"""Of the user's program that are looked through."""
FILES_KEPT: Final = 4 * FILES_MAX
"""Trees: more than are looked through in a row, or those that come first are gone whenever they are asked for again."""


@functools.lru_cache(maxsize=FILES_KEPT)
def parse(file: str) -> ast.Module | None:
    """A file's tree; None where its text is not known or no Python."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=FILES_KEPT)
def nodes_of(file: str) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree, as `ast.walk` gives them; none where there is no tree."""
    tree = parse(file)
    return () if tree is None else tuple(ast.walk(tree))


def users_files() -> list[str]:
    """The files that the user's program has loaded, the newest `FILES_MAX`."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return [file for file in files if file is not None and file.endswith(".py") and is_users(file)][-FILES_MAX:]


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c`` and of ``a.b.c(...)``; empty for anything that has no name."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    """All names that stand in a piece of code."""
    return (one for one in ast.walk(node) if isinstance(one, ast.Name))
