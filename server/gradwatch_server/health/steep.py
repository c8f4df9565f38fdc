"""The rule for operations that come near their singular point, before anything is NaN. Owns one stream's early rows.

Large slopes alone are no news: an epsilon under a root gives a slope of a million in healthy trainings. So an operation
must have left its own past far behind, and either the gradient grew with it, or nothing (no epsilon) holds its input
away from the singular point. Only operations that stand in the user's own line are judged: layers and losses of a
library have their guards.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, Phase, Steep
from gradwatch_server.health.operation_table import OPERATION_COLUMN, Operation
from gradwatch_server.health.table import TensorTable

__all__ = ["AMPLIFICATION_LIMIT", "REACHES_ZERO", "SteepRule", "is_judged"]

EARLY_ROWS: Final = 8
"""Rows whose median is an operation's own past. Few, for what falls exponentially is soon far from it."""
EARLY_ROWS_MIN: Final = 3
"""Rows after which it is judged by the median of those few: some break within a dozen steps."""
CONFIRM_ROWS: Final = 5
"""Consecutive rows before it is a finding, as for growing gradients."""
AMPLIFICATION_LIMIT: Final = 1_000.0
"""The slope of log at 0.001. Up to there an operation is no steeper than a large layer is."""
AMPLIFICATION_FACTOR: Final = 100.0
"""And this many times its own past."""
NORM_FACTOR: Final = 10.0
"""And the global gradient norm this many times its own past, as the optimizer's clipping leaves it: a slope that the
upstream gradient cancels (softmax before log), that is masked, or whose length is cut does no harm."""
MARGIN_LIMIT: Final = 1e-13
"""An input below every epsilon in common use (1e-12 and above): nothing holds it."""
MARGIN_FACTOR: Final = 1e-6
"""And this much of its own past."""
FLOOR_SPREAD: Final = 1.5
"""Inputs that stay within this factor of one another for `CONFIRM_ROWS` rest on a small epsilon."""

WELL_HELD: Final = 1e-3
"""An input that is kept this far from 0 is meant to go as far, as the width of a density is: no epsilon is as large.
Nor is a width that is learned, as an exponential, near its singular point before: it falls as a model comes to know."""
WIDTHS: Final = frozenset({"Exp", "Softplus"})
"""Functions of which a width is made."""
DIVISIONS: Final = frozenset({"Div", "Inv", "RealDiv", "Reciprocal"})

_WRITTEN: Final = {
    "Log": r"\blog",
    "Log1p": r"\blog",
    "Sqrt": r"sqrt|norm|std|\*\* *\(?0?\.5|hypot",
    "Rsqrt": r"rsqrt|normalize",
    "Reciprocal": r"reciprocal|/",
    "Inv": r"reciprocal|/",
    "RealDiv": r"/|divide",
    "Div": r"/|div",
    "Pow": r"\*\*|pow",
    "Acos": r"acos|arccos",
    "Asin": r"asin|arcsin",
    "Atanh": r"atanh|arctanh",
}
REACHES_ZERO: Final = frozenset({"Log", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "RealDiv", "Div"})
"""Operations of which an input that fades to nothing ends at the singular point."""

Float = npt.NDArray[np.float64]


