"""The rule for units that stand still: dead ones (ReLU and its like) and saturated ones (sigmoid, tanh).

A hook counts the elements of units whose output is flat at every element of a batch (docs/contract.md,
``n_saturated``). A unit may be idle for one batch by chance, the more so the smaller the batch: what chance explains is
taken off, and a layer is judged by many rows and against its own first rows.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Flat, Phase
from gradwatch_server.health.table import TensorTable

__all__ = [
    "RECTIFYING",
    "FlatRule",
    "are_classes",
    "are_marked",
    "are_signs",
    "is_dying",
    "largest_input",
    "largest_target",
    "widest_input",
]

EARLY_ROWS: Final = 5
"""Rows whose median is a layer's own past."""
SHARE_LIMIT: Final = 0.5
"""More than half of a layer's units: SageMaker Debugger's rule for dead ReLU."""
RISE: Final = 0.3
"""And this much more than in the layer's first rows: wide layers are born with dead units, and work."""
START_LIMIT: Final = 0.9
"""Units that are flat from the first rows on must be nearly all: sparse layers are meant to have many."""
CALM_SHARE: Final = 0.4
"""Hysteresis: it is over only below this share, for `CONFIRM_ROWS` captured rows."""
CONFIRM_ROWS: Final = 10
"""Captured rows, less one for each that only comes near, none of them calm; a bad batch or two kill no unit."""
CONFIRM_STEPS: Final = 50
"""And steps: a unit that comes back was not dead."""
POSITIONS_MIN: Final = 16.0
"""Elements of a unit in a batch below which nothing can be said."""
POSITIONS_SHARE: Final = 0.25
"""Elements of one batch are alike: so many of them count as independent."""
CLASSES_MAX: Final = 50
"""The highest number of a class, where that of targets is not known to be one."""
WHOLE: Final = 1e-4
"""How far a sum of whole numbers, as a mean times their number gives it, is off, of itself."""

