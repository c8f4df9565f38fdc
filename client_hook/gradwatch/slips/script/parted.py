"""Arrays and data sets that are fed as pairs, and of which one was put into another order, in the user's own files.

Runs none of it.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import frames_of
from gradwatch.slips.script.fed import (
    array_name,
    chain_of,
    data_slip,
    draws_in_map,
    first_of,
    held_as,
    is_within,
    keyword,
    known_array,
    known_to_fit,
    slip_by_method,
    subject_of,
)
from gradwatch.syntax import assignments, last_name, names_in, nodes_in, nodes_of, nodes_of_type
from gradwatch.target import has_keras_losses, has_keras_step, losses_of

__all__ = ["find_parted"]

PAIRING: Final = frozenset({"fit", "from_tensor_slices"})
SHARING: Final = PAIRING | {"train_test_split"}
DRAWING: Final = frozenset({"np.random", "numpy.random", "random", "tf.random"})
"""What draws from a state that all share."""
GENERATORS: Final = (np.random.Generator, np.random.RandomState, random.Random)
ROWS_COMPARED: Final = 16
"""Of two arrays that may be one."""
N_PARTS: Final = {"shuffle": 1, "train_test_split": 2}
"""Functions of scikit-learn's that put an array's rows into a random order, and how many arrays they make of it."""
OF_SKLEARN: Final = frozenset(N_PARTS)
SEEDING: Final = ("seed", "state")


def find_parted(files: Sequence[str]) -> list[dict[str, Any]]:
    """Pairs that are none any more, since one side of them was moved, shuffled, filtered or cut by itself.

    Args:
        files: the user's files that are looked at.

    Returns:
        Each with type (``Data``), no name, no layer and the source line, the first of each kind: ``moved``: the
        name of one of two arrays that are fed as pairs, whose rows were put into another order alone, or after that of
        its ``partner``, and by another order; or (``split_apart``, True) by a split or shuffle of scikit-learn's of
        each; ``filtered`` (True): of data sets of as many elements each that are put together by ``zip`` some are
        filtered, the others not; ``trimmed``: the name of an array that is cut to the length of another one, of which
        rows were ``picked``, and ``by`` what; ``unmatched`` (True): of two data sets that are put together by ``zip``
        each is shuffled by itself, inputs and targets or two views of one.
    """
    return first_of(
        (
            _parted,
            _both_moved,
            _moved_within,
            _split_apart,
            _filtered,
            _trimmed,
            _unmatched,
        ),
        files,
    )


def _parted(file: str) -> Iterator[dict[str, Any]]:
    made, moved = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    orders = _orders_of_one(file)
    for node in nodes_of(file):
        if (name := _moved(node) or _moved_by(node, orders)) is not None:
            moved[name].append(node.lineno)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Assign):
            for one in (one for to in node.targets for one in names_in(to) if isinstance(one.ctx, ast.Store)):
                made[one.id].append(node.lineno)
    assigned = (one for node in nodes_of_type(file, ast.Assign) for one in assignments(node))
    roots = {to.id: (_root(value), to.lineno) for to, value in assigned if isinstance(to, ast.Name)}
    for call in (node for node in nodes_of_type(file, ast.Call) if last_name(node) in PAIRING):
        for pair in _pairs_of(call):
            # Parts that are made behind the move, of the training and of the validation, are moved with the whole.
            (of_one, line), (of_other, at) = (roots.get(name, (None, 0)) for name in pair)
            for (alone, other), before in ((pair, call.lineno), ((str(of_one), str(of_other)), min(line, at))):
                is_alone = len(moved[alone]) == 1 and not moved[other] and made[alone] and made[other]
                is_between = is_alone and max(min(made[alone]), *made[other]) < moved[alone][0] < before
                if is_between and _is_array(alone, other, file):
                    yield data_slip(file, moved[alone][0], moved=alone)


def _orders_of_one(file: str) -> set[str]:
    """The names of random orders by which a file puts the rows of one array, and which it reads for nothing else."""
    nodes = nodes_of(file)
    shuffled = [name for node in nodes if isinstance(node, ast.Expr) and (name := _moved(node)) is not None]
    drawn = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    permuted = [to for node in drawn if last_name(node.value) == "permutation" for to in node.targets]
    reads = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    names = {*shuffled, *(to.id for to in permuted if isinstance(to, ast.Name))}
    return {name for name in names if reads[name] - shuffled.count(name) == 1}


def _moved_by(node: ast.AST, orders: Set[str]) -> str | None:
    """The array whose rows a statement puts into one of these orders; None for any other statement."""
    value, to = (node.value, node.targets[0]) if isinstance(node, ast.Assign) else (None, None)
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Name) or value.slice.id not in orders:
        return None
    of = value.value
    return of.id if isinstance(of, ast.Name) and isinstance(to, ast.Name) and of.id == to.id else None


def _moved_within(file: str) -> Iterator[dict[str, Any]]:
    """The lines by which a data set of the user's own puts what it gives as pairs into two random orders."""
    for made in nodes_of_type(file, ast.ClassDef):
        pairs = {pair for node in nodes_in(made) if isinstance(node, ast.Return) and (pair := _parts_of_self(node))}
        for function in (node for node in nodes_in(made) if isinstance(node, ast.FunctionDef)):
            moves = [(i, *move) for i, node in enumerate(function.body) if (move := _moved_of_self(node)) is not None]
            for (first, one, by), (second, other, by_other) in itertools.combinations(moves, 2):
                seeds = any(_may_seed(node, by) for node in function.body[first + 1 : second])
                if by == by_other and not seeds and pairs & {(one, other), (other, one)}:
                    line = function.body[second].lineno
                    yield data_slip(file, line, moved=f"self.{other}", partner=f"self.{one}")