class SteepRule:
    """Watches the margin and the amplification of one stream's forward operations.

    Args:
        stream: the stream's number.
        table: its tensor table.
        operations: its operations.
    """

    def __init__(self, stream: int, table: TensorTable, operations: tuple[Operation, ...]) -> None:
        self._stream, self._table = stream, table
        self._operations = tuple(one for one in operations if is_judged(one) and not _is_well_held(one))
        self._places = np.array([operation.place for operation in self._operations], np.int64)
        n = len(self._operations)
        self._reaches_zero = np.array([o.type in REACHES_ZERO and not o.is_held for o in self._operations], bool)
        is_width = [o.type in DIVISIONS and o.input_type in WIDTHS for o in self._operations]
        self._margin_max = np.where(np.array(is_width, bool), WELL_HELD, np.inf)
        self._early: list[Float] = []
        self._before = np.zeros((3, n))
        self._run = np.zeros(n, np.int64)
        self._run_step = np.full(n, -1, np.int64)
        self._recent = np.full((CONFIRM_ROWS, n), np.nan)
        self._n_rows = 0
        self._current: dict[int, Steep] = {}
        self._n_calm = np.zeros(n, np.int64)
        self.episodes: list[Steep] = []

    def feed(self, block: Block) -> None:
        """Takes rows; one whose gradient is not finite says nothing about what came before it."""
        if not self._operations:
            return
        margin = block.operations[:, self._places, OPERATION_COLUMN["margin"]].astype(np.float64)
        slope = block.operations[:, self._places, OPERATION_COLUMN["amplification"]].astype(np.float64)
        norm = np.fmin(block.global_norm, block.clipped_norm)
        for row in np.flatnonzero(np.isfinite(margin).any(axis=1) & np.isfinite(norm) & (norm > 0)):
            self._step(int(block.steps[row]), np.stack([margin[row], slope[row], np.full(len(margin[row]), norm[row])]))

    def _step(self, step: int, numbers: Float) -> None:
        if len(self._early) < EARLY_ROWS_MIN:
            self._note_early(numbers)
            return
        margin, slope, norm = numbers
        margin_before, slope_before, norm_before = self._before
        is_felt = (slope >= AMPLIFICATION_LIMIT) & (slope >= AMPLIFICATION_FACTOR * slope_before)
        is_felt &= (norm >= NORM_FACTOR * norm_before) & (margin > 0) & (margin <= self._margin_max)
        is_near = self._reaches_zero & (margin > 0) & (margin <= MARGIN_LIMIT)
        is_near &= margin <= MARGIN_FACTOR * margin_before
        is_high = is_felt | is_near
        self._run_step[is_high & (self._run == 0)] = step
        self._run = np.where(is_high, self._run + 1, 0)
        self._recent[self._n_rows % CONFIRM_ROWS] = margin
        self._n_rows += 1
        is_sure = (self._run >= CONFIRM_ROWS) & (is_felt | ~self._rests())
        for place in np.flatnonzero(is_sure).tolist():
            if place not in self._current and len(self.episodes) < EPISODES_LIMIT:
                self._open(place, step, is_felt=bool(is_felt[place]))
        for place, episode in list(self._current.items()):
            self._continue(place, episode, step, numbers[:, place], bool(is_high[place]))
        if len(self._early) < EARLY_ROWS:
            self._note_early(numbers)

    def _note_early(self, numbers: Float) -> None:
        self._early.append(numbers)
        self._before = np.median(np.stack(self._early), axis=0)

    def _rests(self) -> npt.NDArray[np.bool_]:
        """Whether each input rests on a floor, as an epsilon is."""
        return np.asarray(self._recent.max(axis=0) <= FLOOR_SPREAD * self._recent.min(axis=0))

    def _open(self, place: int, step: int, *, is_felt: bool) -> None:
        margin_before, slope_before, norm_before = self._before[:, place].tolist()
        self._n_calm[place] = 0
        self._current[place] = Steep(
            stream=self._stream,
            phase=Phase.GRADIENT,
            first_step=int(self._run_step[place]),
            last_step=step,
            n_rows=int(self._run[place]) - 1,
            known_step=step,
            table=self._table,
            operation=self._operations[place],
            margin_before=margin_before,
            amplification_before=slope_before,
            norm_before=norm_before,
            is_felt=is_felt,
        )
        self.episodes.append(self._current[place])

    def _continue(self, place: int, episode: Steep, step: int, numbers: Float, is_high: bool) -> None:
        self._n_calm[place] = 0 if is_high else self._n_calm[place] + 1
        if is_high:
            margin, slope, norm = numbers.tolist()
            episode.last_step = step
            episode.n_rows += 1
            episode.margin = float(np.fmin(episode.margin, margin))
            episode.amplification = float(np.fmax(episode.amplification, slope))
            episode.norm = float(np.fmax(episode.norm, norm))
        elif self._n_calm[place] >= RECOVERY_ROWS:
            episode.closed_step = step
            del self._current[place]


def _is_well_held(operation: Operation) -> bool:
    return operation.type in REACHES_ZERO and operation.is_held and (operation.floor or 0.0) >= WELL_HELD


def is_judged(operation: Operation) -> bool:
    """Whether it stands in the user's own line: layers and losses of a library have their guards."""
    written = _WRITTEN.get(operation.type)
    return written is not None and not operation.is_gradient and re.search(written, operation.code) is not None
