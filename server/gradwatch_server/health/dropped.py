"""The rule for layers that drop nearly all they are given: a dropout rate that was meant for the share to keep.

What a dropout leaves it scales up, so that the sum stays: the mean square of its output is that of its input over the
share it keeps. No other layer takes out elements and does that. UMLAUT (Schoop et al., CHI 2021) warns of rates from
0.5 on, with which many trainings are well.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Dropped, Phase
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["DroppedRule"]

KEPT_LIMIT: Final = 0.12
"""Share of the elements that are not 0 which come through."""
SCALE_FACTOR: Final = 3.0
"""How far the mean square may be from what scaling up makes: of few elements left it varies."""
ELEMENTS_MIN: Final = 16
"""Elements that came through, below which their scale says nothing."""


class DroppedRule:
    """Watches layers' outputs of one stream that have the shape of the output before.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        columns = table.activation.tolist()
        pairs = [(a, b) for a, b in itertools.pairwise(columns) if table.shapes[a] == table.shapes[b]]
        self._given = np.array([a for a, _ in pairs], np.int64)
        self._left = np.array([b for _, b in pairs], np.int64)
        self._streaks: Streaks[Dropped] = Streaks(len(pairs))
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no layer was looked at changes nothing."""
        if not len(self._left):
            return
        n_given, given = self._measure(block, self._given)
        n_left, left = self._measure(block, self._left)
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = n_left / n_given
            scale = left / given * kept
        is_seen = np.isfinite(kept)
        is_low = (kept > 0) & (kept <= KEPT_LIMIT) & (scale > 1 / SCALE_FACTOR) & (scale < SCALE_FACTOR)
        if self._streaks.current is None and not self._streaks.is_any and not is_low.any():
            return
        for row in np.flatnonzero(is_seen.any(axis=1)).tolist():
            # What came through is of too few elements to tell its scale, or nothing came: that says nothing else.
            is_known = is_seen[row] & ((kept[row] > KEPT_LIMIT) | (n_left[row] >= ELEMENTS_MIN))
            is_sure = self._streaks.add(int(block.steps[row]), is_in=is_low[row], is_out=is_known & ~is_low[row])
            self._step(int(block.steps[row]), is_sure, kept[row])

    @staticmethod
    def _measure(
        block: Block, columns: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """How many elements are not 0, and the sum of squares; ``[n, n_pairs]``, NaN where not captured and finite."""
        names = [COLUMN[name] for name in ("n_elements", "n_zero", "norm")]
        size, n_zero, norm = np.moveaxis(block.statistics[:, columns][:, :, names].astype(np.float64), 2, 0)
        n = np.where(block.is_nonfinite[:, columns], np.nan, size - n_zero)
        return n, norm**2

    def _step(self, step: int, is_sure: npt.NDArray[np.bool_], kept: npt.NDArray[np.float64]) -> None:
        if not self._streaks.follow(step) and is_sure.any():
            first = int(np.flatnonzero(is_sure)[0])
            self._streaks.open(
                Dropped(
                    stream=self._stream,
                    phase=Phase.ACTIVATION,
                    first_step=int(self._streaks.first_step[first]),
                    last_step=step,
                    n_rows=int(self._streaks.n_rows[first]),
                    known_step=step,
                    table=self._table,
                    columns=tuple(self._left[is_sure].tolist()),
                    kept=float(kept[first]),
                )
            )
