"""Ends of episodes that a batch tells of and its targets do not read, in the user's own files. Runs none of them.

The same that `bootstrap` finds in a graph, where targets are made by numpy between two steps: a reward and a discounted
value of the next state are added up for all samples alike, and what tells that there is no next state has a name that
nothing reads. Owns no state.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import SCOPES, functions_around, last_name, names_in, nodes_below, nodes_of, root_name

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
        for scope in nodes:
            if isinstance(scope, (ast.FunctionDef, ast.For)):
                around = functions_around(nodes).get(id(scope)) or nodes[0]
                for line, name in _in_scope(scope, _stores([around, *nodes_below(around)])):
                    place = {"type": "Line", "name": "", "layer": "", "source": source_at([(file, line)])}
                    return [{**place, "unread": [name]}]
    return []


def _in_scope(scope: ast.FunctionDef | ast.For, known: Stores) -> Iterator[tuple[int, str]]:
    inner = [one for part in scope.body for one in ast.walk(part)]
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
    if any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) for one in ast.walk(node)):
        return False  # it may be masked
    for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
        given = {one.id for part in call.args for one in names_in(part)}
        of = {one.id for name in given for _, value in stores.get(name, ()) for one in names_in(value)}
        if (given | of) & states and root_name(call.func) not in PACKAGES:
            return True
    if not depth:
        return False
    known = [stores[one.id] for one in names_in(node) if one.id in stores and one.id not in states]
    return any(len(held) == 1 and _is_value(held[0][1], states, stores, depth - 1) for held in known)


def _asks(node: ast.expr) -> bool:
    return any(isinstance(one, (ast.BinOp, ast.IfExp)) for one in ast.walk(node))


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
    for node in (node for step in steps for node in ast.walk(step)):
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
