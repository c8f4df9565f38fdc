"""Ends of episodes that a batch tells of and its targets do not read, in the user's own files. Runs none of them.

The same that `bootstrap` finds in a graph, where targets are made by numpy between two steps: a reward and a discounted
value of the next state are added up for all samples alike, and what tells that there is no next state has a name that
nothing reads. Owns no state.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import (
    SCOPES,
    functions_around,
    goes_back,
    last_name,
    names_in,
    nodes_below,
    nodes_in,
    nodes_of,
    root_name,
    stored_names,
)

__all__ = ["find_unread_ends"]

END: Final = re.compile(r"(?<![a-z])(dones?|ended|episode_over|finished|terminals?|terminated|terminations?)(?![a-z])")
TIME: Final = re.compile(r"(?<![a-z])(age|clock|count|elapsed|horizon|length|limit|n|steps?|t|ticks?|time)(?![a-z])")
ENDLESS: Final = re.compile(r"^(Pendulum|HalfCheetah|Swimmer|Reacher|Pusher|HumanoidStandup|Fetch[A-Z])")
"""Tasks of Gymnasium that end when their time is over, and never before."""
TIMED: Final = frozenset({"dm_control", "dm_env"})
"""Packages whose tasks do so too."""
UNENDED: Final = re.compile(r"non_?(final|terminal)|not_?(done|terminal)|continuing|infinite_horizon")
"""Samples that are no ends, by their name."""
PACKAGES: Final = frozenset({"K", "keras", "np", "numpy", "ops", "tf"})
DISCOUNT_MIN: Final = 0.5
"""A discount is between this and 1."""
DEPTH_MAX: Final = 6
Stores = Mapping[str, list[tuple[ast.AST, ast.expr]]]
"""By name, the statements of a scope that give it something, and what they are given."""


def find_unread_ends(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first target that goes on beyond the end of an episode, of which its batch tells.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, no name, no layer, the source line of the sum, and ``unread``: the name of what tells
        where episodes ended; none where there is no such sum, or episodes end when their time is over alone.
    """
    for file in files:
        nodes = nodes_of(file)
        given = (getattr(one, "id", getattr(one, "arg", getattr(one, "attr", None))) for one in nodes)
        names = {one for one in given if isinstance(one, str)}
        if not any(map(END.search, names)) or any(map(UNENDED.search, names)) or _is_endless(nodes):
            continue
        for line, name in itertools.chain(_counted_on(nodes), _bootstrapped(nodes)):
            return [{"type": "Line", "name": "", "layer": "", "source": source_at([(file, line)]), "unread": [name]}]
    return []


def _bootstrapped(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[int, str]]:
    """Sums of a reward and the discounted value of the next state, for all samples alike."""
    for scope in nodes:
        if isinstance(scope, (ast.FunctionDef, ast.For)):
            around = functions_around(nodes).get(id(scope)) or nodes[0]
            yield from _in_scope(scope, _stores([around, *nodes_below(around)]))


def _in_scope(scope: ast.FunctionDef | ast.For, known: Stores) -> Iterator[tuple[int, str]]:
    inner = [one for part in scope.body for one in nodes_in(part)]
    read = {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    stores = _stores([scope, *inner])
    ends = {one: held for one, held in stores.items() if END.search(one) and one not in read and one[0] != "_"}
    if not ends or any(isinstance(one, SCOPES) for one in inner) or any(map(_asks_for_none, inner)):
        return
    sums = [one for one in inner if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add)]
    for name, held in ends.items():
        beside = {one for one in stores if one != name and _is_beside(stores[one], held)}
        batch = {one.id for _, value in held for one in names_in(value)} - {"self"} - PACKAGES
        for one in sums:
            for reward, later in ((one.left, one.right), (one.right, one.left)):
                own = {part.id for part in names_in(reward)} & beside
                if own and _is_discounted(later, (beside - own) | batch, {**known, **stores}) and not _asks(reward):
                    yield one.lineno, name