RECTIFYING: Final = frozenset({"relu", "relu6"})
"""Functions that give 0 for all that is negative, and no gradient there."""
_SATURATING: Final = frozenset({"sigmoid", "hard_sigmoid", "tanh", "hard_tanh", "softsign"})

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class FlatRule:
    """Watches the layers' outputs of one stream, and the functions that the user's own code calls within them.

    Args:
        stream: the stream's number.
        table: its tensor table.
        is_dead: whether it watches for dead units, else for saturated ones.
        opposed: paths of layers that are not judged: an adversary that is told nothing any more may die.
    """

    def __init__(
        self, stream: int, table: TensorTable, *, is_dead: bool, opposed: frozenset[str] = frozenset()
    ) -> None:
        self._stream, self._table, self._is_dead = stream, table, is_dead
        outputs = np.union1d(table.activation, table.within)
        own = [c for c in outputs if table.functions[c] and table.layers[c] not in opposed]
        chosen = [c for c in own if is_dying(table.functions[c]) == is_dead]
        self._columns = np.array(chosen, np.int64)
        n = len(chosen)
        self._n_units = np.array([max((table.shapes[c] or (1,))[-1], 1) for c in chosen], np.float64)
        self._early: list[list[float]] = [[] for _ in chosen]
        self._before = np.full(n, np.nan)
        self._run = np.zeros(n, np.int64)
        self._run_step = np.full(n, -1, np.int64)
        self._n_calm = np.zeros(n, np.int64)
        self._first_step = np.full(n, -1, np.int64)
        self._next = np.array([_next_plain(table, column) for column in chosen], np.int64)
        self._next_before = np.full(n, np.nan)
        """How large what the next layer gives was at first, if it has a kernel and no function."""
        self._current: Flat | None = None
        self._members = np.zeros(n, bool)
        self.episodes: list[Flat] = []

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no layer was looked at changes nothing."""
        if not len(self._columns):
            return
        flat = block.statistics[:, self._columns, COLUMN["n_saturated"]]
        is_seen = ~np.isnan(flat)
        rows = np.flatnonzero(is_seen.any(axis=1))
        if not len(rows):
            return
        share = self._measure(block, rows)
        if np.isnan(self._next_before[self._next >= 0]).any():
            found = _read_size(block, self._next)
            seen = [row[np.isfinite(row)][:1] for row in found.T]
            first = np.array([row[0] if len(row) else np.nan for row in seen])
            self._next_before = np.where(np.isnan(self._next_before), first, self._next_before)
        is_settled = not (np.isnan(self._before) & ~np.isnan(share).all(axis=0)).any()
        if is_settled and self._current is None and not self._run.any() and not self._is_high(share).any():
            return
        for place, row in enumerate(rows.tolist()):
            self._step(block, row, share[place])

    def _measure(self, block: Block, rows: npt.NDArray[np.int64]) -> Float:
        """``[n_rows, n_layers]`` share of flat units beyond what chance explains; NaN where it cannot be told."""
        found = block.statistics[rows][:, self._columns].astype(np.float64)
        size = np.maximum(found[:, :, COLUMN["n_elements"]], 1.0)
        share = found[:, :, COLUMN["n_saturated"]] / size
        positions = size / self._n_units
        if self._is_dead:
            zeros = np.clip(found[:, :, COLUMN["n_zero"]] / size, share, 1.0)
            # Of the units that are not flat, the part of elements at 0: the chance that one is, in the power of the
            # batch, is the chance that a live unit looks dead.
            live = np.where(share < 1, (zeros - share) / np.maximum(1 - share, 1e-12), 0.0)
            chance = np.clip(live, 0.0, 1.0) ** (POSITIONS_SHARE * positions)
            share = np.where(share < 1, share - np.where(np.isnan(chance), 0.0, chance), share)
        return np.where((positions >= POSITIONS_MIN) & ~block.is_nonfinite[rows][:, self._columns], share, np.nan)

    def _is_high(self, share: Float) -> Bool:
        risen = (share > SHARE_LIMIT) & (share >= self._before + RISE)
        return np.asarray(risen | ((share >= START_LIMIT) & (self._before >= START_LIMIT)))

    def _step(self, block: Block, row: int, share: Float) -> None:
        step = int(block.steps[row])
        for place in np.flatnonzero(np.isnan(self._before) & ~np.isnan(share)).tolist():
            self._take_early(place, step, float(share[place]))
        is_seen = ~np.isnan(share)
        is_high = self._is_high(share) | (self._members & (share >= CALM_SHARE))
        # The first rows of a layer that is flat from the start count, once they are known to be so.
        self._run_step[is_high & (self._run == 0)] = step
        # A unit in between, which fires for a rare class, takes a row back; it does not begin the count anew.
        lower = np.where(share >= CALM_SHARE, np.maximum(self._run - 1, 0), 0)
        self._run = np.where(is_high, self._run + 1, np.where(is_seen, lower, self._run))
        is_sure = (self._run >= CONFIRM_ROWS) & (step - self._run_step >= CONFIRM_STEPS)
        self._n_calm = np.where(is_high, 0, self._n_calm + is_seen)
        self._members &= self._n_calm < CONFIRM_ROWS
        fresh = is_sure & ~self._members
        if self._current is not None and not (self._members | fresh).any():
            self._current.closed_step = step
            self._current = None
        if fresh.any():
            self._members |= fresh
            self._add(block, row, fresh, share)
        if self._current is not None and (self._members & is_high).any():
            self._current.last_step = step
            self._current.n_rows += 1

    def _take_early(self, place: int, step: int, share: float) -> None:
        early = self._early[place]
        if not early:
            self._first_step[place] = step
        early.append(share)
        if len(early) == EARLY_ROWS:
            self._before[place] = float(np.median(early))
            if self._before[place] >= START_LIMIT:
                self._run[place], self._run_step[place] = EARLY_ROWS - 1, self._first_step[place]

    def _add(self, block: Block, row: int, fresh: Bool, share: Float) -> None:
        places = np.flatnonzero(fresh)
        found = {int(self._columns[place]): int(self._run_step[place]) for place in places}
        if self._current is not None:
            self._current.columns |= {c: s for c, s in found.items() if c not in self._current.columns}
            return
        if len(self.episodes) >= EPISODES_LIMIT:
            return
        first = int(places[np.argmin(self._run_step[places])])
        column = int(self._columns[first])
        self._current = Flat(
            stream=self._stream,
            phase=Phase.ACTIVATION,
            first_step=int(self._run_step[first]),
            last_step=int(block.steps[row]),
            n_rows=int(self._run[first]) - 1,
            known_step=int(block.steps[row]),
            table=self._table,
            is_dead=self._is_dead,
            columns=found,
            column=column,
            share_before=float(self._before[first]),
            share=float(share[first]),
            is_first_row=bool(self._before[first] >= START_LIMIT),
            largest_input=largest_input(block, row, self._table),
            next_function=_next_function(self._table, column),
            is_of_zeros=_is_of_zeros(block, row, self._table, column),
            bias=_largest_bias(block, row, self._table, column),
            next_column=int(self._next[first]),
            next_share=float(_read_size(block, self._next[[first]])[row, 0]) / self._next_before[first]
            if self._next_before[first] != 0
            else math.nan,
        )
        self.episodes.append(self._current)


def _largest_bias(block: Block, row: int, table: TensorTable, column: int) -> float:
    """The largest number in the biases of an output's layer; NaN where that is not known."""
    biases = table.weight_of[table.bias_of[table.bias_of >= 0]]
    own = [c for c in biases[biases >= 0].tolist() if table.layers[c] == table.layers[column]]
    return float(block.statistics[row, own, COLUMN["max"]].max(initial=-np.inf)) if own else float("nan")


def _is_of_zeros(block: Block, row: int, table: TensorTable, column: int) -> bool:
    """Whether the kernels of an output's layer are known, and hold nothing but zeros."""
    kernels = table.weight_of[table.kernels]
    own = [c for c in kernels[kernels >= 0].tolist() if table.layers[c] == table.layers[column]]
    return bool(own) and bool((block.statistics[row, own, COLUMN["norm"]] == 0).all())


