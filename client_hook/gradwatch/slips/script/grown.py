"""Rewards of all episodes so far, where those of one are meant, in the user's own files. Runs none of them.

A policy learns from what it did itself. A list that is filled at each step and never emptied holds what an earlier one
did, too, and its returns run from one episode into the next. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.slips.script.returns import outer_names
from gradwatch.syntax import functions_around, goes_back, last_name, nodes_in, nodes_of

__all__ = ["find_grown"]

LOOPS: Final = (ast.For, ast.While)
TURNS: Final = (*LOOPS, ast.FunctionDef, ast.GeneratorExp, ast.Lambda, ast.ListComp, ast.DictComp)
"""What may make several objects, or one each time it is called."""
PACKAGES: Final = frozenset({"enumerate", "len", "list", "np", "numpy", "range", "reversed", "self", "zip"})
EMPTYING: Final = frozenset({"clear", "pop", "popleft", "remove"})
_Use = tuple[str, ast.AST]
"""The text of a list, and where it is summed, or handed to who sums it."""


def find_grown(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first loop that sums the rewards of an episode from its end, and those of all episodes before it.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the text of the list as name, no layer, the source line, and ``grows``: True; none
        where a list is emptied, cut or made anew anywhere, or is not filled at each step of an episode.
    """
    for file in files:
        nodes = nodes_of(file)
        for loop in (node for node in nodes if isinstance(node, ast.For) and _sums_from_end(node)):
            for text, use in _uses(loop, nodes):
                if _is_only_filled(text, nodes) and (
                    _grows_as_attribute(text, use, nodes, files) if "." in text else _grows_as_name(text, use, nodes)
                ):
                    place = {"type": "Line", "name": text, "layer": "", "source": source_at([(file, use.lineno)])}  # type: ignore[attr-defined]
                    return [{**place, "grows": True}]
    return []


def _sums_from_end(loop: ast.For) -> bool:
    """Whether a loop goes from a list's end to its start, adds up, and begins anew nowhere."""
    inner = [one for part in loop.body for one in nodes_in(part)]
    is_open = not any(isinstance(one, (ast.If, ast.IfExp, ast.Compare)) for one in inner)
    sums = [one for one in loop.body if isinstance(one, ast.Assign) and isinstance(one.value, ast.BinOp)]
    is_sum = any(_discounts(one.value, one.targets[0]) for one in sums)
    return is_sum and is_open and goes_back(loop)


