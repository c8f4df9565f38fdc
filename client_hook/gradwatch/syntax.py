"""The syntax trees of the user's own files, read once each. Runs none of their code."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar, cast

from gradwatch.origin import is_users

__all__ = [
    "FILES_KEPT",
    "FILES_MAX",
    "SCOPES",
    "assigned_before",
    "free_in",
    "functions_around",
    "is_taped",
    "last_name",
    "names_in",
    "nodes_below",
    "nodes_in",
    "nodes_of",
    "nodes_of_type",
    "parse",
    "read_in",
    "readers_of",
    "stored_names",
    "users_files",
]

FILES_MAX: Final = 64
"""Of the user's program that are looked through."""
FILES_KEPT: Final = 4 * FILES_MAX
"""Trees: more than are looked through in a row, or those that come first are gone whenever they are asked for again."""

SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_Function = ast.FunctionDef | ast.Lambda
_Node = TypeVar("_Node", bound=ast.AST)
_Store = ast.Assign | ast.AugAssign | ast.For


@functools.lru_cache(maxsize=FILES_KEPT)
def parse(file: str) -> ast.Module | None:
    """A file's tree; None where its text is not known or no Python."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def nodes_of(file: str) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree, as `ast.walk` gives them; none where there is no tree."""
    tree = parse(file)
    return () if tree is None else nodes_in(tree)


def nodes_of_type(file: str, kind: type[_Node]) -> tuple[_Node, ...]:
    """Those of a file's nodes that are of one type, in the same order."""
    tree = parse(file)
    if tree is None:
        return ()
    found = _kept(tree, kind.__name__, lambda _: (one for one in nodes_in(tree) if isinstance(one, kind)))
    return cast("tuple[_Node, ...]", found)


def nodes_in(node: ast.AST) -> tuple[ast.AST, ...]:
    """A piece of code and all that is in it, as `ast.walk` gives them."""
    return _kept(node, "nodes_in", ast.walk)


def nodes_below(scope: ast.AST) -> tuple[ast.AST, ...]:
    """Everything in a scope, but not in those within it."""
    return _kept(scope, "nodes_below", _walk_below)


def _walk_below(scope: ast.AST) -> Iterator[ast.AST]:
    for one in ast.iter_child_nodes(scope):
        if not isinstance(one, SCOPES):
            yield one
            yield from _walk_below(one)


def _kept(node: ast.AST, name: str, walk: Callable[[ast.AST], Iterable[ast.AST]]) -> tuple[ast.AST, ...]:
    """What a walk gives, kept with the node: dozens of readers ask each of the same trees, at every trace."""
    kept: dict[str, tuple[ast.AST, ...]] = node.__dict__.setdefault("_gradwatch", {})
    if name not in kept:
        kept[name] = tuple(walk(node))
    return kept[name]


def read_in(scope: ast.AST) -> set[str]:
    """The names of a scope that are read in it, or in those within it that have no such name of their own."""
    read, pending = set[str](), list(ast.iter_child_nodes(scope))
    while pending:
        one = pending.pop()
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            read |= free_in(one)
            pending += [*one.args.defaults, *filter(None, one.args.kw_defaults), *getattr(one, "decorator_list", ())]
            continue
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Store):
            read.add(one.id)
        elif isinstance(one, (ast.Global, ast.Nonlocal)):
            read |= set(one.names)
        pending += ast.iter_child_nodes(one)
    return read


def free_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names that a function reads and does not give anything itself."""
    own = nodes_below(function)
    outer = {name for one in own if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    stored = {one.id for one in own if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return read_in(function) - ((stored | {one.arg for one in own if isinstance(one, ast.arg)}) - outer)


def users_files() -> list[str]:
    """The files that the user's program has loaded, the newest `FILES_MAX`."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return list(_users_files(len(sys.modules), next(reversed(sys.modules)), main))


