"""Explorations that go the wrong way, in the user's own files: more random with time, at an end at once, or never less.

An agent that is to learn from what it tries draws its action at random with a chance that falls while it learns. Runs
none of the code, and owns no state.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_in, nodes_of

__all__ = ["find_explored"]

DRAWING: Final = frozenset({"rand", "random", "random_sample", "uniform"})
"""Calls that draw a number from 0 to 1."""
CHOOSING: Final = frozenset({"choice", "integers", "randint", "randrange", "sample"})
"""Calls that draw an action."""
FALLING: Final = re.compile(r"(eps|explor)\w*decay|decay\w*(eps|explor)")
OTHER: Final = re.compile(r"expert|forc|greed|exploit|teach")
"""Chances of something else than an exploration: of what a teacher does, or of the best."""
HIGHEST: Final = re.compile(r"cap|ceil|high|max|upper")
LIKELY: Final = 0.5
DEPTH_MAX: Final = 4
ENDS: Final = frozenset({"max", "maximum", "min", "minimum"})


def find_explored(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that makes an agent try more while it learns, no more at once, or as much for ever.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the name of the chance, no layer, the source line, and ``explores``: ``inverted``
        where the action is random if a draw lies above a chance that falls; ``lowest`` where the lesser of the chance
        and its least is taken, ``highest`` where the larger of it and its first is; ``always`` where what should lower
        it (``by``) is never read.
    """
    for file in files:
        known = _Names(nodes_of(file))
        for choice in known.choices():
            for how, line, more in known.told(choice):
                place = {"type": "Line", "name": choice.chance, "layer": "", "source": source_at([(file, line)])}
                return [{**place, "explores": how, **more}]
    return []


class _Choice(NamedTuple):
    """Where an action is random or the best: the name of the chance, the line, whether it is random above it."""

    chance: str
    line: int
    is_above: bool


