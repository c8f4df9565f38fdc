"""Slow copies of a network that take over nearly all of it at once, in the user's own files. Runs none of them.

A target network, a teacher or an average of weights keeps most of its own value at each update. With the shares the
other way round it is no slow copy any more, and what changes the arrays that ``get_weights()`` gives changes copies.
Owns no state.
"""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import functions_around, last_name, nodes_in, nodes_of

__all__ = ["find_copied", "find_lost", "find_replaced"]

KEPT_MAX: Final = 0.05
"""Of its own value, what a copy keeps that is no slow one. Whoever means to copy a network keeps nothing at all."""
DEPTH_MAX: Final = 4
"""Names through which an expression is followed to where it stands."""
LISTS: Final = frozenset({"get_weights", "non_trainable_variables", "variables", "weights"})
TRAINED: Final = frozenset({"trainable_variables", "trainable_weights"})
TRAINING: Final = frozenset({"apply", "gradient", "minimize"})
FITTING: Final = frozenset({"fit", "train_on_batch"})
STEPPING: Final = frozenset({"apply_gradients", "train_on_batch"})
LARGEST: Final = frozenset({"amax", "max", "reduce_max"})
PREDICTING: Final = frozenset({"call", "predict", "predict_on_batch"})
LOOPS: Final = (ast.For, ast.While, ast.comprehension)
BLOCKS: Final = (ast.For, ast.While, ast.If, ast.FunctionDef)
SAME: Final = frozenset({"cast", "constant", "float", "numpy", "read_value", "value"})
"""Calls that leave a number what it is."""
ARITHMETIC: Final = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
Given = Mapping[str, ast.expr]
"""What a call gives for the arguments of a function."""


