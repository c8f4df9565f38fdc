"""Inputs and targets that a script feeds as pairs and that are none, by its own lines. Runs none of them.

Of a pair of names one says that it is of the training, the other of the test; rows are cut off at other ends; a noisy
array is to be learned as it is. Owns no state.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from gradwatch.origin import source_at
from gradwatch.syntax import (
    FILES_KEPT,
    assigned_before,
    functions_around,
    last_name,
    names_in,
    nodes_in,
    nodes_of,
    nodes_of_type,
    stored_names,
)

__all__ = ["find_mispaired"]

TAKING: Final = frozenset({"evaluate", "fit"})
PARTS: Final = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("dev", "val", "valid", "validation"), "validation"),
    **dict.fromkeys(("test", "testing", "tst"), "test"),
}
"""Words of a name that say which part of the data it is of."""
DRAWS: Final = frozenset({"gauss", "normal", "rand", "randn", "random", "standard_normal", "uniform"})
NOISY: Final = re.compile(r"(?i)nois(y|ed)|corrupt")
"""A name that tells that the noise is no part of the data."""
CUTTING: Final = frozenset({"clip", "clip_by_value", "maximum", "minimum"})
STATEMENTS_MAX: Final = 4
"""That an array is followed back through."""
SHIFT_MAX: Final = 32
"""Rows: more are no step of a series."""


class _Pair(NamedTuple):
    """What a call is given as inputs and as targets."""

    inputs: ast.expr
    targets: ast.expr
    is_fit: bool


class _Noisy(NamedTuple):
    """What a noisy array is made of, and whether all samples have one noise."""

    clean: str
    is_one: bool


class _Cut(NamedTuple):
    """The rows of an array that are taken: up to, or from, a place that is counted from its beginning or its end."""

    base: str
    is_upper: bool
    is_of_end: bool
    place: str
    node: ast.expr


def find_mispaired(files: Sequence[str]) -> list[dict[str, Any]]:
    """Pairs of inputs and targets that do not belong together.

    Args:
        files: the user's files that are looked at.

    Returns:
        The first of each, type ``Data``, no name, no layer, the source line: ``mixed``: inputs and targets, as they are
        written, of which one is of another part of the data, or, with ``cut`` (True), of other rows; ``noisy``: the
        name of a noisy array, ``clean``: the one that it is made of, and ``as``: ``both`` where it is its own target,
        ``target`` where it is that of the clean one, ``alike`` where it has one noise in all samples.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        pairs = list(_pairs_in(file))
        noisy = _noisy_in(file) if pairs else {}
        for one in (*_of_parts(pairs), *_of_cuts(pairs, file), *_of_noise(pairs, noisy, file)):
            line = one.pop("line")
            slip = {"type": "Data", "name": "", "layer": "", "source": source_at([(file, line)])}
            found.setdefault("mixed" if "mixed" in one else "noisy", slip | one)
    return list(found.values())


def _pairs_in(file: str) -> Iterator[_Pair]:
    for call in nodes_of_type(file, ast.Call):
        name, named = last_name(call), {one.arg: one.value for one in call.keywords}
        given: list[ast.expr] = []
        if name in TAKING and isinstance(call.func, ast.Attribute):
            given = [*call.args[:2], *(named[key] for key in ("x", "y") if key in named)]
        elif name == "from_tensor_slices" and call.args and isinstance(call.args[0], ast.Tuple):
            given = call.args[0].elts[:2]
        if len(given) == 2 and not any(isinstance(one, ast.Starred) for one in given):
            # A scaler or a classifier of another package may be fitted without any of Keras' arguments.
            yield _Pair(given[0], given[1], name == "fit" and bool(call.keywords))
        held = named.get("validation_data")
        if isinstance(held, ast.Tuple) and len(held.elts) >= 2:
            yield _Pair(held.elts[0], held.elts[1], is_fit=False)


