"""The rule for weights that stand still: each update is less than float32 can add to them, though there is a gradient.

Small numbers are relative: Adam makes the same of a gradient of 1e-3 and of 1e-6, and a rate may be low on purpose. An
update of less than half the distance from a weight to its neighbour among the numbers is none, whatever made it small.
A rate may also come down to 0 when training is at its end: weights must stand for as long as training went on before.

Weights that have crawled from the first step on are another matter: no update of any kernel was near what is usual. It
is told only if the loss has not come down meanwhile, and the rate is not on its way up; both are asked later.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Still
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.table import TensorTable

__all__ = ["CONFIRM_ROWS", "CONFIRM_STEPS", "RATIO_LIMIT", "StillRule"]

RATIO_LIMIT: Final = 2.0**-24
"""Half the distance between neighbouring float32 numbers, relative. SageMaker Debugger warns below 1e-8."""
CONFIRM_ROWS: Final = 20
"""Captured updates in which nothing moved, one after the other."""
CONFIRM_STEPS: Final = 100
"""And steps: a rate that warms up is larger by then. As many as came before, if that is more: a training that ends with
a decay to 0 is over by then, one whose decay counted epochs is not."""


SLOW_RATIO: Final = 0.05 * USUAL_RATIO
"""At this ratio it takes 20,000 steps to move by as much as a weight is large; the largest of all kernels' counts, from
the first step on, when gradients are largest. Adam at a rate of 1e-5 changes weights of 0.05 by four times that."""
SLOW_STEPS: Final = 300
SLOW_ROWS: Final = 10


class StillRule:
    """Watches the largest update norm / weight norm over the kernels of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._weight, self._update = table.weights_and_updates()
        self._stream, self._table = stream, table
        self._has_moved = False
        self._n_rows = 0
        self._first_step = -1
        self._norms: list[float] = []
        self._largest = 0.0
        self._current: Still | None = None
        self._slow: Still | None = None
        self._is_slow, self._n_slow = True, 0
        self._slow_step, self._slow_ratio = -1, 0.0
        self._slow_norms: list[float] = []
        self.episodes: list[Still] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those without an update, and those whose gradient is exactly zero, say nothing."""
        if not len(self._weight):
            return
        weight = block.statistics[:, self._weight, COLUMN["norm"]].astype(np.float64)
        update = block.statistics[:, self._update, COLUMN["norm"]].astype(np.float64)
        norm = block.global_norm
        is_known = np.isfinite(np.concatenate([weight, update, norm[:, None]], axis=1)).all(axis=1)
        rows = np.flatnonzero(is_known & block.is_update & (norm > 0) & (weight > 0).any(axis=1))
        if not len(rows):
            return
        ratio = np.divide(update, weight, out=np.zeros_like(update), where=weight > 0)[rows].max(axis=1)
        if self._n_rows == 0 and not self._is_slow and (ratio >= RATIO_LIMIT).all():
            self._has_moved = True
            return
        for row, value in zip(rows.tolist(), ratio.tolist(), strict=True):
            self._step(int(block.steps[row]), value, float(norm[row]))
            if self._is_slow:
                self._crawl(int(block.steps[row]), value, float(norm[row]))

    def _crawl(self, step: int, ratio: float, norm: float) -> None:
        """Follows weights that have hardly moved since the first step, until they do."""
        self._is_slow = self._is_slow and ratio < SLOW_RATIO
        if not self._is_slow:
            if self._slow is not None:
                self._slow.closed_step = step
                self._slow = None
            return
        if self._n_slow == 0:
            self._slow_step = step
        self._n_slow += 1
        self._slow_ratio = max(self._slow_ratio, ratio)
        if len(self._slow_norms) < CONFIRM_STEPS:
            self._slow_norms.append(norm)
        if self._slow is not None:
            self._slow.last_step = step
            self._slow.n_rows += 1
        elif self._current is None and self._n_slow >= SLOW_ROWS and step - self._slow_step >= SLOW_STEPS:
            usual = float(np.median(self._slow_norms))
            self._slow = self._open(self._slow_step, step, self._n_slow, self._slow_ratio, usual, is_slow=True)

    def _step(self, step: int, ratio: float, norm: float) -> None:
        if ratio >= RATIO_LIMIT:
            self._n_rows, self._has_moved = 0, True
            if self._current is not None:
                self._current.closed_step = step
                self._current = None
                self._n_slow, self._slow_ratio = 0, 0.0  # what crawls from here on is another story
            return
        if self._n_rows == 0:
            self._first_step, self._norms, self._largest = step, [], 0.0
        self._n_rows += 1
        if self._current is not None:
            self._current.last_step = step
            self._current.n_rows += 1
            return
        if len(self._norms) < CONFIRM_STEPS:
            self._norms.append(norm)
        self._largest = max(self._largest, ratio)
        is_long = step - self._first_step >= max(CONFIRM_STEPS, self._first_step)
        is_sure = self._n_rows >= CONFIRM_ROWS and is_long and self._slow is None
        if is_sure and len(self.episodes) < EPISODES_LIMIT:
            norm = float(np.median(self._norms))
            self._current = self._open(self._first_step, step, self._n_rows, self._largest, norm)

    def _open(
        self, first_step: int, step: int, n_rows: int, ratio: float, norm: float, *, is_slow: bool = False
    ) -> Still:
        episode = Still(
            stream=self._stream,
            phase=Phase.UPDATE,
            first_step=first_step,
            last_step=step,
            n_rows=n_rows,
            known_step=step,
            table=self._table,
            ratio=ratio,
            gradient_norm=norm,
            has_moved=self._has_moved,
            is_slow=is_slow,
        )
        self.episodes.append(episode)
        return episode