def find_replaced(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that gives a copy of a network a mean of both, of which next to nothing is its own.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Assign``, no name, no layer, the source line and ``keeps``: the share of its own value, above
        0 and up to `KEPT_MAX`, that the copy keeps; none where there is no such line.
    """
    for file in files:
        if not any(_is_loop(node) or _is_set(node) for node in nodes_of(file)):
            continue
        for line, keeps in _File(file).find():
            place = {"type": "Assign", "name": "", "layer": "", "source": source_at([(file, line)])}
            return [{**place, "keeps": keeps}]
    return []


def find_lost(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first loop that changes what ``get_weights()`` gives, and keeps it nowhere.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Assign``, no name, no layer, the source line of the change and ``lost``: whose weights they
        are; none where there is no such loop, or any of the files has a ``get_weights`` of its own.
    """
    nodes = (node for file in files for node in nodes_of(file))
    if any(isinstance(node, ast.FunctionDef) and node.name == "get_weights" for node in nodes):
        return []  # which may give the arrays themselves
    for file in files:
        for owner, line in filter(None, map(_lost_in, nodes_of(file))):
            place = {"type": "Assign", "name": "", "layer": "", "source": source_at([(file, line)])}
            return [{**place, "lost": owner}]
    return []


def find_copied(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that makes a target network, whose largest value is discounted, a full copy after each step.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Assign``, no name, no layer, the source line and ``recopied`` (True); none where there is no
        such line.
    """
    for file in files:
        nodes = nodes_of(file)
        for node in nodes:
            line = _copies_each_step(node, nodes) if isinstance(node, BLOCKS) else None
            if line is not None:
                place = {"type": "Assign", "name": "", "layer": "", "source": source_at([(file, line)])}
                return [{**place, "recopied": True}]
    return []


def _copies_each_step(block: ast.For | ast.While | ast.If | ast.FunctionDef, nodes: Sequence[ast.AST]) -> int | None:
    """The line of a block that copies a network behind each training step, the step and the copy under one roof."""
    copies = [(place, one) for place, node in enumerate(block.body) if (one := _copy(node)) is not None]
    if not copies or (isinstance(block, ast.FunctionDef) and any(isinstance(one, LOOPS) for one in nodes_in(block))):
        return None
    functions = {} if isinstance(block, ast.FunctionDef) else _functions(nodes)
    stored = {ast.unparse(to) for to, _ in _stores(nodes_in(block))}
    for place, (to, of) in copies:
        before = block.body[:place]
        steps = [one for one, node in enumerate(before) if _is_step(node, functions)]
        between = [part for node in block.body[max(steps, default=0) + 1 : place] for part in nodes_in(node)]
        is_left = any(isinstance(one, (ast.Continue, ast.Break, ast.Return)) for one in between)
        is_left |= any(_trains_in_turns(node, functions) for node in before)
        is_copied = bool(steps) and not is_left and not {to, of} & stored and _trains(of, before, nodes)
        if is_copied and any(_is_bootstrapped(to, one) for one in nodes):
            return block.body[place].lineno
    return None


def _copy(node: ast.stmt) -> tuple[str, str] | None:
    """The two networks of ``target.set_weights(model.get_weights())``; None for any other statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not _is_set(call):
        return None
    to, of = ast.unparse(call.func.value), _copied(call.args[0])
    return None if of is None or of == to else (to, of)


def _functions(nodes: Sequence[ast.AST]) -> dict[str, list[ast.FunctionDef]]:
    """The functions that are called in one place, by name: what others train with has more steps than copies."""
    functions = defaultdict[str, list[ast.FunctionDef]](list)
    called = Counter(last_name(node) for node in nodes if isinstance(node, ast.Call))
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and called[node.name] == 1:
            functions[node.name].append(node)
    return functions


def _is_step(node: ast.stmt, functions: Mapping[str, Sequence[ast.FunctionDef]]) -> bool:
    """Whether a statement trains a network by one step, itself or by a function that has no loop."""
    inner = nodes_in(node)
    if any(isinstance(one, LOOPS) for one in inner):
        return False
    reached = _reached(inner, functions)
    is_looped = any(isinstance(one, (ast.For, ast.While)) for one in reached)
    return not is_looped and not STEPPING.isdisjoint(_called(reached))


def _trains(network: str, block: Sequence[ast.stmt], nodes: Sequence[ast.AST]) -> bool:
    """Whether statements, or the functions that they call, ask for the weights of a network that are trained."""
    called = _called(one for node in block for one in nodes_in(node))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in called]
    asked = [one for node in (*block, *functions) for one in nodes_in(node) if isinstance(one, ast.Attribute)]
    of = network.rpartition(".")[2]  # an object has another name within its own methods
    return any(one.attr in TRAINED | FITTING and last_name(one.value) == of for one in asked)


def _trains_in_turns(node: ast.stmt, functions: Mapping[str, Sequence[ast.FunctionDef]]) -> bool:
    """Whether a statement has a loop in which something is trained: then what is behind it is done more rarely."""
    looped = [one for loop in nodes_in(node) if isinstance(loop, LOOPS) for one in nodes_in(loop)]
    return not STEPPING.isdisjoint(_called(_reached(looped, functions)))


def _called(nodes: Iterable[ast.AST]) -> set[str]:
    return {last_name(one) for one in nodes if isinstance(one, ast.Call)}


def _reached(nodes: Sequence[ast.AST], functions: Mapping[str, Sequence[ast.FunctionDef]]) -> list[ast.AST]:
    """Nodes, and those of the functions that they call."""
    bodies = [function for name in _called(nodes) for function in functions.get(name, ())]
    return [*nodes, *(one for body in bodies for one in nodes_in(body))]


def _is_bootstrapped(network: str, scope: ast.AST) -> bool:
    """Whether a function or loop adds a multiple of the largest value that a network gives to something."""
    if not isinstance(scope, (ast.For, ast.While, ast.FunctionDef)):
        return False
    inner = nodes_in(scope)
    made, largest = set[str](), set[str]()
    for to, value in _stores(inner) if any(_is_asked(one, network) for one in inner) else ():
        known = () if value is None else nodes_in(value)
        is_of = any(_is_asked(one, network) or _is_named(one, made) for one in known)
        made |= {ast.unparse(to)} if is_of else set()
        largest |= (
            {ast.unparse(to)} if is_of and any(_is_largest(one) or _is_named(one, largest) for one in known) else set()
        )
    for one in (one for one in inner if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add)):
        for part in (
            part for part in (one.left, one.right) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult)
        ):
            known = nodes_in(part)
            is_of = any(_is_asked(node, network) or _is_named(node, made) for node in known)
            if is_of and any(_is_largest(node) or _is_named(node, largest) for node in known):
                return True
    return False


def _is_asked(node: ast.AST, network: str) -> bool:
    """Whether a node is what a network is called for."""
    if not isinstance(node, ast.Call):
        return False
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr in PREDICTING
    return ast.unparse(node.func.value if is_method else node.func) == network  # type: ignore[attr-defined]


def _is_largest(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node) in LARGEST