def _of_parts(pairs: Sequence[_Pair]) -> Iterator[dict[str, Any]]:
    for pair in pairs:
        parts = [_part_of(one) for one in pair[:2]]
        if None not in parts and parts[0] != parts[1]:
            names = [ast.unparse(one) for one in pair[:2]]
            # Of one name but for the part, as train_images and test_images, neither is the other's target.
            if len({_without_part(name) for name in names}) > 1:
                yield {"mixed": names, "line": pair.targets.lineno}


def _part_of(node: ast.expr) -> str | None:
    """The part of the data that an array is of, by its name; None where that is not told, or told twice."""
    while isinstance(node, ast.Subscript):
        node = node.value
    words = re.findall(r"[A-Z]?[a-z]+", node.id) if isinstance(node, ast.Name) else []
    if {"is", "std"} & set(words):  # a deviation, and what says of each sample which part it is of
        return None
    parts = [PARTS[word.lower()] for word in words if word.lower() in PARTS]
    return parts[0] if len(parts) == 1 else None


def _without_part(name: str) -> str:
    return re.sub(r"[A-Z]?[a-z]+", lambda word: "" if word[0].lower() in PARTS else word[0].lower(), name)


def _of_cuts(pairs: Sequence[_Pair], file: str) -> Iterator[dict[str, Any]]:
    for pair in pairs:
        one, other = (_cut_of(node, file) for node in pair[:2])
        if one is None or other is None or one.base == other.base or one.place != other.place:
            continue
        is_same = one.is_upper == other.is_upper and one.is_of_end == other.is_of_end
        # x[:-n] and y[n:] may be a series and what comes n steps later, unless the n last rows are held out.
        is_shift = one.is_upper != other.is_upper and one.is_of_end != other.is_of_end
        is_shift &= one.is_upper == one.is_of_end
        # n rows from the beginning and the n last ones are a series and what comes later, where n is all that there is.
        is_shift |= (
            one.is_upper and not one.is_of_end and other.is_of_end and not other.is_upper and not one.place.isdigit()
        )
        is_same |= one.is_upper == other.is_upper and one.is_of_end != other.is_of_end
        if not is_same and (not is_shift or _is_held_out(one if one.is_of_end else other, file)):
            yield {"mixed": [ast.unparse(cut.node) for cut in (one, other)], "cut": True, "line": other.node.lineno}


def _cut_of(node: ast.expr, file: str) -> _Cut | None:
    for _ in range(STATEMENTS_MAX):
        while isinstance(node, ast.BinOp):  # arithmetic leaves the rows where they are
            node = node.left
        if not isinstance(node, ast.Name):
            break
        node = assigned_before(node, file) or _one_of_several(node, file) or node
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    part = node.slice
    bounds = [part.lower, part.upper] if isinstance(part, ast.Slice) and part.step is None else []
    given = [one for one in bounds if one is not None]
    if len(given) != 1 or not isinstance(part, ast.Slice):
        return None
    is_of_end = isinstance(given[0], ast.UnaryOp) and isinstance(given[0].op, ast.USub)
    place = given[0].operand if isinstance(given[0], ast.UnaryOp) else given[0]
    return _Cut(node.value.id, part.upper is not None, is_of_end, ast.unparse(place), node)


def _one_of_several(name: ast.Name, file: str) -> ast.expr | None:
    """What a name was given last before its line, where that statement gives several names something each."""
    stores, around = _stores_in(file)
    before = [node for node in stores.get(name.id, []) if node.lineno < name.lineno]
    to = before[-1].targets[0] if before else None
    value = before[-1].value if before else None
    if not isinstance(to, ast.Tuple) or not isinstance(value, ast.Tuple) or len(to.elts) != len(value.elts):
        return None
    if around.get(id(before[-1])) is not around.get(id(name)):
        return None
    names = [one.id if isinstance(one, ast.Name) else "" for one in to.elts]
    return value.elts[names.index(name.id)] if name.id in names else None