class _Names:
    """What a file gives its names and attributes, by their last name."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._nodes = nodes
        self._given: dict[str, list[ast.expr]] = defaultdict(list)
        self._changed: dict[str, list[ast.AugAssign]] = defaultdict(list)
        for node in nodes:
            if isinstance(node, ast.Assign):
                for to in node.targets:
                    self._give(to, node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                self._given_by_call(node.target, node.iter)
            elif isinstance(node, ast.AugAssign):
                self._changed[last_name(node.target)].append(node)
            elif isinstance(node, ast.arguments):
                names = [*node.posonlyargs, *node.args][::-1]
                for arg, value in zip(names, node.defaults[::-1], strict=False):
                    self._given[arg.arg].append(value)

    def _give(self, to: ast.expr, value: ast.expr) -> None:
        parts = to.elts if isinstance(to, ast.Tuple) else [to]
        values = value.elts if isinstance(value, ast.Tuple) and len(parts) > 1 else [value]
        if len(parts) == len(values):
            for part, one in zip(parts, values, strict=True):
                self._given[last_name(part)].append(one)
        else:
            self._given_by_call(to, value)

    def _given_by_call(self, to: ast.expr, value: ast.expr) -> None:
        """Names that are given one after the other, or several at once, what is not known."""
        for part in to.elts if isinstance(to, ast.Tuple) else [to]:
            self._given[last_name(part)].append(ast.Call(value, [], []))

    def choices(self) -> Iterator[_Choice]:
        """The places where an action is drawn or the best is taken, by a draw and a chance."""
        blocks = [one for node in self._nodes for one in (getattr(node, "body", None),) if isinstance(one, list)]
        for block in blocks:
            for place, node in enumerate(block):
                if isinstance(node, ast.If) and (chance := _chance(node.test)) is not None:
                    # What follows a `return` is what is done otherwise.
                    other = node.orelse or (block[place + 1 :] if isinstance(node.body[-1], ast.Return) else [])
                    yield from _choice(node.lineno, chance, node.body, other)
        for node in self._nodes:
            if isinstance(node, ast.IfExp) and (chance := _chance(node.test)) is not None:
                yield from _choice(node.lineno, chance, [node.body], [node.orelse])

    def told(self, choice: _Choice) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """How a chance goes wrong, in which line."""
        if OTHER.search(choice.chance.lower()):
            return
        first = self._number(ast.Name(choice.chance))
        if choice.is_above and self._falls(choice.chance):
            yield "inverted", choice.line, {}
        if choice.is_above or first is None:
            return
        for value in self._given[choice.chance]:
            end = self._end_of(value, choice.chance)
            if end is not None and end[0] == "lowest" and end[1] < first:
                yield "lowest", value.lineno, {}
            # A little for ever may be meant.
            elif end is not None and end[0] == "highest" and end[1] >= first >= LIKELY:
                yield "highest", value.lineno, {}
        own = [one for one in self._given[choice.chance] if self._number(one) is None]
        is_set = any(
            isinstance(one, ast.Constant) and one.value == choice.chance for one in self._nodes
        )  # by `setattr`
        if first >= LIKELY and not own and not self._changed[choice.chance] and not is_set:
            yield from (("always", choice.line, {"by": name}) for name in self._unread())

    def _falls(self, chance: str) -> bool:
        """Whether a chance is multiplied by less than 1, or anything above 0 is taken from it, and nothing else."""
        ways = [self._is_less(one.op, one.value) for one in self._changed[chance]]
        for value in self._given[chance]:
            changes = [one for one in nodes_in(value) if isinstance(one, ast.BinOp) and last_name(one.left) == chance]
            ways += [self._is_less(one.op, one.right) for one in changes]
        return bool(ways) and all(ways)

    def _is_less(self, op: ast.operator, by: ast.expr) -> bool:
        number = self._number(by)
        if number is None:
            return False
        return 0 < number < 1 if isinstance(op, ast.Mult) else isinstance(op, ast.Sub) and number > 0

    def _end_of(self, value: ast.expr, chance: str) -> tuple[str, float] | None:
        """Which of a falling chance and a number a statement gives it, and that number; None for anything else."""
        if not isinstance(value, ast.Call) or last_name(value) not in ENDS or len(value.args) != 2:
            return None
        is_least = last_name(value).startswith("min")
        for one, other in (value.args, value.args[::-1]):
            is_own = isinstance(one, ast.BinOp) and last_name(one.left) == chance and self._is_less(one.op, one.right)
            number = self._number(other)
            if is_own and number is not None and not (is_least and HIGHEST.search(last_name(other).lower())):
                return ("lowest" if is_least else "highest"), number
        return None

    def _number(self, node: ast.expr, depth: int = DEPTH_MAX) -> float | None:
        """The number that an expression is, or that a name is given first, if there is but one."""
        if isinstance(node, ast.Constant):
            return float(node.value) if isinstance(node.value, (int, float)) else None
        name = last_name(node) if isinstance(node, (ast.Attribute, ast.Name)) else ""
        given = [one for one in self._given.get(name, ()) if not _has(one, name)]
        return self._number(given[0], depth - 1) if len(given) == 1 and depth else None

    def _unread(self) -> list[str]:
        """Names of what lowers a chance, by their own word, that nothing reads."""
        named = [node for node in self._nodes if isinstance(node, (ast.Attribute, ast.Name))]
        kept = {  # an argument that is kept by its own name, and no more
            id(node.value)
            for node in self._nodes
            if isinstance(node, ast.Assign) and last_name(node.value) == last_name(node.targets[0])
        }
        read = {last_name(node) for node in named if isinstance(node.ctx, ast.Load) and id(node) not in kept}
        words = {node.value for node in self._nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        return [name for name in self._given if FALLING.search(name.lower()) and name not in read | words][:1]


def _has(value: ast.expr, name: str) -> bool:
    return any(isinstance(one, (ast.Attribute, ast.Name)) and last_name(one) == name for one in nodes_in(value))


def _chance(test: ast.expr) -> tuple[str, bool] | None:
    """The name that a draw is compared with, and whether the draw is to lie above it; None for anything else."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right, op = test.left, test.comparators[0], test.ops[0]
    if not isinstance(op, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return None
    for draw, chance, is_left in ((left, right, True), (right, left, False)):
        if isinstance(draw, ast.Call) and last_name(draw) in DRAWING and isinstance(chance, (ast.Attribute, ast.Name)):
            return last_name(chance), isinstance(op, (ast.Gt, ast.GtE)) == is_left
    return None


def _choice(
    line: int, chance: tuple[str, bool], body: Sequence[ast.AST], other: Sequence[ast.AST]
) -> Iterator[_Choice]:
    name, is_above = chance
    ways = [(_calls(CHOOSING, one), _calls(frozenset({"argmax"}), one)) for one in (body, other)]
    if ways == [(True, False), (False, True)]:
        yield _Choice(name, line, is_above)
    elif ways == [(False, True), (True, False)]:
        yield _Choice(name, line, not is_above)


def _calls(names: frozenset[str], block: Sequence[ast.AST]) -> bool:
    return any(isinstance(one, ast.Call) and last_name(one) in names for node in block for one in nodes_in(node))