def _is_named(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _lost_in(node: ast.AST) -> tuple[str, int] | None:
    """Whose copies a statement, or all that a loop over them does, changes, and in which line."""
    changed = node.body if isinstance(node, ast.For) else [node]
    copies = _copies(node) if isinstance(node, ast.For) else {}
    owners = [_owner(one, copies) for one in changed]
    return None if owners[0] is None or None in owners else (owners[0], int(getattr(changed[0], "lineno", 0)))


def _owner(node: ast.AST, copies: Mapping[str, str]) -> str | None:
    """Whose copies a statement changes: one that a loop is at, or one that it asks for itself; None for none."""
    to: Any = getattr(node, "target", None) if isinstance(node, ast.AugAssign) else None
    to = node.targets[0] if isinstance(node, ast.Assign) else to
    while isinstance(to, ast.Subscript):
        to = to.value
    return copies.get(to.id) if isinstance(to, ast.Name) else _copied(to)


def _copied(node: Any) -> str | None:
    """``model`` of ``model.get_weights()``; None for anything else."""
    is_copy = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_weights"
    return ast.unparse(node.func.value) if is_copy else None


def _copies(loop: ast.For) -> dict[str, str]:
    """Of the names of a loop over what ``get_weights()`` gives, whose weights they are."""
    over = loop.iter.args if isinstance(loop.iter, ast.Call) and last_name(loop.iter) == "zip" else [loop.iter]
    names = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    pairs = ((name, _copied(of)) for name, of in zip(names, over, strict=False))
    return {name.id: owner for name, owner in pairs if isinstance(name, ast.Name) and owner is not None}


class _File:
    """A file's loops over the weights of two networks, and what its names stand for."""

    def __init__(self, file: str) -> None:
        self._nodes = nodes_of(file)
        self._around = functions_around(self._nodes)
        self._classes = {
            id(part): node.name for node in self._nodes if isinstance(node, ast.ClassDef) for part in node.body
        }
        self._calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        rare = (node for node in self._nodes if isinstance(node, ast.If) and _is_of_turns(node.test))
        self._rare = {id(one) for node in rare for one in nodes_in(node)}
        self._stored: dict[str, list[ast.expr | None]] = defaultdict(list)
        for to, value in _stores(self._nodes):
            self._stored[ast.unparse(to)].append(value)

    def find(self) -> Iterator[tuple[int, float]]:
        """The lines, and the share that each keeps."""
        for node in (one for one in self._nodes if (_is_loop(one) or _is_set(one)) and id(one) not in self._rare):
            for given in self._given(self._around.get(id(node))):
                found = self._assigned(node, given) if isinstance(node, ast.For) else self._set(node, given)
                yield from ((line, keeps) for line, keeps in found if 0 < keeps <= KEPT_MAX)

    def _assigned(self, loop: ast.For, given: Given) -> Iterator[tuple[int, float]]:
        owners = self._owners(loop.target, loop.iter, given)
        calls = (one for part in loop.body for one in nodes_in(part) if isinstance(one, ast.Call))
        for call in calls if owners else ():
            to = call.func.value if isinstance(call.func, ast.Attribute) else None
            name, method = (to.id if isinstance(to, ast.Name) else ""), last_name(call)
            if name not in owners or method not in ("assign", "assign_add", "assign_sub") or not call.args:
                continue
            shares = self._shares(call.args[0], owners, given)
            if shares is not None and method != "assign":
                sign = 1 if method == "assign_add" else -1
                shares = {one: sign * shares[one] + (one == name) for one in shares}
            if shares is not None and self._is_mean(shares) and not self._is_trained(owners[name]):
                yield call.lineno, shares[name]

    def _set(self, call: ast.AST, given: Given) -> Iterator[tuple[int, float]]:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return
        made = self._resolve(call.args[0], given)
        if not isinstance(made, ast.ListComp) or len(made.generators) != 1:
            return
        owners = self._owners(made.generators[0].target, made.generators[0].iter, given)
        own = ast.dump(self._resolve(call.func.value, given))
        shares = self._shares(made.elt, owners, given) if own in owners.values() else None
        if shares is not None and self._is_mean(shares) and not self._is_trained(own):
            yield made.elt.lineno, next(shares[name] for name, owner in owners.items() if owner == own)

    def _owners(self, target: ast.expr, over: ast.expr, given: Given) -> dict[str, str]:
        """Of the names of a loop over the weights of two networks, the networks; empty for any other loop."""
        names = [one.id for one in target.elts if isinstance(one, ast.Name)] if isinstance(target, ast.Tuple) else []
        lists = over.args if isinstance(over, ast.Call) and last_name(over) == "zip" else []
        networks = [self._network(one, given) for one in lists]
        if len(names) != 2 or len(networks) != 2 or None in networks or networks[0] == networks[1]:
            return {}
        return {name: str(network) for name, network in zip(names, networks, strict=True)}

    def _network(self, weights: ast.expr, given: Given) -> str | None:
        weights = self._resolve(weights, given)
        of = weights.func if isinstance(weights, ast.Call) else weights
        if not isinstance(of, ast.Attribute) or of.attr not in LISTS | TRAINED:
            return None
        return ast.dump(self._resolve(of.value, given))

    def _shares(self, node: ast.expr, owners: Mapping[str, str], given: Given) -> dict[str, float] | None:
        """How often each of two names goes into a sum; None where it is no sum of multiples of them alone."""
        if isinstance(node, ast.Name) and node.id in owners:
            return {name: float(name == node.id) for name in owners}
        if isinstance(node, ast.Call) and last_name(node) in SAME:
            return self._shares(_within(node), owners, given)
        if not isinstance(node, ast.BinOp):
            return None
        left, right = (self._shares(one, owners, given) for one in (node.left, node.right))
        if isinstance(node.op, (ast.Add, ast.Sub)) and left is not None and right is not None:
            return {name: ARITHMETIC[type(node.op)](left[name], right[name]) for name in owners}
        if isinstance(node.op, ast.Mult) and (left is None) != (right is None):
            factor = self._number(node.left if left is None else node.right, given)
            return None if factor is None else {name: factor * n for name, n in (left or right or {}).items()}
        return None

    def _number(self, node: ast.expr, given: Given, depth: int = DEPTH_MAX) -> float | None:
        """The number that an expression stands for; None where that is not known."""
        node = self._resolve(node, given, depth)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.Call) and last_name(node) in SAME and depth > 0:
            return self._number(_within(node), given, depth - 1)
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) and depth > 0 else []
        numbers = [one for part in parts if (one := self._number(part, given, depth - 1)) is not None]
        if isinstance(node, ast.BinOp) and len(numbers) == 2 and type(node.op) in ARITHMETIC:
            try:
                return float(ARITHMETIC[type(node.op)](*numbers))
            except (ArithmeticError, TypeError):
                return None
        return None

    def _resolve(self, node: ast.expr, given: Given, depth: int = DEPTH_MAX) -> ast.expr:
        """What a name or an attribute stands for, if it is given one thing alone; else the expression itself."""
        if depth <= 0 or not isinstance(node, (ast.Name, ast.Attribute)):
            return node
        if isinstance(node, ast.Name) and node.id in given:
            return self._resolve(given[node.id], {}, depth - 1)
        values = self._stored.get(ast.unparse(node), [])
        value = values[0] if len(values) == 1 else None
        # A network is made by a call: its name tells which it is.
        if value is None or (isinstance(value, ast.Call) and last_name(value) not in LISTS | SAME):
            return node
        outer = next(iter(self._given(self._around.get(id(value)))), {})
        return self._resolve(value, outer, depth - 1)

    def _given(self, function: ast.FunctionDef | None) -> Sequence[Given]:
        """What each call of a function gives it, with its defaults; nothing at all outside of functions."""
        if function is None:
            return [{}]
        names = [one.arg for one in function.args.args]
        ends = names[len(names) - len(function.args.defaults) :]
        usual = dict(zip(ends, function.args.defaults, strict=True))
        is_method = names[:1] == ["self"]
        called = self._classes.get(id(function), "") if function.name == "__init__" else function.name
        calls = [one for one in self._calls if last_name(one) == called and self._around.get(id(one)) is not function]
        names = names[1:] if is_method else names
        each = [
            usual | dict(zip(names, one.args, strict=False)) | {k.arg: k.value for k in one.keywords if k.arg}
            for one in calls
            if id(one) not in self._rare
        ]
        return each if calls else [usual]

    @staticmethod
    def _is_mean(shares: Mapping[str, float]) -> bool:
        return math.isclose(sum(shares.values()), 1.0, abs_tol=1e-6)

    def _is_trained(self, network: str) -> bool:
        """Whether gradients are asked of a network, or it is fitted: what is put into it then is no copy."""
        for call in self._calls:
            of = call.func.value if isinstance(call.func, ast.Attribute) else None
            if last_name(call) in FITTING and of is not None and ast.dump(of) == network:
                return True
            parts = [node for part in call.args for node in nodes_in(part)] if last_name(call) in TRAINING else []
            named = [self._resolve(one, {}) if isinstance(one, ast.Name) else one for one in parts]
            trained = (one for one in named if isinstance(one, ast.Attribute) and one.attr in TRAINED)
            if any(ast.dump(one.value) == network for one in trained):
                return True
        return False


def _is_of_turns(test: ast.expr) -> bool:
    """Whether a condition holds in one of so many turns: what is done so rarely may well replace a network."""
    return any(isinstance(one, ast.Mod) for one in nodes_in(test))


def _is_loop(node: ast.AST) -> bool:
    return isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and last_name(node.iter) == "zip"


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node) == "set_weights" and len(node.args) == 1


def _stores(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What is given to names and attributes; None for what is not known, such as a loop's."""
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for to in (one for one in targets if isinstance(one, ast.expr)):
            if not isinstance(to, ast.Tuple):
                yield to, value
            elif isinstance(value, ast.Tuple) and len(value.elts) == len(to.elts):
                yield from zip(to.elts, value.elts, strict=True)
            else:
                yield from ((one, None) for one in to.elts)


def _within(call: ast.Call) -> ast.expr:
    """What a call is of: the object of a method without arguments, or its first argument."""
    return call.args[0] if call.args else call.func.value if isinstance(call.func, ast.Attribute) else call
