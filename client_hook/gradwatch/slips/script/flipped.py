"""Images that are turned in arrays without their masks: by NumPy, in the user's own source. Runs none of it.

Whoever turns all images once may bring them to the place of their masks. So a line tells only what leaves some as they
are: a turned copy beside the images, or a draw that decides. Whatever else is turned in the file may be the masks.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gradwatch.syntax import (
    FILES_KEPT,
    assigned_before,
    assignments,
    functions_around,
    last_name,
    names_in,
    nodes_in,
    nodes_of,
    nodes_of_type,
)

__all__ = ["find_flipped"]

FLIPPING: Final = frozenset(
    {"flip", "flip_left_right", "flip_up_down", "fliplr", "flipud", "rot90", "rotate", "warpAffine"}
)
LAYING: Final = frozenset({"append", "concat", "concatenate", "vstack"})
PAIRING: Final = frozenset({"fit", "from_tensor_slices", "train_test_split"})
DRAWING: Final = frozenset(
    {
        *("binomial", "bernoulli", "choice", "integers", "normal", "permutation", "rand", "randint", "randn"),
        *("random", "random_sample", "sample", "uniform"),
    }
)
PACKAGES: Final = frozenset({"cv2", "image", "ndimage", "np", "numpy", "ops", "scipy", "tf"})
WHOLE_RANK: Final = 4
FIRST, SECOND = 1, 2


class _Turn(NamedTuple):
    """What turns something, the name of that, and the statement that it stands in."""

    node: ast.expr
    root: str
    statement: ast.stmt


def find_flipped(file: str) -> Iterator[ast.expr]:
    """What turns one of two arrays that are fed as pairs, some of its rows or beside copies of them, and not the other.

    Args:
        file: the user's file that is looked at.
    """
    turns = _turns_in(file)
    roots = {turn.root for turn in turns}
    if len(roots) != 1:
        return  # none, or the other as well
    (root,) = roots
    for turn in turns:
        others = _beside_copies(turn, file) if _is_laid(turn, file) else _partners(turn, root, file)
        if others - {root}:
            yield turn.node


def _turns_in(file: str) -> list[_Turn]:
    """All that turns an array, those within a function of one thing where that is called."""
    nodes = nodes_of(file)
    around = functions_around(nodes)
    statements = {id(one): node for node in nodes if isinstance(node, ast.stmt) for one in nodes_in(node)}
    helpers: set[str] = set()
    found: list[_Turn] = []
    for node in nodes:
        subject = _subject_of(node, file)
        if subject is None or not isinstance(node, ast.expr):
            continue
        function = around.get(id(node))
        if function is not None and _is_helper(function, _root(subject)):
            helpers.add(function.name)
        else:
            found.append(_Turn(node, _root(subject), statements[id(node)]))
    calls = [one for one in nodes if isinstance(one, ast.Call) and last_name(one) in helpers and one.args]
    by_helpers = ((one, statements[id(one)]) for one in calls)
    return [*found, *(_Turn(one, _root(one.args[0], _taken_in(within)), within) for one, within in by_helpers)]


def _subject_of(node: ast.AST, file: str) -> ast.expr | None:
    """What a call, or a slice with a step of -1 along an axis of places, turns; None for anything else."""
    if isinstance(node, ast.Call) and last_name(node) in FLIPPING:
        return node.args[0] if node.args else None
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or not node.slice.elts:
        return None
    axes = node.slice.elts
    # Of `[:, :, ::-1]` it is not known whether it turns colours, but of what a mask picks of all samples.
    is_of_samples = len(axes) == WHOLE_RANK or _is_picked(node.value, file)
    places = [one for one in ((FIRST, SECOND) if is_of_samples else (FIRST,)) if one < len(axes)]
    is_whole = isinstance(axes[0], ast.Slice) and axes[0].step is None
    return node.value if is_whole and any(_is_reversed(axes[place]) for place in places) else None


def _is_picked(node: ast.expr, file: str) -> bool:
    """Whether it is what a mask of ones and zeros picks of an array."""
    mask = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(mask, ast.Name) and isinstance(assigned_before(mask, file), ast.Compare)


def _is_reversed(axis: ast.expr) -> bool:
    step = axis.step if isinstance(axis, ast.Slice) else None
    return step is not None and ast.unparse(step) == "-1"


def _is_helper(function: ast.FunctionDef, root: str) -> bool:
    """Whether a function draws, turns its first argument or what was made of it, and gives one thing."""
    arguments = [one.arg for one in function.args.args if one.arg != "self"]
    given = [one.value for one in nodes_in(function) if isinstance(one, ast.Return) and one.value is not None]
    is_one = bool(given) and not any(isinstance(one, ast.Tuple) for one in given)
    return is_one and arguments[:1] == [root] and any(map(_is_draw, nodes_in(function)))


def _taken_in(statement: ast.stmt) -> dict[str, ast.expr]:
    """What each name of a comprehension, or of a loop, is taken of."""
    parts = [one for one in nodes_in(statement) if isinstance(one, (ast.comprehension, ast.For))]
    return {one.target.id: one.iter for one in parts if isinstance(one.target, ast.Name)}


def _root(node: ast.expr, taken: Mapping[str, ast.expr] | None = None) -> str:
    """The name of the array that an expression is a part of, or has the numbers of; empty for anything else."""
    taken = taken or {}
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return ast.unparse(node)
        if isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        elif isinstance(node, ast.Call):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_method = owner is not None and last_name(owner) not in PACKAGES
            if not is_method and not node.args:
                return ""
            node = owner if is_method and owner is not None else node.args[0]
        elif isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
            node = node.left
        else:
            return ""
    return _root(taken[node.id]) if node.id in taken else node.id


def _is_draw(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node) in DRAWING


def _is_laid(turn: _Turn, file: str) -> bool:
    """Whether what is turned is laid behind what it was."""
    return bool(_laid_with(turn, file))


def _laid_with(turn: _Turn, file: str) -> list[ast.Call]:
    calls = [one for one in nodes_of_type(file, ast.Call) if last_name(one) in LAYING]
    found = []
    for call in calls:
        parts = _parts_of(call)
        plain = [one for one in parts if isinstance(one, ast.Name) and one.id == turn.root]
        turned = [one for one in parts if any(part is turn.node for part in nodes_in(_made_of(one, file)))]
        if len(plain) == 1 and len(turned) + 1 == len(parts):
            found.append(call)
    return found


def _parts_of(call: ast.Call) -> Sequence[ast.expr]:
    if last_name(call) == "append":
        return call.args[:2]
    first = call.args[0] if call.args else None
    return first.elts if isinstance(first, (ast.List, ast.Tuple)) else []


def _made_of(node: ast.expr, file: str) -> ast.expr:
    given = assigned_before(node, file) if isinstance(node, ast.Name) else None
    return node if given is None else given


def _beside_copies(turn: _Turn, file: str) -> set[str]:
    """The names of what is laid behind itself as it is, in as many parts."""
    n = len(_parts_of(_laid_with(turn, file)[0]))
    calls = [one for one in nodes_of_type(file, ast.Call) if last_name(one) in LAYING]
    names = [[one.id if isinstance(one, ast.Name) else "" for one in _parts_of(call)] for call in calls]
    return {one[0] for one in names if len(one) == n > 1 and len(set(one)) == 1 and one[0]}


def _partners(turn: _Turn, root: str, file: str) -> set[str]:
    """What is fed with an array of which a draw decides which rows are turned, and stays as it is from there on."""
    if not _is_drawn(turn, file):
        return set()
    function = functions_around(nodes_of(file)).get(id(turn.node))
    nodes = nodes_in(function) if function is not None else nodes_of(file)
    parts = _named_in(nodes)
    found: set[str] = set()
    for one, other in _pairs_in(nodes):
        names = [{name, parts.get(name, name)} for name in (one, other)]
        if root in names[0] and not names[0] & names[1]:
            is_kept = not any(_is_changed(name, root, turn.statement.lineno, nodes) for name in names[1])
            found |= {other} if other and is_kept and not _are_joined(names, nodes) else set()
    return found


def _is_drawn(turn: _Turn, file: str) -> bool:
    """Whether a draw decides what is turned, or how far."""
    nodes = nodes_of(file)
    tests = [node.test for node in nodes if isinstance(node, ast.If) and any(one is turn.node for one in _body(node))]
    ways = [*tests, turn.statement]
    drawn, helpers = _drawn_in(file)
    names = (one.id for way in ways for one in nodes_in(way) if isinstance(one, ast.Name))
    is_by_name = any(name in drawn - {turn.root} for name in names)
    is_by_draw = any(map(_is_draw, (one for way in ways for one in nodes_in(way))))
    is_by_helper = isinstance(turn.node, ast.Call) and last_name(turn.node) in helpers
    return is_by_name or is_by_draw or is_by_helper


@functools.lru_cache(maxsize=FILES_KEPT)
def _drawn_in(file: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that are given what a draw gives, and those of the functions that draw."""
    nodes = nodes_of(file)
    assigned = [node for node in nodes if isinstance(node, ast.Assign) and any(map(_is_draw, nodes_in(node.value)))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    drawn = {name.id for node in assigned for to in node.targets for name in names_in(to)}
    return frozenset(drawn), frozenset(one.name for one in functions if any(map(_is_draw, nodes_in(one))))


def _body(node: ast.If) -> Iterator[ast.AST]:
    return (one for part in (*node.body, *node.orelse) for one in nodes_in(part))


def _named_in(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Of names that are given a part of another, or lists that collect its parts, which that is."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for one, value in assignments(node):
                if isinstance(one, ast.Name) and _root(value) not in ("", one.id):
                    found.setdefault(one.id, _root(value))
        elif isinstance(node, ast.Call) and last_name(node) == "append" and isinstance(node.func, ast.Attribute):
            to_list = node.func.value
            if isinstance(to_list, ast.Name) and len(node.args) == 1:
                found.setdefault(to_list.id, _root(node.args[0]))
    return found


def _pairs_in(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names of what is fed as pairs, or given as such by a function."""
    for node in nodes:
        given: Sequence[ast.expr] = []
        if isinstance(node, ast.Call) and last_name(node) in PAIRING:
            is_tuple = len(node.args) == 1 and isinstance(node.args[0], ast.Tuple)
            given = node.args[0].elts if is_tuple else node.args  # type: ignore[attr-defined]
        elif isinstance(node, (ast.Return, ast.Yield)) and isinstance(node.value, ast.Tuple):
            given = node.value.elts
        if len(given) >= SECOND:
            yield _root(given[0]), _root(given[1])


def _is_changed(name: str, root: str, line: int, nodes: Sequence[ast.AST]) -> bool:
    """Whether an array is changed behind a line by more than a choice of its rows, or made of the other one there."""
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno >= line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            pairs = _named_in([node])
            for to in (one for target in targets for one in getattr(target, "elts", [target])):
                if _root(to) == name and pairs.get(name, root) == root:
                    return True
    return False


def _are_joined(names: Sequence[set[str]], nodes: Sequence[ast.AST]) -> bool:
    """Whether both go into one call that is none which feeds them: that may turn them together."""
    for node in nodes:
        if isinstance(node, ast.Call) and last_name(node) not in {*PAIRING, "zip", "len", "print"}:
            given = {_root(one) for one in (*node.args, *(part.value for part in node.keywords))}
            if all(given & one for one in names):
                return True
    return False
