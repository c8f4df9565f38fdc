"""The rule for weights that something besides the optimizer makes smaller at every step, by more than it moves them.

A norm is no larger than the sum of two: after a step it is at least that of the step before less that of the update.
Where it is smaller, something else has taken from the weight in between: a decay of the script's own that is not
multiplied by the learning rate. A limit that is kept by hand does so once, and then takes back what the optimizer adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Shrunk
from gradwatch_server.health.table import TensorTable

__all__ = ["ShrunkRule"]

SHARE_MIN: Final = 1e-3
"""Of a weight, taken at each step beside the update: a decoupled decay usually takes 1e-5, and 1e-4 is much."""
CONFIRM_ROWS: Final = 20
"""In a run, each of the step after the one before."""

Float = npt.NDArray[np.float64]


class ShrunkRule:
    """Watches the norms of one stream's kernels from one step to the next.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._weight, self._update = table.weights_and_updates()
        self._stream, self._table = stream, table
        n = len(self._weight)
        self._last_step, self._norm = -1, np.full(n, np.nan)
        self._n_rows = np.zeros(n, np.int64)
        """In how many rows in a run each kernel has lost more than the optimizer moved it."""
        self._before, self._first_steps = np.full(n, np.nan), np.full(n, -1)
        """Each kernel's norm before these rows, and the step it had then."""
        self._source: Mapping[str, Any] | None = None
        self.episodes: list[Shrunk] = []

    def note_assigned(self, assigned: Mapping[str, Any]) -> None:
        """Takes an entry of the field ``assigned`` of a ``rows`` message that stands in the step's own graph."""
        self._source = self._source or assigned.get("source")
        for episode in self.episodes:
            episode.source = episode.source or self._source

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights or updates were not looked at are a gap."""
        if not len(self._weight) or self.episodes:
            return
        norm, update = (
            block.statistics[:, columns, COLUMN["norm"]].astype(np.float64) for columns in (self._weight, self._update)
        )
        rows = np.flatnonzero(np.isfinite(norm + update).all(axis=1))
        if not len(rows):
            return
        steps, norm, update = block.steps[rows], norm[rows], update[rows]
        before = np.concatenate([self._norm[None], norm[:-1]])
        is_next = np.diff(steps, prepend=self._last_step) == 1
        with np.errstate(divide="ignore", invalid="ignore"):
            is_less = (1 - (norm + update) / before >= SHARE_MIN) & is_next[:, None]
        self._last_step, self._norm = int(steps[-1]), norm[-1]
        if not is_less.any():
            self._n_rows[:] = 0
            return
        for row in range(len(rows)):
            is_first = is_less[row] & (self._n_rows == 0)
            self._before = np.where(is_first, before[row], self._before)
            self._first_steps = np.where(is_first, steps[row] - 1, self._first_steps)
            self._n_rows = np.where(is_less[row], self._n_rows + 1, 0)
            if self._n_rows.max() >= CONFIRM_ROWS:
                self._tell(int(steps[row]), norm[row], update[row])
                return

    def _tell(self, step: int, norm: Float, update: Float) -> None:
        places = np.flatnonzero(self._n_rows >= CONFIRM_ROWS).tolist()
        place = places[0]
        n_rows, first = int(self._n_rows[place]), float(self._before[place])
        self.episodes.append(
            Shrunk(
                stream=self._stream,
                phase=Phase.WEIGHT,
                first_step=int(self._first_steps[place]),
                last_step=step,
                n_rows=n_rows,
                known_step=step,
                table=self._table,
                positions=tuple(self._table.whole_kernels[places].tolist()),
                share=1 - float(norm[place] / first) ** (1 / n_rows),
                ratio=float(update[place] / norm[place]),
                norms=(first, float(norm[place])),
                source=self._source,
            )
        )
