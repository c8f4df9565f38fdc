"""Returns that are summed from the first reward on, in the user's own files. Runs none of them.

The return of a step is what is still to come, so a list of rewards is summed from its end. Summed from its start each
action is credited with what was before it. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import functions_around, goes_back, last_name, names_in, nodes_in, nodes_of

__all__ = ["find_past", "outer_names"]

DRAWING: Final = frozenset({"categorical", "choice", "multinomial", "sample", "stateless_categorical"})
"""Calls that draw an action."""
TURNING: Final = frozenset({"appendleft", "flip", "flipud", "insert", "reverse", "reversed"})
"""Calls that lay a list the other way round."""
MEASURING: Final = frozenset({"append", "plot", "print", "std", "var"})
OF_ONE: Final = frozenset({"mean", "update"})
"""Calls that measure what they are given, where that is a single thing: a running deviation's, and no agent's."""
ARRAYS: Final = frozenset({"array", "asarray", "constant", "convert_to_tensor", "stack"})
"""Calls that make one array of a list."""
Function = ast.FunctionDef | ast.Module


def find_past(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that sums the rewards of an environment up to each step, where it should sum those behind it.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Data``, no name, no layer, the source line and ``past`` (True); none where there is no such
        line, no rewards that came of an environment's ``step``, or anything is summed from its end, or laid the other
        way round.
    """
    for file in files:
        for line in _lines_of(file):
            return [{"type": "Data", "name": "", "layer": "", "source": source_at([(file, line)]), "past": True}]
    return []


def _lines_of(file: str) -> Iterator[int]:
    nodes = nodes_of(file)
    if any(map(_is_from_end, nodes)):
        return
    rewarded = _rewarded(nodes)
    turned = _turned(nodes) if rewarded else set()
    within = functions_around(nodes) if rewarded else {}
    for loop in (node for node in nodes if isinstance(node, ast.For)) if rewarded else ():
        around = within.get(id(loop))
        for line, rewards, out in _sums(loop):
            names = {out, *outer_names(rewards, around, nodes)}
            if not rewarded & names:
                continue
            called = {around.name} if around is not None and rewards not in rewarded else set()
            if not turned & (names | {rewards} | called) and not _is_measured(out, nodes):
                yield line


def _rewarded(nodes: Sequence[ast.AST]) -> set[str]:
    """The lists to which something is added that an environment gave for an action, where actions are drawn."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not any(last_name(call) in DRAWING for call in calls):
        return set()
    drawn = _drawn(nodes)
    stepped = [node for node in nodes if isinstance(node, ast.Assign) and _is_step(node, drawn)]
    given = {one.id for node in stepped for to in node.targets for one in names_in(to)}
    added = [
        call for call in calls if last_name(call) == "append" and isinstance(call.func, ast.Attribute) and call.args
    ]
    return {
        ast.unparse(call.func.value)
        for call in added
        if isinstance(call.func, ast.Attribute) and given & {one.id for one in names_in(call.args[0])}
    }


def _is_step(node: ast.Assign, drawn: set[str]) -> bool:
    """Whether several things are given by an environment's ``step``, or by another method that is given an action."""
    value = node.value
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.args):
        return False
    is_acted = isinstance(node.targets[0], ast.Tuple) and any(ast.unparse(one) in drawn for one in value.args)
    return value.func.attr == "step" or is_acted


def _drawn(nodes: Sequence[ast.AST]) -> set[str]:
    """The names of actions: what is drawn in the same line, or by a function of the file that draws."""
    drawing = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and any(last_name(call) in DRAWING for call in _calls_in(node))
    }
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    made = [one for one in assigned if any(last_name(call) in DRAWING | drawing for call in _calls_in(one.value))]
    return {to.id for one in made for to in one.targets if isinstance(to, ast.Name)}


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in nodes_in(node) if isinstance(one, ast.Call))


def _sums(loop: ast.For) -> Iterator[tuple[int, str, str]]:
    """The lines ``g = r + gamma * g`` of a loop that keeps each, with what r is of, and what keeps them."""
    of = _elements(loop)
    for node in loop.body:
        value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        name = node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else ""
        if not name or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
            continue
        for term, rest in ((value.left, value.right), (value.right, value.left)):
            rewards, out = of.get(ast.unparse(term)), _kept_in(loop, name)
            factors = list(_factors(rest))
            if rewards and out and len(factors) > 1 and any(isinstance(f, ast.Name) and f.id == name for f in factors):
                yield node.lineno, rewards, out


