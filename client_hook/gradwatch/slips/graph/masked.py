"""Words of number 0 where that is masked as padding, in the graph and in the user's own lines. Owns no state.

`Embedding(mask_zero=True)`, and a mask of ``x != 0``, leave out every 0. That is right where numbers of words begin at
1. A vocabulary that is counted by a bare `enumerate` begins at 0, and so do numbers that are drawn from 0 on: a word is
left out wherever it stands. Whether it stands among others is seen when the step runs. Where 0 may be what is unknown,
or was taken away on purpose, nothing is told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import layer_of, source_at, source_of
from gradwatch.syntax import last_name, names_in, nodes_in, nodes_of

__all__ = ["find_masked"]

Tensor = Any  # tensorflow ships no types
_GATHERING: Final = frozenset({"GatherV2", "ResourceGather"})
_PASSING: Final = frozenset({"Cast", "Identity", "SelectV2"})
_DRAWING: Final = frozenset({"choice", "integers", "randint"})
_RANGES: Final = frozenset({"arange", "linspace", "range"})
GIVEN_DEPTH: Final = 2
"""Names that a size goes by, one for the other."""
_NO_WORDS: Final = re.compile(r"\W*(pad|padding|unk|unknown|oov|mask|blank|none|na|nan|null|missing)\W*", re.IGNORECASE)
"""Entries of a vocabulary that are none."""


def find_masked(forward: Sequence[Any], layer_paths: Sequence[str], files: Sequence[str]) -> list[dict[str, Any]]:
    """The first mask of all that is not 0 among numbers of words that begin at 0; no slip, unless 0 is among them.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.
        files: the user's files that are looked at.

    Returns:
        Type (``Omission``), name, layer, the line of the `Embedding` that masks, or of the mask, and ``omits``:
        ``Embedding`` or ``x != 0``; none unless the file has one table of words alone.
    """
    words = {id(_root(op.inputs[1])) for op in forward if op.type in _GATHERING}
    op = next((op for op in forward if _is_mask(op) and id(_root(op.inputs[0])) in words), None)
    found = None if op is None else next(_tables_from_zero(files), None)
    if op is None or found is None:
        return []
    file, table = found
    is_own = _masks_zero(table)
    place = source_at([(file, table.lineno)]) if is_own else source_of(op)
    known = {"layer": layer_of(op.name, layer_paths), "source": place, "omits": "Embedding" if is_own else "x != 0"}
    return [{"type": "Omission", "name": op.name, **known}]


def _root(tensor: Tensor) -> Tensor:
    """What was given; numbers below 0, which Keras counts from the end, are put right on the way."""
    while tensor.op.type in _PASSING:
        tensor = tensor.op.inputs[-1]
    return tensor


def _is_mask(op: Any) -> bool:
    """Whether an operation compares sequences of whole numbers with 0."""
    if op.type != "NotEqual" or op.inputs[0].shape.rank != 2 or not op.inputs[0].dtype.is_integer:
        return False
    other = tf.get_static_value(op.inputs[1])
    return other is not None and other.size == 1 and not other.any()


def _masks_zero(call: ast.Call) -> bool:
    given = {one.arg: one.value for one in call.keywords}
    return isinstance(given.get("mask_zero"), ast.Constant) and bool(given["mask_zero"].value)  # type: ignore[attr-defined]


def _tables_from_zero(files: Sequence[str]) -> Iterator[tuple[str, ast.Call]]:
    """The only call of `Embedding` in a file, or the only one that masks, if the numbers of its words begin at 0."""
    for file in files:
        nodes = nodes_of(file)
        calls = [node for node in nodes if isinstance(node, ast.Call) and last_name(node) == "Embedding"]
        tables = [one for one in calls if _masks_zero(one)] or calls
        if len(tables) != 1 or any(map(_may_empty, nodes)):
            continue
        sizes = [*tables[0].args[:1], *(one.value for one in tables[0].keywords if one.arg == "input_dim")]
        for _ in range(GIVEN_DEPTH):  # `len(words)`, or a name for it, and what that name was given
            names = {one.id for size in sizes for one in names_in(size)}
            sizes += [one.value for one in nodes if isinstance(one, ast.Assign) and names & _names_of(one)]
            sizes += [one for node in nodes for one in _passed(node, names, nodes)]
        within = [one for size in sizes for one in nodes_in(size)]
        beside = {id(one) for node in nodes for one in _counting(node)}.union(map(id, within))
        if any(map(_adds_row, within)) and any(_adds(one) and id(one) not in beside for one in nodes):
            continue  # a table with a row more, and numbers that one is added to
        names = {one.id for size in sizes for one in names_in(size)}
        if any(names & _counted_in(node) for node in nodes) or any(_draws(node, sizes) for node in nodes):
            yield file, tables[0]


def _passed(node: ast.AST, names: Set[str], nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """What a file's calls pass to a function as one of these names."""
    if isinstance(node, ast.FunctionDef) and (own := [one.arg for one in node.args.args]):
        for call in nodes:
            if isinstance(call, ast.Call) and last_name(call) == node.name:
                given = dict(zip(own, call.args, strict=False)) | {one.arg: one.value for one in call.keywords}
                yield from (given[name] for name in names & set(own) if name in given)