@functools.lru_cache(maxsize=FILES_KEPT)
def _stores_in(file: str) -> tuple[dict[str, list[ast.Assign]], dict[int, ast.FunctionDef]]:
    """The statements that give each name something, and the function that each node stands in."""
    stores: dict[str, list[ast.Assign]] = defaultdict(list)
    for node in nodes_of(file):
        if isinstance(node, ast.Assign):
            for name in stored_names(node):
                stores[name].append(node)
    return dict(stores), functions_around(nodes_of(file))


def _is_held_out(cut: _Cut, file: str) -> bool:
    """Whether the rows of an array that a cut leaves out are taken elsewhere, and are more than a few."""
    if not cut.place.isdigit() or int(cut.place) < SHIFT_MAX:
        return False
    cuts = (_cut_of(node, file) for node in nodes_of_type(file, ast.Subscript))
    wanted = (cut.base, not cut.is_upper, cut.is_of_end, cut.place)
    return any(one is not None and one[:4] == wanted for one in cuts)


def _noisy_in(file: str) -> dict[str, _Noisy]:
    """Arrays that are named noisy and made of others and of random numbers, by their names."""
    found: dict[str, _Noisy] = {}
    for node in nodes_of_type(file, ast.Assign):
        to, value = node.targets[0], node.value
        if isinstance(value, ast.Call) and last_name(value) in CUTTING and value.args:
            value = value.args[0]
        is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)
        if not isinstance(to, ast.Name) or not isinstance(value, ast.BinOp) or not is_sum or not NOISY.search(to.id):
            continue
        draws = [call for call in _behind(value.right, file) if last_name(call) in DRAWS]
        if isinstance(value.left, ast.Name) and value.left.id != to.id and draws:
            sizes = {ast.unparse(one) for call in draws for one in (*call.args, *(key.value for key in call.keywords))}
            found[to.id] = _Noisy(value.left.id, f"{value.left.id}.shape[1:]" in sizes)
    return found


def _behind(node: ast.expr, file: str) -> Iterator[ast.Call]:
    """The calls in an expression, and in what its names were given."""
    parts = [node, *(one for name in names_in(node) if (one := assigned_before(name, file)) is not None)]
    return (one for part in parts for one in nodes_in(part) if isinstance(one, ast.Call))


def _of_noise(pairs: Sequence[_Pair], noisy: dict[str, _Noisy], file: str) -> Iterator[dict[str, Any]]:
    for pair in (one for one in pairs if one.is_fit):
        x, y = (one.id if isinstance(one, ast.Name) else "" for one in pair[:2])
        line = pair.targets.lineno
        if x in noisy and x == y and _is_wanted(noisy, file):
            yield {"noisy": x, "clean": noisy[x].clean, "as": "both", "line": line}
        elif y in noisy and noisy[y].clean == x and not _is_grid(pair.inputs, file):
            yield {"noisy": y, "clean": x, "as": "target", "line": line}
        elif x in noisy and noisy[x].clean == y and noisy[x].is_one:
            yield {"noisy": x, "clean": y, "as": "alike", "line": line}


def _is_grid(node: ast.expr, file: str) -> bool:
    """Whether inputs are places along a line, and what is noisy there the measurements of a function."""
    return any(last_name(call) in ("arange", "linspace") for call in _behind(node, file))


def _is_wanted(noisy: dict[str, _Noisy], file: str) -> bool:
    """Whether a clean array is read for anything but to make a noisy one, or itself, of it."""
    clean = {one.clean for one in noisy.values()}
    making = clean | set(noisy)
    inner: set[int] = set()
    for node in nodes_of(file):
        to = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else node.target
            if isinstance(node, ast.AugAssign)
            else None
        )
        is_made = isinstance(to, ast.Name) and (to.id in making or _is_drawn(node))
        if is_made or (isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim", "dtype")):
            inner |= {id(one) for one in names_in(node)}
        if isinstance(node, ast.Call) and last_name(node) in ("len", "print", "shape"):
            inner |= {id(one) for one in names_in(node)}
    names = (node for node in nodes_of_type(file, ast.Name) if isinstance(node.ctx, ast.Load))
    return any(one.id in clean and id(one) not in inner for one in names)


def _is_drawn(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and last_name(one) in DRAWS for one in nodes_in(node))