def _moved_of_self(node: ast.stmt) -> tuple[str, str] | None:
    """The attribute whose rows a statement puts into a random order, and what draws that; None for any other statement.

    What a call makes, such as ``RandomState(0)``, may draw the same order each time.
    """
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or last_name(call) != "shuffle" or len(call.args) != 1 or call.keywords:
        return None
    name = _of_self(call.args[0])
    if name is None or not isinstance(call.func, ast.Attribute):
        return None
    by = call.func.value
    return None if any(isinstance(part, ast.Call) for part in nodes_in(by)) else (name, ast.unparse(by))


def _of_self(node: ast.expr) -> str | None:
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own else None  # type: ignore[attr-defined]


def _parts_of_self(node: ast.Return) -> tuple[str, str] | None:
    """The two attributes of which a function gives back the same rows; None where it gives back anything else."""
    given = node.value.elts if isinstance(node.value, ast.Tuple) else []
    parts = [one for one in given if isinstance(one, ast.Subscript)]
    names = [name for one in parts if (name := _of_self(one.value))]
    is_pair = len(names) == len(given) == 2 and ast.dump(parts[0].slice) == ast.dump(parts[1].slice)
    return (names[0], names[1]) if is_pair and names[0] != names[1] else None


def _both_moved(file: str) -> Iterator[dict[str, Any]]:
    nodes, running = nodes_of(file), list(frames_of(file))
    blocks = [getattr(node, part, None) for node in nodes for part in ("body", "orelse")]
    for block in (one for one in blocks if isinstance(one, list)):
        moves = [(place, name, by) for place, one in enumerate(block) for name, by in _moves(one, running)]
        for (first, one, by), (second, other, by_other) in itertools.combinations(moves, 2):
            between = block[first + 1 : second]
            if one == other or by != by_other or any(_may_seed(node, by) for node in between):
                continue
            line = block[second].lineno
            if any(_are_fed(names, block[first].lineno, line, file) for names in ((one, other), (other, one))):
                yield data_slip(file, line, moved=other, partner=one)


