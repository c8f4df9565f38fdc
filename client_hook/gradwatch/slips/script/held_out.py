"""What `fit` validates with, held against what it trains on: ranges, rows, labels. Trains nothing, and owns no state.

Some rows of the arrays that the running `fit` was given are looked at; data sets are left alone, since to ask one is to
run it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.origin import running_fit, source_at
from gradwatch.syntax import last_name, nodes_in, nodes_of

__all__ = ["find_held_out"]

ROWS: Final = 256
"""Of an array, that are looked at."""
COLUMNS: Final = 256
CELLS: Final = 1_000_000
PLACES: Final = 8192
"""Of all samples together, that are looked at."""
ROWS_MIN: Final = 32
"""Of fewer samples nothing is told."""
APART: Final = 50.0
"""Between the deviations of one column: no two parts of one table differ so."""
SHIFT: Final = 20.0
"""Deviations of a column of the training data, between the means: that of the others lies far outside."""
GAP: Final = 1.0
"""Deviations of a column of the training data, between the ends of both."""
MOST: Final = 0.5
"""Of the columns."""
TRAINED_MIN: Final = 500
"""Who trains on fewer may only look whether they can be learned."""
SEARCHED_MAX: Final = 100_000
"""Rows of the training data that others are looked for in."""
KEYS: Final = 6
"""Numbers of a row that it is looked for by."""
KEYS_MIN: Final = 4
SORTED_MAX: Final = 4096
"""Rows of which it is asked whether they differ."""
SEEN_MIN: Final = 0.9
DISTINCT_MIN: Final = 0.95
WINDOWS_MIN: Final = 200
WINDOWS_MAX: Final = 30_000
"""Windows of a series that others are looked for in."""
TIMES_MIN: Final = 8
SHIFTS_MAX: Final = 32
"""By how many steps of time one window may begin before the next; and by half of its length."""
BETWEEN_MIN: Final = 0.4
"""Of the validation's windows, those with one of the training's on either side, that shares half of them."""
LABELS_MAX: Final = 1000
CELLS_MAX: Final = 1_000_000
"""Labels: more are not counted."""
SAMPLES_MIN: Final = 4
"""Of each class, on average: whole numbers with fewer may be quantities."""
UNKNOWN_MIN: Final = 0.5
"""Of the validation's labels, those of no training sample."""
Array = npt.NDArray[Any]


class _Fit(NamedTuple):
    """A running `fit`: what it was given, as arrays by their places, and the user's line."""

    x: dict[str, Array]
    y: dict[str, Array]
    x_held: dict[str, Array]
    y_held: dict[str, Array]
    file: str
    line: int


def find_held_out() -> list[dict[str, Any]]:
    """What the arrays that the running `fit` validates with tell beside those that it trains on.

    Returns:
        At most one of each, type ``Data``, no name, no layer, the line of `fit`, and ``names``, of the arrays of
        training and validation, where the line has them: ``beyond``: the least and the largest number of the training
        data, then of the validation data, where these are in another range, of the targets with ``of_targets`` (True);
        ``seen``: the share of the validation samples that are among those trained on, with the same targets;
        ``windowed``: the share of the validation's windows of a series that share half of their times with one of the
        training's that begins earlier, and with one that begins later. And what
        is the cause of a validation loss that never falls, and no slip by itself: ``relabelled``: that share where the
        targets are others; ``unlabelled``: the share of the validation samples whose label no training sample has.
    """
    fit = _given()
    if fit is None:
        return []
    slip = {"type": "Data", "name": "", "layer": "", "source": source_at([(fit.file, fit.line)])}
    of_x, of_y = _names_at(fit, 0), _names_at(fit, 1)
    beyond = _find_beyond(fit.x, fit.x_held)
    beyond_y = None if beyond else _find_beyond(fit.y, fit.y_held)
    found = [slip | {"beyond": beyond, "names": of_x}] if beyond else []
    found += [slip | {"beyond": beyond_y, "names": of_y, "of_targets": True}] if beyond_y else []
    if seen := _find_seen(fit):
        found.append(slip | {"names": of_x if "seen" in seen else of_y} | seen)
    elif (between := _find_between(fit)) >= BETWEEN_MIN:
        found.append(slip | {"names": of_x, "windowed": between})
    if (unknown := _find_unknown(fit)) >= UNKNOWN_MIN:
        found.append(slip | {"unlabelled": unknown, "names": of_y})
    return found