def _elements(loop: ast.For) -> dict[str, str]:
    """What the elements of lists are called in a loop that goes over these from their start."""
    over, args = loop.iter, loop.iter.args if isinstance(loop.iter, ast.Call) else []
    names = [ast.unparse(one) for one in loop.target.elts] if isinstance(loop.target, ast.Tuple) else []
    if isinstance(over, (ast.Name, ast.Attribute)):
        return {ast.unparse(loop.target): ast.unparse(over)}
    if last_name(over) == "zip" and len(args) == len(names):
        return dict(zip(names, map(ast.unparse, args), strict=True))
    if last_name(over) == "enumerate" and len(args) == 1 and len(names) == 2:
        return {names[1]: ast.unparse(args[0])}
    if last_name(over) != "range" or len(args) != 1:
        return {}
    index = ast.unparse(loop.target)
    parts = [one for node in loop.body for one in nodes_in(node) if isinstance(one, ast.Subscript)]
    return {ast.unparse(one): ast.unparse(one.value) for one in parts if ast.unparse(one.slice) == index}


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _kept_in(loop: ast.For, name: str) -> str:
    """The list that keeps what a loop sums up, in the order of the loop."""
    places = {one.id for one in names_in(loop.target)}
    for node in loop.body:
        call = node.value if isinstance(node, ast.Expr) else None
        of = call.func if isinstance(call, ast.Call) and last_name(call) == "append" else None
        if isinstance(call, ast.Call) and isinstance(of, ast.Attribute) and name in map(ast.unparse, call.args):
            return ast.unparse(of.value)
        to = node.targets[0] if isinstance(node, ast.Assign) and ast.unparse(node.value) == name else None
        if isinstance(to, ast.Subscript) and ast.unparse(to.slice) in places:
            return ast.unparse(to.value)
    return ""


def outer_names(name: str, function: ast.FunctionDef | None, nodes: Sequence[ast.AST]) -> set[str]:
    """What calls give for an argument of a function, and what they make of it; for any other name that name."""
    names = [] if function is None else [one.arg for one in function.args.args]
    if function is None or name not in names:
        return {name}
    place = names.index(name) - (names[0] == "self")
    calls = [one for one in nodes if isinstance(one, ast.Call) and last_name(one) == function.name]
    assigned = [one for one in nodes if isinstance(one, ast.Assign) and any(c in calls for c in nodes_in(one.value))]
    made = {ast.unparse(to) for one in assigned for to in one.targets}
    return made | {ast.unparse(_array_of(one.args[place])) for one in calls if len(one.args) > place}


def _array_of(node: ast.expr) -> ast.expr:
    """What is made an array of, as it is, in place of the call that does it."""
    is_made = isinstance(node, ast.Call) and last_name(node) in ARRAYS and len(node.args) > 0
    return _array_of(node.args[0]) if is_made and isinstance(node, ast.Call) else node


def _is_from_end(node: ast.AST) -> bool:
    """Whether a loop sums from the end on."""
    if not isinstance(node, ast.For) or not goes_back(node):
        return False
    return any(isinstance(one, ast.Add) for part in node.body for one in nodes_in(part))


def _is_measured(name: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether nothing but numbers about a list are asked for, such as its spread, by which rewards are scaled."""
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    read = {id(one) for one in names if isinstance(one.ctx, ast.Load)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    spread = [call for call in calls if last_name(call) in MEASURING or _is_of_one(call, name)]
    return read == {id(one) for call in spread for one in names_in(call) if one.id == name}


def _is_of_one(call: ast.Call, name: str) -> bool:
    """Whether a call measures a list, and is given nothing else."""
    return last_name(call) in OF_ONE and [ast.unparse(_array_of(one)) for one in call.args] == [name]


def _turned(nodes: Sequence[ast.AST]) -> set[str]:
    """What is laid the other way round anywhere."""
    found: set[str] = set()
    for node in nodes:
        step = node.slice.step if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
        if step is not None or (isinstance(node, ast.Call) and last_name(node) in TURNING):
            found |= {ast.unparse(one) for one in nodes_in(node) if isinstance(one, (ast.Name, ast.Attribute))}
    return found