def _discounts(value: ast.expr, to: ast.expr) -> bool:
    """Whether ``g = r + gamma * g`` is given."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return False
    products = [one for one in (value.left, value.right) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
    name = ast.unparse(to)
    return len(products) == 1 and name in (ast.unparse(products[0].left), ast.unparse(products[0].right))


def _uses(loop: ast.For, nodes: Sequence[ast.AST]) -> Iterator[_Use]:
    function = functions_around(tuple(nodes)).get(id(loop))
    given = {one.arg for one in function.args.args} if function is not None else set[str]()
    # One discount is for all rewards: what is summed beside other lists may be told apart by these.
    texts = list(dict.fromkeys(_lists_in(loop.iter)))
    for text in texts if len(texts) == 1 else ():
        if text not in given:
            yield text, loop
            continue
        calls = [one for one in nodes if isinstance(one, ast.Call) and function and last_name(one) == function.name]
        for call in calls:
            yield from ((name, call) for name in outer_names(text, function, [call]))


def _lists_in(node: ast.AST) -> Iterator[str]:
    """The names and attributes that stand in an expression, not those that they are of."""
    if isinstance(node, (ast.Attribute, ast.Name)):
        if last_name(node) not in PACKAGES:
            yield ast.unparse(node)
        return
    for one in ast.iter_child_nodes(node):
        yield from _lists_in(one)


def _is_only_filled(text: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether a list begins empty, and nothing is done to it by its last name but to append."""
    name = text.rpartition(".")[2]
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)):
            targets = [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else node.targets
            parts = [one for to in targets for one in (to.elts if isinstance(to, ast.Tuple) else [to])]
            own = [one for one in parts if _last(one) == name]
            value = getattr(node, "value", None)
            is_begun = isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_empty(value)
            if own and not (is_begun and all(isinstance(one, (ast.Attribute, ast.Name)) for one in own)):
                return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_own = node.func.attr in EMPTYING and last_name(node.func.value) == name
            if is_own or (node.func.attr == "__init__" and last_name(node.func.value) != "super"):
                return False
        cut = node.slice if isinstance(node, ast.Subscript) and _last(node.value) == name else None
        if isinstance(cut, ast.Slice) and (cut.lower is not None or cut.upper is not None):
            return False
    return True


def _last(node: ast.expr) -> str:
    return last_name(node.value if isinstance(node, ast.Subscript) else node)


def _is_empty(value: ast.expr | None) -> bool:
    """Whether an expression is an empty list, or several."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_empty, value.elts))
    is_call = isinstance(value, ast.Call) and last_name(value) == "list" and not value.args
    return is_call or (isinstance(value, ast.List) and not value.elts)


def _begins(text: str, nodes: Sequence[ast.AST]) -> list[ast.AST]:
    name = text.rpartition(".")[2]
    found = [node for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign))]
    targets = [(one, one.targets if isinstance(one, ast.Assign) else [one.target]) for one in found]
    return [
        one
        for one, given in targets
        for to in given
        for part in (to.elts if isinstance(to, ast.Tuple) else [to])
        if isinstance(part, (ast.Attribute, ast.Name)) and last_name(part) == name
    ]


def _appends(text: str, nodes: Sequence[ast.AST]) -> list[ast.AST]:
    name = text.rpartition(".")[2]
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [one for one in calls if one.func.attr == "append" and last_name(one.func.value) == name]  # type: ignore[attr-defined]


def _grows_as_name(text: str, use: ast.AST, nodes: Sequence[ast.AST]) -> bool:
    """Whether a list that is made before a loop is summed in it, and filled in a loop within it."""
    around = functions_around(tuple(nodes))
    begins, appends = _begins(text, nodes), _appends(text, nodes)
    if len(begins) != 1 or not appends or around.get(id(begins[0])) is not around.get(id(use)):
        return False
    for loop in (node for node in nodes if isinstance(node, LOOPS)):
        inner = {id(one) for one in nodes_in(loop)}
        within = [
            one for part in nodes_in(loop) if isinstance(part, LOOPS) and part is not loop for one in nodes_in(part)
        ]
        ids = {id(one) for one in within}
        if id(use) in inner and id(begins[0]) not in inner and all(id(one) in ids for one in appends):
            return loop is not use and not any(isinstance(one, ast.Break) for one in loop.body)
    return False


def _grows_as_attribute(text: str, use: ast.AST, nodes: Sequence[ast.AST], files: Sequence[str]) -> bool:
    """Whether an object that is made once begins with an empty list, and fills it elsewhere."""
    around = functions_around(tuple(nodes))
    begins, appends = _begins(text, nodes), _appends(text, nodes)
    makers = [around.get(id(one)) for one in begins]
    users = [around.get(id(one)) for one in (use, *appends)]
    if not begins or not appends or any(one is None or one.name != "__init__" for one in makers):
        return False
    if any(one is not None and one.name == "__init__" for one in users):
        return False
    owners = {
        node.name
        for node in nodes
        if isinstance(node, ast.ClassDef) and any(one is maker for one in nodes_in(node) for maker in makers)
    }
    return _is_made_once(owners, [one for file in files for one in nodes_of(file)])


def _is_made_once(owners: set[str], nodes: Sequence[ast.AST]) -> bool:
    """Whether objects of these classes, or of those of them, are made outside of loops and functions alone."""
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    owners = owners | {one.name for one in classes if owners & {last_name(base) for base in one.bases}}
    made = {id(one.func) for one in nodes if isinstance(one, ast.Call) and last_name(one) in owners}
    bases = {id(base) for one in classes for base in one.bases}
    named = [one for one in nodes if isinstance(one, (ast.Attribute, ast.Name)) and last_name(one) in owners]
    turned = [node for node in nodes if isinstance(node, TURNS)]
    looped = {id(one) for node in turned for one in nodes_in(node)}
    is_handed_on = any(id(one) not in made | bases and isinstance(one.ctx, ast.Load) for one in named)
    return bool(made) and not made & looped and not is_handed_on