def _adds(node: ast.AST) -> bool:
    """Whether a number is added that stands there."""
    added = [node.left, node.right] if isinstance(node, ast.BinOp) else [getattr(node, "value", None)]
    is_sum = isinstance(node, (ast.AugAssign, ast.BinOp)) and isinstance(node.op, ast.Add)
    return is_sum and any(isinstance(one, ast.Constant) for one in added)


def _adds_row(node: ast.AST) -> bool:
    """The same, but for the largest of the numbers and 1, which is how many they are."""
    return _adds(node) and not (isinstance(node, ast.BinOp) and "max" in map(last_name, _calls_in(node)))


def _calls_in(node: ast.AST) -> list[ast.Call]:
    return [one for one in nodes_in(node) if isinstance(one, ast.Call)]


def _counting(node: ast.AST) -> Iterator[ast.AST]:
    """What a line counts by, draws up to, or cuts at: no number of a word."""
    if isinstance(node, ast.Call) and last_name(node) in _DRAWING | _RANGES:
        yield from (inner for one in node.args for inner in nodes_in(one))
    elif isinstance(node, ast.Slice):
        yield from nodes_in(node)


def _names_of(node: ast.Assign) -> set[str]:
    return {one.id for one in node.targets if isinstance(one, ast.Name)}


def _counted_in(node: ast.AST) -> set[str]:
    """The names of a vocabulary, and of its words, in ``vocabulary = {word: i for i, word in enumerate(words)}``."""
    made = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(node, ast.Assign) or not isinstance(made, ast.DictComp) or len(made.generators) != 1:
        return set()
    loop = made.generators[0]
    number, *words = [[one.id for one in names_in(part)] for part in getattr(loop.target, "elts", ())] or [[]]
    is_bare = isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1 and not loop.iter.keywords
    is_counted = is_bare and last_name(loop.iter) == "enumerate"
    is_of_words = len(words) == 1 and getattr(made.key, "id", "") in words[0]
    if not is_counted or not is_of_words or [getattr(made.value, "id", "")] != number:
        return set()
    return _names_of(node) | {one.id for one in names_in(loop.iter)} - {"enumerate"}


def _draws(node: ast.AST, sizes: Sequence[ast.expr]) -> bool:
    """Whether numbers are drawn from 0 on to as many as a table has rows."""
    if not isinstance(node, ast.Call) or last_name(node) not in _DRAWING or not node.args:
        return False
    is_from_zero = isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    high = node.args[1] if is_from_zero and len(node.args) > 1 else node.args[0]
    is_low = not is_from_zero and len(node.args) > 1 and last_name(node) != "choice"
    return not is_low and ast.dump(high) in {ast.dump(one) for one in sizes}


def _may_empty(node: ast.AST) -> bool:
    """Whether a line may put 0 in the place of a word: of one that is not known, or to be left out."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _NO_WORDS.fullmatch(node.value) is not None
    if isinstance(node, ast.IfExp):  # between two numbers that stand there no word is chosen
        is_plain = isinstance(node.body, ast.Constant) and isinstance(node.orelse, ast.Constant)
        return not is_plain and (_is_zero(node.body) or _is_zero(node.orelse))
    if isinstance(node, ast.Assign):
        places = [one.slice for one in node.targets if isinstance(one, ast.Subscript)]
        return _is_zero(node.value) and any(not any(map(_is_slice, nodes_in(one))) for one in places)
    if not isinstance(node, ast.Call):
        return False
    of = last_name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    is_of_unknown = last_name(node) == "get" and of != "environ" and any(map(_is_zero, node.args[1:]))
    is_chosen = last_name(node) == "where" and any(map(_is_zero, node.args[1:]))
    return is_of_unknown or is_chosen or last_name(node) == "defaultdict"


def _is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Slice)


def _is_zero(node: ast.expr) -> bool:
    is_zero = isinstance(node, ast.Constant) and node.value == 0
    return is_zero or (isinstance(node, ast.Call) and last_name(node) in ("zeros_like", "zeros"))
