"""Which feature columns and which rows of a batch held NaN or Inf, as a hook tells of inputs. Owns no judgement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS
from gradwatch_server.health.outlier import OUTLIER_FACTOR, OUTLIER_ROWS

__all__ = ["ROUNDED_SHARE", "InputColumns", "InputRecord"]

ROUNDED_SHARE: Final = 1e-10
"""Of the widest column's range: what is left where 64-bit numbers cancel out."""
NARROW_SHARE: Final = 1e-3
"""Of the widest column's range: what a layer makes of the others is lost beside it."""
FAR_SHARE: Final = 0.1
"""Of the largest number of all columns: beside it smaller ones are of another size."""
TURNS: Final = (2 * math.pi, 360.0)
TURN_SMALL: Final = 0.35
"""Of a turn, how far the difference of two angles goes at the most where neither passes its end."""
TURN_LEAST: Final = 0.75
"""And how far at the least where one does."""
TURN_MOST: Final = 1.001
TURN_ROWS: Final = 5
"""Batches of either kind, and none of any other."""
COLUMNS_LIMIT: Final = 100
"""Columns named in a record; their number stands beside them."""

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class InputRecord:
    """One batch with non-finite elements.

    Attributes:
        step: its step.
        n_columns: feature columns of the input, 0 where they were not counted.
        columns: the broken ones, at most `COLUMNS_LIMIT`, from the first on.
        counts: their numbers of non-finite elements.
        n_broken: how many columns are broken.
        is_new: whether one of them never was before.
        rows: the first broken rows of the batch.
        n_rows: how many rows are broken.
    """

    step: int
    n_columns: int
    columns: tuple[int, ...]
    counts: tuple[int, ...]
    n_broken: int
    is_new: bool
    rows: tuple[int, ...]
    n_rows: int