def is_dying(function: str | None) -> bool:
    """Whether a function that gives 0 for everything is dead; of one that has ends it may be an end."""
    return function not in _SATURATING


def largest_input(block: Block, row: int, table: TensorTable) -> float:
    """The largest |value| that entered the model, NaN where it was not looked at.

    Of a single input as the layers before the first kernel left it, which may rescale or normalise it.
    """
    columns = table.entering("input")
    if len(columns) == 1:
        same = [column for column in table.prepared if table.shapes[column][1:] == table.shapes[columns[0]][1:]]
        columns = same[-1:] if same and block.is_captured[row, same[-1]] else columns
    return _largest(_read_ends(block, row, columns))


def largest_target(block: Block, row: int, table: TensorTable) -> float:
    """The largest |value| of the targets that are no whole numbers, NaN where there are none or not looked at."""
    columns = [column for column in table.entering("target") if "int" not in table.dtypes[column]]
    return _largest(_read_ends(block, row, columns))


def are_signs(block: Block, row: int, table: TensorTable) -> bool:
    """Whether the targets are nothing but -1 and 1."""
    columns = table.entering("target")
    names = ("min", "max", "norm", "n_elements")
    low, high, norm, size = block.statistics[row, columns][:, [COLUMN[name] for name in names]].astype(np.float64).T
    is_so = (low == -1) & (high == 1) & (np.abs(norm / np.sqrt(np.maximum(size, 1)) - 1) < 1e-4)  # no 0 among them
    return bool(is_so.any() and is_so.all())


def are_marked(block: Block, row: int, table: TensorTable) -> bool:
    """Whether some targets are nothing but -1, 0 and 1, and all of these."""
    columns = table.entering("target")
    names = ("min", "max", "norm", "mean", "n_zero", "n_elements")
    low, high, norm, mean, n_zero, size = (
        block.statistics[row, columns][:, [COLUMN[name] for name in names]].astype(np.float64).T
    )
    # As many as are not 0 have a square of 1; the others would have less.
    is_whole = np.abs(np.square(norm) - (size - n_zero)) < WHOLE * np.maximum(size, 1.0)
    is_whole &= np.abs(mean * size - np.round(mean * size)) < WHOLE * np.maximum(size, 1.0)
    return bool(((low == -1) & (high == 1) & (n_zero > 0) & is_whole).any())


def are_classes(block: Block, row: int, table: TensorTable) -> bool:
    """Whether the only targets are whole numbers from 0 on, of more than two kinds and of no more than classes have."""
    columns = table.entering("target")
    if len(columns) != 1:
        return False
    names = ("min", "max", "mean", "n_elements")
    low, high, mean, size = block.statistics[row, columns[0]][[COLUMN[name] for name in names]].astype(np.float64)
    total = mean * size
    if low != 0 or not 2 <= high <= CLASSES_MAX or not np.isfinite(total):  # NaN where they were not looked at
        return False
    return bool(high == round(high) and abs(total - round(total)) < WHOLE * max(1.0, total))


def widest_input(block: Block, row: int, table: TensorTable) -> str:
    """The name of the input that holds the largest |value|, where there are several and it was looked at; else ""."""
    columns = table.entering("input")
    ends = _read_ends(block, row, columns)
    if len(columns) < 2 or np.isnan(ends).all():
        return ""
    return table.names[columns[int(np.nanargmax(ends)) // 2]].partition("/")[2]


def _read_ends(block: Block, row: int, columns: list[int]) -> Float:
    """The magnitudes of the least and the largest value of each of some tensors, ``[n, 2]``."""
    return np.abs(block.statistics[row, columns][:, [COLUMN["min"], COLUMN["max"]]].astype(np.float64))


def _largest(ends: Float) -> float:
    return float(np.nanmax(ends)) if ends.size and not np.isnan(ends).all() else float("nan")


def _read_size(block: Block, columns: npt.NDArray[np.int64]) -> Float:
    """The root mean square of outputs, ``[n_rows, n_columns]``; NaN where a column is -1 or was not looked at."""
    norm, size = (
        block.statistics[:, columns][:, :, [COLUMN["norm"], COLUMN["n_elements"]]].astype(np.float64).transpose(2, 0, 1)
    )
    return np.where(columns >= 0, norm / np.sqrt(np.maximum(size, 1.0)), np.nan)


def _next_plain(table: TensorTable, column: int) -> int:
    """The output of the next layer, where that has a kernel, no function, and is not the last; else -1."""
    later = table.activation[table.activation > column]
    if not len(later) or later[0] not in table.hidden or not table.holds_kernel(int(later[0])):
        return -1
    return int(later[0]) if table.functions[int(later[0])] in (None, "linear") else -1


def _next_function(table: TensorTable, column: int) -> str | None:
    later = table.activation[table.activation > column]
    if not len(later):
        return ""
    return None if table.holds_kernel(int(later[0])) else table.functions[int(later[0])]
