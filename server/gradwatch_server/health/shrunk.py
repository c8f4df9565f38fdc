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
        self._last_step = -1
        self._norm = np.full(len(self._weight), np.nan)
        self._first_norm = self._norm
        self._first_step = -1
        self._n_rows = np.zeros(len(self._weight), np.int64)
        self._shares: list[list[float]] = [[] for _ in self._weight]
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
        for row in np.flatnonzero(np.isfinite(norm + update).all(axis=1)).tolist():
            self._take(int(block.steps[row]), norm[row], update[row])
            if self.episodes:
                return

    def _take(self, step: int, norm: Float, update: Float) -> None:
        is_next, before = step == self._last_step + 1, self._norm
        self._last_step, self._norm = step, norm
        if not is_next or not (before > 0).all():
            self._n_rows[:] = 0
            return
        is_less = 1 - (norm + update) / before >= SHARE_MIN
        if (self._n_rows == 0).all():
            self._first_step, self._first_norm = step - 1, before
        self._n_rows = np.where(is_less, self._n_rows + 1, 0)
        for place in range(len(norm)):
            self._shares[place] = [*self._shares[place], 1 - norm[place] / before[place]] if is_less[place] else []
        if self._n_rows.max() >= CONFIRM_ROWS:
            self._tell(step, update)

    def _tell(self, step: int, update: Float) -> None:
        places = np.flatnonzero(self._n_rows >= CONFIRM_ROWS).tolist()
        place = places[0]
        self.episodes.append(
            Shrunk(
                stream=self._stream,
                phase=Phase.WEIGHT,
                first_step=self._first_step,
                last_step=step,
                n_rows=int(self._n_rows[place]),
                known_step=step,
                table=self._table,
                positions=tuple(self._table.whole_kernels[places].tolist()),
                share=float(np.median(self._shares[place])),
                ratio=float(update[place] / self._norm[place]),
                norms=(float(self._first_norm[place]), float(self._norm[place])),
                source=self._source,
            )
        )