def _moves(node: ast.stmt, running: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The arrays whose rows a statement puts into a random order, and what draws that, where that is known."""
    parts: list[ast.stmt] = [node]
    to, value = (node.targets[0], node.value) if isinstance(node, ast.Assign) else (None, None)
    if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple) and len(to.elts) == len(value.elts):
        parts = [ast.Assign([one], given) for one, given in zip(to.elts, value.elts, strict=True)]
    for part in parts:
        name, call = _moved(part), getattr(part, "value", None)
        call = call.slice if isinstance(call, ast.Subscript) else call
        if name is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
            continue
        by = ast.unparse(call.func.value)
        if by in DRAWING or any(isinstance(held_as(by, frame), GENERATORS) for frame in running):
            yield name, by


def _split_apart(file: str) -> Iterator[dict[str, Any]]:
    """The lines that split or shuffle targets by themselves, as the inputs were before, in another random order."""
    nodes = nodes_of(file)
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sklearn"))
    known = {alias.asname or alias.name for node in imports for alias in node.names} & OF_SKLEARN
    blocks = [getattr(node, part, None) for node in nodes for part in ("body", "orelse")] if known else []
    for block in (one for one in blocks if isinstance(one, list)):
        splits = [(place, *one) for place, node in enumerate(block) if (one := _split(node, known)) is not None]
        for (first, parts, call), (second, others, other) in itertools.combinations(splits, 2):
            if array_name(call.args[0]) == array_name(other.args[0]) or not _are_apart(
                call, other, block[first + 1 : second]
            ):
                continue
            pairs = [pair for one in zip(parts, others, strict=False) for pair in itertools.permutations(one)]
            if any(_are_fed_behind(pair, block[second].lineno, file) for pair in pairs):  # type: ignore[arg-type]
                yield data_slip(file, block[second].lineno, moved=others[0], partner=parts[0], split_apart=True)


def _split(node: ast.stmt, known: set[str]) -> tuple[list[str], ast.Call] | None:
    """What a statement makes of one array by a split or a shuffle, and its call; None for any other statement."""
    call = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in known:
        return None
    to = node.targets[0]  # type: ignore[attr-defined]
    names = [one.id for one in (to.elts if isinstance(to, ast.Tuple) else [to]) if isinstance(one, ast.Name)]
    is_usual = (
        len(call.args) == 1 and array_name(call.args[0]) is not None and None not in {k.arg for k in call.keywords}
    )
    is_ordered = keyword(call, "shuffle") is not None  # or is not: that is not known
    return (names, call) if is_usual and not is_ordered and len(names) == N_PARTS[call.func.id] else None


def _are_apart(call: ast.Call, other: ast.Call, between: Sequence[ast.stmt]) -> bool:
    """Whether two calls cannot draw the same order."""
    if last_name(call) != last_name(other):
        return False
    if (keyword(call, "stratify") is None) != (keyword(other, "stratify") is None):
        return True
    seeds = [one or ast.Constant(None) for one in (keyword(call, "random_state"), keyword(other, "random_state"))]
    values = [one.value for one in seeds if isinstance(one, ast.Constant)]
    if values == [None, None]:
        return not any(_may_seed(node, "") for node in between)
    return len(values) == 2 and values[0] != values[1]  # else by a name


def _may_seed(node: ast.stmt, by: str) -> bool:
    """Whether a statement may put what draws back into a state in which it was."""
    calls = [node.value] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else []
    is_call = any(isinstance(one.func, ast.Name) and one.func.id != "print" for one in calls)
    is_made = any(one.id == by and isinstance(one.ctx, ast.Store) for one in names_in(node))
    return is_call or is_made or any(word in ast.unparse(node) for word in SEEDING)


def _are_fed(names: tuple[str, str], first: int, last: int, file: str) -> bool:
    """Whether inputs and targets that were made before these lines, and are no others behind them, are fed as pairs."""
    given = [node for node in nodes_of_type(file, ast.Assign) if node.lineno < first]
    before = {to.id for node in given for target in node.targets for to in names_in(target)}
    return before.issuperset(names) and _are_fed_behind(names, last, file)


def _are_fed_behind(names: tuple[str, str], last: int, file: str) -> bool:
    """Whether inputs and targets are fed as pairs behind a line, and are no others there."""
    given = nodes_of_type(file, ast.Assign)
    assigned = [(to.id, one) for one in given for target in one.targets for to in names_in(target)]
    others = {
        name for name, node in assigned if node.lineno > last and all(one.id != name for one in names_in(node.value))
    }
    if others & set(names):
        return False
    parts = {to.id: _root(value) for node in given for to, value in assignments(node) if isinstance(to, ast.Name)}
    for call in (node for node in nodes_of_type(file, ast.Call) if node.lineno > last):
        record = {one if one in names else str(parts.get(one)) for one in _recorded(call)}
        if record.issuperset(names):
            others = record.difference(names)
            return any(_are_of_records([held_as(one, frame) for one in (*names, *others)]) for frame in frames_of(file))
        fed = _fed_by(call)
        if fed is None or tuple(one if one in names else parts.get(one) for one in fed) != names:
            continue
        for frame in frames_of(file):
            rows = [held_as(one, frame) for one in fed]
            is_fitted = last_name(call) == "fit" and not _are_alike(*rows)
            if all(map(_is_of_rows, rows)) and (is_fitted or _is_of_labels(*rows)):
                # A loss of the user's own may compare the two as wholes, in whatever order they are.
                model = known_to_fit().get("self")
                return not losses_of(model) or has_keras_losses(model)
    return False


def _root(node: ast.expr | None) -> str | None:
    """The name of the array that an expression is a part of, or the numbers of; None for anything else."""
    while node is not None and not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = subject_of(node)
        elif isinstance(node, ast.BinOp):
            node = node.left
        else:
            node = node.value if isinstance(node, ast.Subscript) else None
    return None if node is None else node.id


def _fed_by(call: ast.Call) -> tuple[str, str] | None:
    """The names of inputs and targets that a call takes as pairs: whole arrays, or the same rows of both."""
    given = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple) else call.args
    parts = [one.slice for one in given[:2] if isinstance(one, ast.Subscript)]
    is_alike = len(parts) == 2 and ast.dump(parts[0]) == ast.dump(parts[1])
    names = [array_name(one) for one in given[:2]]
    if len(names) != 2 or None in names or not (is_alike or last_name(call) in SHARING):
        return None
    return str(names[0]), str(names[1])


def _recorded(call: ast.Call) -> set[str]:
    """The names of arrays that a call takes as the parts of each sample, by keys."""
    if last_name(call) not in PAIRING:
        return set()
    given = [one for part in call.args for one in (part.elts if isinstance(part, ast.Tuple) else [part])]
    values = [value for one in given if isinstance(one, ast.Dict) for value in one.values]
    return {name for value in values if (name := array_name(value)) is not None}


def _are_of_records(values: Sequence[Any]) -> bool:
    """Whether the first two of some arrays hold a part of each sample: as many rows, one of them a number or word each.

    Of images, or the like, there may be two kinds that are no pairs. What holds the numbers of another one in another
    order is drawn from it, as what a user did not choose is.
    """
    arrays = [np.asarray(known_array(value)) for value in values]
    (n_rows, *_), (n_others, *_) = (one.shape or (0,) for one in arrays[:2])
    if n_rows != n_others or not n_rows or min(one.ndim for one in arrays[:2]) > 1:
        return False
    flat = [np.sort(one) for one in arrays if one.ndim == 1]
    return not any(np.array_equal(*pair) for pair in itertools.combinations(flat, 2))


def _is_of_rows(value: Any) -> bool:
    return isinstance(value, list) or len(np.shape(known_array(value))) > 0


def _are_alike(inputs: Any, targets: Any) -> bool:
    """Whether two arrays hold images, or the like, of one shape: these may be of two kinds, and no pairs."""
    shapes = [np.shape(known_array(one))[1:] for one in (inputs, targets)]
    return shapes[0] == shapes[1] and len(shapes[0]) > 1


def _is_of_labels(inputs: Any, targets: Any) -> bool:
    """Whether of two arrays the second holds a number, or a class, for each row of the first."""
    if isinstance(inputs, list) or isinstance(targets, list):
        return False
    wide, narrow = np.shape(inputs), np.shape(targets)
    return len(wide) > 1 and math.prod(wide[1:]) > 1 and narrow in ((wide[0],), (wide[0], 1))


def _unmatched(file: str) -> Iterator[dict[str, Any]]:
    model = known_to_fit().get("self")
    is_so = _are_shuffled_apart if has_keras_step(model) and has_keras_losses(model) else _are_views_apart
    yield from slip_by_method(file, "zip", is_so, unmatched=True)


def _are_shuffled_apart(data: Any) -> bool:
    """Whether a data set is made of inputs and targets, and each was shuffled in an order of its own."""
    return bool(_find_apart(data))


def _are_views_apart(data: Any) -> bool:
    """Whether a data set is made of two views of one, each changed at random and shuffled in an order of its own."""
    chains = _find_apart(data)
    if len({str(chain[0].element_spec) for chain in chains}) != 1:
        return False
    sources = [list(getattr(chain[-1], "_tensors", ())) for chain in chains]
    is_one = all(len(some) == 1 for some in sources) and _are_same(*(some[0] for some in sources))
    # What is put together before it is changed may be meant so: each sample beside any other.
    return is_one and all(any(map(draws_in_map, chain)) for chain in chains)


def _are_same(one: Any, other: Any) -> bool:
    """Whether two tensors have the same first rows."""
    return one.shape == other.shape and np.array_equal(one[:ROWS_COMPARED], other[:ROWS_COMPARED])


def _find_apart(data: Any) -> list[list[Any]]:
    """What the two parts of a data set are made of, each shuffled in an order of its own; nothing for other ones."""
    *behind, zipped = chain_of(data)
    parts = getattr(zipped, "_datasets", ())
    if not isinstance(parts, tuple) or len(parts) != 2 or any("Map" in type(one).__name__ for one in behind):
        return []
    specs = [one.element_spec for one in parts]
    if not all(isinstance(spec, tf.TensorSpec) and spec.shape.rank is not None for spec in specs):
        return []
    chains = [chain_of(part) for part in parts]
    shuffles = [[one for one in chain if "ShuffleDataset" in type(one).__name__] for chain in chains]
    # Numbers that are counted, such as the steps of a diffusion, may meet any sample.
    if not all(shuffles) or any("RangeDataset" in type(chain[-1]).__name__ for chain in chains):
        return []
    seeds = [{_seed_of(one) for one in some} for some in shuffles]
    return chains if seeds[0].isdisjoint(seeds[1]) or seeds == [{(0, 0)}] * 2 else []


def _seed_of(data: Any) -> tuple[int, int]:
    """The seeds by which a data set is shuffled; of none two zeros."""
    return int(getattr(data, "_seed", 0)), int(getattr(data, "_seed2", 0))


def _filtered(file: str) -> Iterator[dict[str, Any]]:
    return slip_by_method(file, "filter", _is_partly_filtered, filtered=True)


def _is_partly_filtered(data: Any) -> bool:
    """Whether a data set is made of others, as long as one another and in their order, some of which are filtered."""
    chains = [chain_of(one) for one in tf.nest.flatten(getattr(chain_of(data)[-1], "_datasets", ()))]
    kinds = [{type(one).__name__.strip("_") for one in chain} for chain in chains]
    sizes = {int(chain[-1].cardinality()) for chain in chains}
    is_aligned = len(sizes) == 1 and min(sizes) > 0 and not any("ShuffleDataset" in kind for kind in kinds)
    return is_aligned and len({"FilterDataset" in kind for kind in kinds}) > 1


def _trimmed(file: str) -> Iterator[dict[str, Any]]:
    nodes = [node for node in nodes_of_type(file, ast.Assign) if isinstance(node.value, ast.Subscript)]
    functions = nodes_of_type(file, ast.FunctionDef)
    picked_in: dict[int, dict[str, str]] = {}
    for node in sorted(nodes, key=lambda one: one.lineno):
        value: Any = node.value
        within = max((one.lineno for one in functions if is_within(one, node.lineno)), default=0)
        picked = picked_in.setdefault(within, {})  # a name is another one's in another function
        name = value.value.id if isinstance(value.value, ast.Name) else None
        if name is None or [one.id for one in node.targets if isinstance(one, ast.Name)] != [name]:
            continue
        if isinstance(value.slice, (ast.Name, ast.UnaryOp)) and not _is_number(value.slice, file):
            picked[name] = ast.unparse(value.slice)
        elif isinstance(value.slice, ast.Slice) and value.slice.lower is None:
            end = value.slice.upper
            of = array_name(end.args[0]) if isinstance(end, ast.Call) and last_name(end) == "len" and end.args else None
            if of in picked and name not in picked:
                yield data_slip(file, node.lineno, trimmed=name, picked=of, by=picked[of])


def _is_number(node: ast.expr, file: str) -> bool:
    """Whether the running code holds a single number by a name."""
    running = frames_of(file) if isinstance(node, ast.Name) else iter(())
    return any(isinstance(held_as(node.id, frame), (int, np.integer)) for frame in running)  # type: ignore[attr-defined]


def _moved(node: ast.AST) -> str | None:
    """The array whose rows a statement puts into a random order, by itself; None for any other statement."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and last_name(node.value) == "shuffle":
        given = node.value.args
        return given[0].id if len(given) == 1 and isinstance(given[0], ast.Name) else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    name, value = node.targets[0].id, node.value
    if isinstance(value, ast.Call) and last_name(value) in ("permutation", "shuffle") and value.args:
        return name if isinstance(value.args[0], ast.Name) and value.args[0].id == name else None
    is_drawn = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Call)
    if isinstance(value, ast.Subscript) and is_drawn and last_name(value.slice) == "permutation":
        return name if array_name(value) == name else None
    return None


def _pairs_of(call: ast.Call) -> Iterator[tuple[str, str]]:
    """The names of two arrays that a call takes as pairs, in either order."""
    given = list(call.args)
    if len(given) == 1 and isinstance(given[0], ast.Tuple):
        given = given[0].elts
    names = [name for one in given[:2] if (name := array_name(one)) is not None]
    return itertools.permutations(names) if len(names) == 2 else iter(())  # type: ignore[return-value]


def _is_array(one: str, other: str, file: str) -> bool:
    return any(
        all(len(np.shape(known_array(held_as(name, frame)))) > 0 for name in (one, other)) for frame in frames_of(file)
    )