def _counted_on(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[int, str]]:
    """Sums of a reward and the discounted sum behind it, where a list keeps ends of episodes and nothing reads it."""
    for scope in (nodes[0], *(one for one in nodes if isinstance(one, ast.FunctionDef))):
        inner = nodes_below(scope)
        kept = dict(filter(None, map(_kept, inner)))
        loads = [one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
        for node in inner:
            is_step = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            given = stored_names(node) if is_step else set()  # type: ignore[arg-type]
            ends = [one for one in given if END.search(one) and loads.count(one) == 1 and one in kept.values()]
            unread = [one for one in ends if all(loads.count(to) == 1 for to, of in kept.items() if of == one)]
            rewards = {to for to, of in kept.items() if of in given and of not in ends}
            if unread and rewards:
                yield from ((line, unread[0]) for line in _sums_behind(inner, rewards))


def _kept(node: ast.AST) -> tuple[str, str] | None:
    """The list to which a call appends, and the name of what it appends."""
    if not isinstance(node, ast.Call) or last_name(node) != "append" or not isinstance(node.func, ast.Attribute):
        return None
    to, given = node.func.value, node.args
    is_plain = isinstance(to, ast.Name) and len(given) == 1 and isinstance(given[0], ast.Name)
    return (to.id, given[0].id) if is_plain else None  # type: ignore[attr-defined]


def _sums_behind(nodes: Iterable[ast.AST], rewards: set[str]) -> Iterator[int]:
    """The lines of ``sum = reward + discount * sum``, of what these lists hold, in a loop that goes back."""
    for loop in (one for one in nodes if isinstance(one, ast.For) and goes_back(one)):
        own = rewards | ({one.id for one in names_in(loop.target)} if rewards & set(_names(loop.iter)) else set())
        for node in (one for one in nodes_in(loop) if isinstance(one, ast.Assign)):
            value, names = node.value, stored_names(node)
            if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
                continue
            for reward, later in ((value.left, value.right), (value.right, value.left)):
                is_discounted = isinstance(later, ast.BinOp) and isinstance(later.op, ast.Mult)
                is_plain = all(isinstance(one, (ast.Name, ast.Attribute, ast.Constant)) for one in _factors(later))
                if is_discounted and is_plain and names & set(_names(later)) and own & set(_names(reward)):
                    yield node.lineno


def _factors(node: ast.expr) -> list[ast.expr]:
    return [node.left, node.right] if isinstance(node, ast.BinOp) else [node]


def _names(node: ast.AST) -> Iterator[str]:
    return (one.id for one in names_in(node))


def _stores(nodes: Iterable[ast.AST]) -> dict[str, list[tuple[ast.AST, ast.expr]]]:
    found: dict[str, list[tuple[ast.AST, ast.expr]]] = defaultdict(list)
    for node in nodes:
        for arg in node.args.args if isinstance(node, ast.FunctionDef) else ():
            if arg.arg != "self":
                found[arg.arg].append((node, ast.Constant(None)))
        if not isinstance(node, (ast.Assign, ast.For)):
            continue
        value = node.value if isinstance(node, ast.Assign) else node.iter
        for to in node.targets if isinstance(node, ast.Assign) else [node.target]:
            pairs = [(to, value)]
            if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple) and len(to.elts) == len(value.elts):
                pairs = list(zip(to.elts, value.elts, strict=True))
            for part, of in pairs:
                for one in names_in(part):
                    if isinstance(one.ctx, ast.Store):
                        found[one.id].append((node, of))
    return found


def _is_beside(one: Sequence[tuple[ast.AST, ast.expr]], other: Sequence[tuple[ast.AST, ast.expr]]) -> bool:
    """Whether two names are given parts of one batch: by one statement, or by two that differ in a number alone."""
    if len(one) != 1 or len(other) != 1:
        return False
    (statement, value), (its, its_value) = one[0], other[0]
    texts = [re.sub(r"\d+", "#", ast.unparse(part)) for part in (value, its_value)]
    return statement is its or (texts[0] == texts[1] and ast.unparse(value) != ast.unparse(its_value))


def _is_discounted(node: ast.expr, states: set[str], stores: Stores) -> bool:
    """Whether it is a discount times what a network makes of one of these, and nothing else."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    for factor, value in ((node.left, node.right), (node.right, node.left)):
        is_number = isinstance(factor, ast.Constant) and isinstance(factor.value, float)
        is_one = DISCOUNT_MIN <= factor.value < 1 if is_number else isinstance(factor, (ast.Attribute, ast.Name))  # type: ignore[attr-defined]
        is_given = any(one.id in stores for one in names_in(factor))
        if is_one and not is_given and _is_value(value, states, stores, DEPTH_MAX):
            return True
    return False


def _is_value(node: ast.expr, states: set[str], stores: Stores, depth: int) -> bool:
    """Whether a value is picked of what a call, of no package, makes of one of these names."""
    if any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) for one in nodes_in(node)):
        return False  # it may be masked
    for call in (one for one in nodes_in(node) if isinstance(one, ast.Call)):
        given = {one.id for part in call.args for one in names_in(part)}
        of = {one.id for name in given for _, value in stores.get(name, ()) for one in names_in(value)}
        if (given | of) & states and root_name(call.func) not in PACKAGES:
            return True
    if not depth:
        return False
    known = [stores[one.id] for one in names_in(node) if one.id in stores and one.id not in states]
    return any(len(held) == 1 and _is_value(held[0][1], states, stores, depth - 1) for held in known)


def _asks(node: ast.expr) -> bool:
    return any(isinstance(one, (ast.BinOp, ast.IfExp)) for one in nodes_in(node))


def _asks_for_none(node: ast.AST) -> bool:
    """Whether a state may be none where there is no next one, or be told by its numbers."""
    is_none = isinstance(node, ast.Compare) and any(ast.unparse(one) == "None" for one in node.comparators)
    return is_none or (isinstance(node, ast.Call) and last_name(node) in ("isfinite", "isnan", "where"))


def _is_endless(nodes: Sequence[ast.AST]) -> bool:
    """Whether episodes end by their time alone, as far as the files tell: then there is a next state at each end."""
    texts = (one.value for one in nodes if isinstance(one, ast.Constant))
    if any(isinstance(one, str) and ENDLESS.search(one) for one in texts):
        return True
    modules = [one.module or "" for one in nodes if isinstance(one, ast.ImportFrom)]
    modules += [alias.name for one in nodes if isinstance(one, ast.Import) for alias in one.names]
    if any(one.partition(".")[0] in TIMED for one in modules):
        return True
    steps = [one for one in nodes if isinstance(one, ast.FunctionDef) and one.name == "step"]
    given: list[ast.expr] = []
    for node in (node for step in steps for node in nodes_in(step)):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) > 2:
            given.append(node.value.elts[2])
        elif isinstance(node, ast.Assign) and any(END.search(last_name(to)) for to in node.targets):
            given.append(node.value)
    told = [one for one in given if not isinstance(one, (ast.Attribute, ast.Name))]
    return bool(told) and all(
        (isinstance(one, ast.Compare) and TIME.search(ast.unparse(one)) is not None)
        or (isinstance(one, ast.Constant) and not one.value)
        for one in told
    )