class InputColumns:
    """What the ``columns`` messages of one input say.

    Kept are batches that begin a stretch of broken ones, and those in which a column breaks that never did before:
    an incident begins with one of either.
    """

    def __init__(self) -> None:
        """Starts with nothing broken."""
        self._last_step = -1
        self._n_calm = RECOVERY_ROWS
        self._is_known = np.zeros(0, bool)
        self._records: list[InputRecord] = []
        self._largest = np.zeros(0)
        self._low, self._high = np.zeros(0), np.zeros(0)
        self._n_rows = 0
        self._n_turned = np.zeros((len(TURNS), 3, 0), np.int64)
        """By turn and column, the batches of small numbers, of nearly a turn, and of others."""
        self._jumps: list[dict[int, tuple[float, float]]] = [{} for _ in TURNS]
        """By turn and column, the least and the largest of what was nearly a turn: no one number that may be meant."""
        self._outliers: dict[int, int] = {}

    def feed(self, steps: Int64, columns: Float32, bad_rows: Int64, n_bad_rows: Int64) -> None:
        """Takes rows in order of steps; those of steps already taken are a replay, and are left out.

        Args:
            steps: ``[n]``.
            columns: ``[n, n_columns, 3]`` number of non-finite elements, min and max of each feature column.
            bad_rows: ``[n, 8]`` the first broken rows of the batch, -1 for none.
            n_bad_rows: ``[n]``.
        """
        if len(self._is_known) < columns.shape[1]:
            self._is_known = np.pad(self._is_known, (0, columns.shape[1] - len(self._is_known)))
            self._largest = np.pad(self._largest, (0, columns.shape[1] - len(self._largest)))
            self._n_turned = np.pad(self._n_turned, ((0, 0), (0, 0), (0, columns.shape[1] - self._n_turned.shape[2])))
            self._low = np.pad(self._low, (0, columns.shape[1] - len(self._low)), constant_values=np.inf)
            self._high = np.pad(self._high, (0, columns.shape[1] - len(self._high)), constant_values=-np.inf)
        is_bad = n_bad_rows > 0
        for row, step in enumerate(steps.tolist()):
            if step <= self._last_step:
                continue
            self._last_step = step
            self._measure(step, columns[row])
            if is_bad[row]:
                self._take_bad(step, columns[row], bad_rows[row], int(n_bad_rows[row]))
            else:
                self._n_calm += 1

    def find(self, step: int) -> InputRecord | None:
        """The batch of a step, or else the nearest kept one: the first soon after it, or the last before."""
        later = next((record for record in self._records if record.step >= step), None)
        if later is not None and later.step - step <= RECOVERY_ROWS:
            return later
        return next((record for record in reversed(self._records) if record.step <= step), None)

    def is_new(self, step: int) -> bool:
        """Whether a column broke at this step that never did before."""
        return any(record.step == step and record.is_new for record in self._records)

    def find_outlier(self, step: int) -> int | None:
        """The column that at this step was farthest beyond all it ever held; None where none was far beyond."""
        return self._outliers.get(step)

    @property
    def n_columns(self) -> int:
        """How many columns the input has."""
        return len(self._low)

    def reach(self, column: int) -> tuple[float, float]:
        """The smallest and the largest number that a column held."""
        return float(self._low[column]), float(self._high[column])

    def find_narrow(self, share: float = NARROW_SHARE) -> tuple[list[int], int]:
        """The columns that vary by less than this share of what the widest does, and that one.

        Empty, and -1, where less is known than `OUTLIER_ROWS` batches. One that never changes is left out.
        """
        reach = self._high - self._low
        if self._n_rows < OUTLIER_ROWS or not len(reach) or not np.isfinite(reach).all():
            return [], -1
        narrow = (reach > 0) & (reach < share * reach.max())
        return np.flatnonzero(narrow).tolist(), int(np.argmax(reach))

    def find_far(self) -> list[int]:
        """The columns with numbers at least a tenth as large as the largest of all, the farthest first.

        Empty where that is each of them.
        """
        reach = np.fmax(np.abs(self._low), np.abs(self._high))
        if not len(reach) or not np.isfinite(reach).all():
            return []
        far = np.flatnonzero(reach >= FAR_SHARE * reach.max())
        return sorted(far.tolist(), key=lambda column: -reach[column]) if len(far) < len(reach) else []

    def lacks_first(self) -> bool:
        """Whether all columns held 0 and 1, and the first one nothing but 0."""
        if self._n_rows < OUTLIER_ROWS or self.n_columns < 2:
            return False
        return bool((self._low == 0).all() and self._high[0] == 0 and (self._high[1:] == 1).all())

    def find_turn(self) -> tuple[int, float] | None:
        """The column that is small, but for jumps by nearly a whole turn, and what that is; None where there is none.

        So is the difference of two angles that are each told within one turn.
        """
        for place, turn in enumerate(TURNS):
            n_small, n_large, n_other = self._n_turned[place]
            is_so = (n_small >= TURN_ROWS) & (n_large >= TURN_ROWS) & (n_other == 0)
            for column in np.flatnonzero(is_so).tolist():
                if self._jumps[place].get(column, (0.0, 0.0))[1] > self._jumps[place][column][0]:
                    return column, turn
        return None

    def _count_turns(self, reach: Float64) -> None:
        """Counts batches by how far the numbers of each column went: hardly, by nearly a turn, or anywhere else."""
        for place, turn in enumerate(TURNS):
            share = reach / turn
            is_large = (share > TURN_LEAST) & (share <= TURN_MOST)
            is_other = ((share > TURN_SMALL) & ~is_large) | (share == 0)
            for row, is_in in enumerate((share <= TURN_SMALL, is_large, is_other)):
                self._n_turned[place][row][: len(reach)] += is_in
            for column in np.flatnonzero(is_large).tolist():
                low, high = self._jumps[place].get(column, (math.inf, -math.inf))
                self._jumps[place][column] = min(low, float(reach[column])), max(high, float(reach[column]))

    def _measure(self, step: int, columns: Float32) -> None:
        self._low[: len(columns)] = np.fmin(self._low[: len(columns)], columns[:, 1])
        self._high[: len(columns)] = np.fmax(self._high[: len(columns)], columns[:, 2])
        reach = np.abs(columns[:, 1:].astype(np.float64)).max(axis=1)
        reach = np.where(np.isfinite(reach), reach, 0.0)
        self._count_turns(reach)
        largest = self._largest[: len(columns)]
        # A column that was always 0 is as far from anything: it is measured by the others.
        usual = np.where(largest > 0, largest, largest.max(initial=0.0))
        if self._n_rows >= OUTLIER_ROWS and (usual > 0).any():
            factor = np.divide(reach, usual, out=np.zeros_like(reach), where=usual > 0)
            if factor.max() > OUTLIER_FACTOR and len(self._outliers) < EPISODES_LIMIT:
                self._outliers[step] = int(np.argmax(factor))
        self._largest[: len(columns)] = np.maximum(largest, reach)
        self._n_rows += 1

    def _take_bad(self, step: int, columns: Float32, bad_rows: Int64, n_bad_rows: int) -> None:
        is_broken = np.zeros(len(self._is_known), bool)
        is_broken[: len(columns)] = columns[:, 0] > 0
        is_new = bool((is_broken & ~self._is_known).any())
        if (is_new or self._n_calm >= RECOVERY_ROWS) and len(self._records) < 2 * EPISODES_LIMIT:
            places = np.flatnonzero(is_broken)
            named = places[:COLUMNS_LIMIT]
            self._records.append(
                InputRecord(
                    step=step,
                    n_columns=len(columns),
                    columns=tuple(named.tolist()),
                    counts=tuple(columns[named, 0].astype(np.int64).tolist()),
                    n_broken=len(places),
                    is_new=is_new,
                    rows=tuple(row for row in bad_rows.tolist() if row >= 0),
                    n_rows=n_bad_rows,
                )
            )
        self._is_known |= is_broken
        self._n_calm = 0