@functools.lru_cache(maxsize=1)
def _users_files(_n_modules: int, _newest: str, _main: str | None) -> tuple[str, ...]:
    """The same, looked for again only where the modules are others than the last time."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return tuple(file for file in files if file is not None and file.endswith(".py") and is_users(file))[-FILES_MAX:]


def readers_of(file: str) -> list[str]:
    """A file of the user's, and those that import its module."""
    module = os.path.basename(file).removesuffix(".py")
    return [file, *(one for one in users_files() if one != file and module in _imported_in(one))]


@functools.lru_cache(maxsize=FILES_KEPT)
def _imported_in(file: str) -> frozenset[str]:
    """The last names of what a file imports, modules and what is in them."""
    nodes = [node for node in nodes_of(file) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.name for node in nodes for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return frozenset(name.rpartition(".")[2] for name in names)


def is_taped(node: ast.AST) -> bool:
    """Whether a node is a block under a `tf.GradientTape`."""
    items = node.items if isinstance(node, ast.With) else []
    return any(last_name(one.context_expr) == "GradientTape" for one in items)


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c`` and of ``a.b.c(...)``; empty for anything that has no name."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def root_name(node: ast.expr) -> str:
    """The name that a chain of calls, parts and operators begins with; empty where that is none."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.BinOp):
            node = node.left
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return ""
    return node.id


def goes_back(loop: ast.For) -> bool:
    """Whether a loop goes over something from its end to its start."""
    over = nodes_in(loop.iter)
    calls = [one for one in over if isinstance(one, ast.Call)]
    steps = [one.step for one in over if isinstance(one, ast.Slice)]
    steps += [one.args[2] for one in calls if last_name(one) == "range" and len(one.args) > 2]
    is_back = any(isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub) for one in steps)
    return is_back or any(last_name(one) == "reversed" for one in calls)


def assignments(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is given something, and what; of two tuples their parts."""
    for to in node.targets:
        if isinstance(to, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(to.elts, node.value.elts, strict=False)
        else:
            yield to, node.value


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    """All names that stand in a piece of code."""
    return (one for one in nodes_in(node) if isinstance(one, ast.Name))


@functools.lru_cache(maxsize=FILES_KEPT)
def functions_around(nodes: tuple[ast.AST, ...]) -> dict[int, ast.FunctionDef]:
    """The innermost function that each node of a file stands in, itself among its own, by the node's id."""
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    return {id(one): function for function in functions for one in nodes_in(function)}  # the innermost last


def stored_names(node: _Store) -> set[str]:
    """The names in what a statement gives something to."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {one.id for to in targets for one in names_in(to)}


def assigned_before(name: ast.Name, file: str) -> ast.expr | None:
    """What a name was given last before the line it is read in, by a plain statement of the same function.

    Of ``x /= 255.0`` that is ``x / 255.0``. None where it is an argument, one of several, or not known.
    """
    functions, stores = _scopes(file)
    inner = functions.get(name.lineno)
    nodes = stores.get((name.id, id(inner)), [])
    found: ast.expr | None = None
    line = 0
    for node in nodes:
        if not line < node.lineno < name.lineno:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found, line = None, node.lineno
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read = ast.copy_location(ast.Name(name.id, ast.Load()), node)
            found = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        elif isinstance(node, ast.Assign) and all(isinstance(one, ast.Name) for one in targets):
            found = node.value
    return found


@functools.lru_cache(maxsize=FILES_KEPT)
def _scopes(file: str) -> tuple[dict[int, _Function], dict[tuple[str, int], list[_Store]]]:
    """The innermost function at each line, and the statements that give a name something in one, by its id."""
    functions = [node for node in nodes_of(file) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    around = functions_around(nodes_of(file))  # no statement stands in a lambda
    at = {
        line: function
        for function in sorted(functions, key=lambda node: (node.lineno, node.col_offset))
        for line in range(function.lineno, (function.end_lineno or 0) + 1)
    }
    stores: dict[tuple[str, int], list[_Store]] = defaultdict(list)
    for node in nodes_of(file):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.For)):
            for name in stored_names(node):
                stores[name, id(around.get(id(node)))].append(node)
    return at, dict(stores)