def _given() -> _Fit | None:
    """The `fit` of Keras' that is being run with arrays to validate with; None where there is none."""
    fit = running_fit()
    held = None if fit is None else fit.known.get("validation_data")
    if fit is None or not fit.file or not isinstance(held, (tuple, list)) or len(held) not in (2, 3):
        return None
    own = (fit.known.get("x"), fit.known.get("y"))
    x, y, x_held, y_held = map(_arrays, (*own, *held[:2]))
    return _Fit(x, y, x_held, y_held, fit.file, fit.line)


def _arrays(value: Any) -> dict[str, Array]:
    """The arrays of numbers that a model is given, by their places."""
    parts = (
        dict(value) if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list | tuple) else {}
    )
    parts = parts or {"": value}
    held = {str(key): np.asarray(one) for key, one in parts.items() if isinstance(one, np.ndarray | tf.Tensor)}
    return {
        key: one
        for key, one in held.items()
        if one.dtype.kind in "iufb" and one.ndim and len(one) >= ROWS_MIN and one.size
    }


def _rows_of(array: Array) -> Array:
    """Some rows of an array, evenly spread; fewer of large ones."""
    n_rows = min(ROWS, max(ROWS_MIN, CELLS // max(1, math.prod(array.shape[1:]))))
    return array if len(array) <= n_rows else array[_spread(len(array), n_rows)]


def _spread(n_rows: int, n_chosen: int) -> npt.NDArray[np.int64]:
    """Places of some rows, from the first to the last: those of a series go on to its end."""
    return np.linspace(0, n_rows - 1, min(n_rows, n_chosen)).astype(np.int64)


def _find_beyond(trained: dict[str, Array], held: dict[str, Array]) -> list[float] | None:
    for key, one in trained.items():
        other = held.get(key)
        if other is None or other.shape[1:] != one.shape[1:] or one.dtype.kind == "b":
            continue
        rows, others = (_table(_rows_of(array)) for array in (one, other))
        if _are_apart(rows, others):
            return [float(end) for array in (rows, others) for end in (array.min(), array.max())]
    return None


def _table(rows: Array) -> Array:
    """Rows as columns of float64, one for each place of the last axis; the finite ones."""
    width = rows.shape[-1] if rows.ndim > 1 else 1
    table = rows.reshape(-1, width)
    if len(table) > PLACES:  # at random: every so many would be the same place of each image
        table = table[np.random.default_rng(0).integers(0, len(table), PLACES)]
    table = table[:, :: max(1, width // COLUMNS)].astype(np.float64)
    return table[np.isfinite(table).all(axis=1)]


def _are_apart(rows: Array, others: Array) -> bool:
    """Whether nearly all columns of two tables have deviations, or means, that are far apart."""
    if min(len(rows), len(others)) < ROWS_MIN:
        return False
    with np.errstate(all="ignore"):  # of numbers near the end of their range
        std, std_held = rows.std(axis=0), others.std(axis=0)
        varying = (std > 0) & (std_held > 0)
        if not varying.any():
            return False
        rows, others, std, std_held = rows[:, varying], others[:, varying], std[varying], std_held[varying]
        centres = [(one.mean(axis=0), np.median(one, axis=0)) for one in (rows, others)]
        shift = np.minimum(*(np.abs(own - other) for own, other in zip(*centres, strict=True)))
        # Neighbours in time go on where the others end: between ranges that are scaled otherwise is a gap.
        gap = np.maximum(others.min(axis=0) - rows.max(axis=0), rows.min(axis=0) - others.max(axis=0))
        # A mean that is far off beside both: one that hardly varies in the training may do so by chance.
        is_far = (shift > SHIFT * std) & (std_held > 2 * std) | (shift > SHIFT * std_held) & (std > 2 * std_held)
        is_standard = np.where(std_held > std, _are_standard(rows), _are_standard(others))
        is_far &= (gap > GAP * std) | is_standard
        is_wider, is_narrower = _are_larger(others, rows), _are_larger(rows, others)
    larger = (std_held > APART * std) & is_wider | is_far
    smaller = (std > APART * std_held) & is_narrower | is_far
    return bool(max(larger.mean(), smaller.mean()) >= MOST)


def _are_standard(rows: Array) -> npt.NDArray[np.bool_]:
    """Which columns have about a mean of 0 and a deviation of 1."""
    std = rows.std(axis=0)
    return np.asarray((np.abs(rows.mean(axis=0)) < 1 / 2) & (std > 1 / 2) & (std < 2))


def _are_larger(rows: Array, others: Array) -> npt.NDArray[np.bool_]:
    """Of which columns the usual deviations, and sizes, are far larger than those of others.

    A few outliers make a standard deviation large, and a short time of a series is narrow wherever it lies.
    """
    usual, usual_others = (_usual(np.abs(one - np.median(one, axis=0))) for one in (rows, others))
    sizes, sizes_others = (_usual(np.abs(one)) for one in (rows, others))
    return np.asarray((usual > SHIFT * usual_others) & (sizes > SHIFT * sizes_others))


def _usual(sizes: Array) -> Array:
    """The median of each column's sizes that are above 0; not a number where these are few."""
    columns = [column[column > 0] for column in sizes.T]
    return np.array([np.median(one) if len(one) >= ROWS_MIN // 2 else math.nan for one in columns])


def _find_seen(fit: _Fit) -> dict[str, Any] | None:
    """The share of validation samples that are trained on, by ``seen`` or ``relabelled``; None where they are few."""
    if not all(set(one) == {""} for one in (fit.x, fit.y, fit.x_held, fit.y_held)):
        return None
    x, y, x_held, y_held = fit.x[""], fit.y[""], fit.x_held[""], fit.y_held[""]
    is_alike = x.shape[1:] == x_held.shape[1:] and x.dtype == x_held.dtype and y.shape[1:] == y_held.shape[1:]
    # One that is as long is what is trained on, and is meant to be.
    if not is_alike or len(x) == len(x_held) or not TRAINED_MIN <= len(x) == len(y) <= SEARCHED_MAX:
        return None
    if not x.flags.c_contiguous or _is_on_disk(x):  # to look for rows would copy all of it, or read it
        return None
    chosen = _spread(len(x_held), max(ROWS_MIN, min(ROWS, CELLS // max(1, math.prod(x_held.shape[1:])))))
    places = _places_in(x, x_held[chosen])
    is_found = places >= 0
    if is_found.mean() < SEEN_MIN or len(y_held) != len(x_held):
        return None
    own, others = y_held[chosen[is_found]], y[places[is_found]]
    is_same = (own == others).reshape(len(own), -1).all(axis=1).mean()
    _, counts = np.unique(own.reshape(len(own), -1), axis=0, return_counts=True)
    by_chance = float(np.square(counts / counts.sum()).sum())
    if is_same >= SEEN_MIN:
        return {"seen": float(is_found.mean())} if not _is_part_by_line(fit) else None
    return {"relabelled": float(is_found.mean())} if is_same <= (1 + by_chance) / 2 else None


def _find_between(fit: _Fit) -> float:
    """The share of validation windows between two of the training, each of which has half of them in it."""
    if set(fit.x) != {""} or set(fit.x_held) != {""}:
        return 0.0
    x, held = fit.x[""], fit.x_held[""]
    is_alike = x.shape[1:] == held.shape[1:] and x.dtype == held.dtype and x.dtype.kind == "f"
    n_times = x.shape[1] if x.ndim in (2, 3) else 0
    if not is_alike or n_times < TIMES_MIN or not WINDOWS_MIN <= len(x) <= WINDOWS_MAX:
        return 0.0
    if not x.flags.c_contiguous or _is_on_disk(x):
        return 0.0
    windows, wanted = x.reshape(len(x), -1), held[_spread(len(held), ROWS)].reshape(-1, x[0].size)
    n_columns = x[0].size // n_times
    earlier, later = np.zeros(len(wanted), bool), np.zeros(len(wanted), bool)
    for n in range(1, min(n_times // 2, SHIFTS_MAX) + 1):
        shift = n * n_columns
        earlier |= _places_in(windows[:, shift:], wanted[:, :-shift]) >= 0
        if earlier.mean() >= BETWEEN_MIN:
            later |= _places_in(windows[:, :-shift], wanted[:, shift:]) >= 0
    return float((earlier & later).mean())


def _is_on_disk(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def _places_in(x: Array, rows: Array) -> npt.NDArray[np.int64]:
    """Where some rows stand in an array, -1 for nowhere; everywhere -1 where they are too much alike to tell."""
    nowhere = np.full(len(rows), -1)
    flat, wanted = x.reshape(len(x), -1), rows.reshape(len(rows), -1)
    columns = np.argsort(-wanted.astype(np.float64).std(axis=0), kind="stable")[:KEYS]
    if len(columns) < KEYS_MIN:
        return nowhere
    keys, own = _keys(flat[:, columns]), _keys(wanted[:, columns])
    if min(map(_distinct, (keys[:: 1 + len(keys) // SORTED_MAX], own))) < DISTINCT_MIN:
        return nowhere
    possible = np.flatnonzero(np.isin(keys, own))
    if not len(possible):
        return nowhere
    order = possible[np.argsort(keys[possible], kind="stable")]
    places = order[np.minimum(np.searchsorted(keys[order], own), len(order) - 1)]
    return np.where((flat[places] == wanted).all(axis=1), places, -1)


def _keys(columns: Array) -> npt.NDArray[np.float64]:
    """A number for each row, the same for the same rows."""
    factors = np.sqrt(np.arange(2.0, 2.0 + columns.shape[1]))
    # Summed row by row: a product of matrices may round one row in several ways.
    return np.asarray((np.ascontiguousarray(columns).astype(np.float64) * factors).sum(axis=1))


def _distinct(keys: npt.NDArray[np.float64]) -> float:
    """The share of numbers that are no other's."""
    return len(np.unique(keys)) / len(keys)


def _find_unknown(fit: _Fit) -> float:
    """The share of validation samples whose class is that of no training sample."""
    if set(fit.y) != {""} or set(fit.y_held) != {""}:
        return 0.0
    y, y_held = _classes(fit.y[""]), _classes(fit.y_held[""])
    if y is None or y_held is None:
        return 0.0
    # Classes are numbered from 0; years and prices are not.
    if min(y.min(), y_held.min()) < 0 or max(y.max(), y_held.max()) >= LABELS_MAX:
        return 0.0
    known = np.unique(y)
    return 0.0 if len(y) < SAMPLES_MIN * len(known) else float(1 - np.isin(y_held, known).mean())


def _classes(labels: Array) -> Array | None:
    """The class of each sample; None where they are no classes."""
    if labels.size > CELLS_MAX:
        return None
    if labels.ndim == 2 and labels.shape[1] > 2 and (_rows_of(labels).sum(axis=1) == 1).all():
        is_of_one = ((_rows_of(labels) == 0) | (_rows_of(labels) == 1)).all()
        return np.asarray(labels.argmax(axis=1)) if is_of_one else None
    is_whole = labels.dtype.kind in "iu" and math.prod(labels.shape[1:]) == 1
    return labels.reshape(-1) if is_whole else None


def _given_at(fit: _Fit) -> list[tuple[ast.expr, ast.expr]]:
    """The expressions of inputs and of targets in the line of `fit`, each of training and of validation."""
    calls = [node for node in nodes_of(fit.file) if isinstance(node, ast.Call) and last_name(node) == "fit"]
    calls = [node for node in calls if node.lineno <= fit.line <= (node.end_lineno or node.lineno)]
    if len(calls) != 1:
        return []
    named = {one.arg: one.value for one in calls[0].keywords}
    own = [*calls[0].args[:2], *(named[key] for key in ("x", "y") if key in named)]
    held = named.get("validation_data")
    parts: Sequence[ast.expr] = held.elts[:2] if isinstance(held, ast.Tuple) else ()
    return list(zip(own, parts, strict=True)) if len(own) == len(parts) == 2 else []


def _names_at(fit: _Fit, place: int) -> list[str]:
    """The names of what is trained on and of what is validated with, where these are names."""
    pairs = _given_at(fit)
    names = [one.id for one in pairs[place] if isinstance(one, ast.Name)] if pairs else []
    return names if len(names) == 2 and names[0] != names[1] else []


def _is_part_by_line(fit: _Fit) -> bool:
    """Whether the line itself validates with a part of what it trains on, which is meant."""
    return any(
        ast.unparse(own) in {ast.unparse(node) for node in nodes_in(held) if isinstance(node, ast.expr)}
        for own, held in _given_at(fit)[:1]
    )
