"""The rule for a loss that comes back to where it began, and stays: what was learned is lost.

A loss rises for good reasons too: harder data, a penalty that sets in, values that grow as an agent finds rewards. So
it must be back at its start, after it had fallen to less than half, beyond all noise of batches, and no longer fall;
and it is told only where the targets are labels, whose loss has one scale throughout, or the gradient stands still.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Relapse
from gradwatch_server.health.pieces import PIECE_VALUES, Pieces

__all__ = ["RelapseRule"]

WON_SHARE: Final = 0.5
BACK_SHARE: Final = 0.8
"""Of the start, the median of the first values: what it had fallen below, and what it is above again."""
FALLING_SHARE: Final = 0.9
"""Of the last looks' median: a loss below it falls again."""
CONFIRM_LOOKS: Final = 5
"""One look after another; most bursts are over within one."""


class RelapseRule:
    """Watches one loss.

    Args:
        stream: the stream that brings it, -1 for one that the user logs.
        name: its name.
    """

    def __init__(self, stream: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._pieces = Pieces()
        self._best = self._best_high = np.inf
        self._best_step = -1
        self._levels: deque[float] = deque(maxlen=CONFIRM_LOOKS)
        self._since = -1
        self._current: Relapse | None = None
        self.episodes: list[Relapse] = []

    def feed(self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Takes captured values, in order of steps."""
        for step, piece in self._pieces.feed(steps, values):
            self._look(step, piece)

    def _look(self, step: int, piece: npt.NDArray[np.float64]) -> None:
        start, level = float(np.median(self._pieces.first or np.nan)), float(np.median(piece))
        if level < self._best:
            self._best, self._best_high, self._best_step = level, float(piece.max()), step
        has_won = 0 < self._best <= WON_SHARE * start
        is_back = has_won and level >= BACK_SHARE * start and float(piece.min()) > self._best_high
        if not is_back:
            self._levels.clear()
            if self._current is not None:
                self._current.closed_step = step
                self._current = None
            return
        if not self._levels:
            self._since = step - PIECE_VALUES + 1
        self._levels.append(level)
        if self._current is not None:
            self._current.last_step = step
            self._current.n_rows += PIECE_VALUES
            self._current.level = level
            return
        is_falling = level < FALLING_SHARE * float(np.median(self._levels))
        if len(self._levels) == CONFIRM_LOOKS and not is_falling and len(self.episodes) < EPISODES_LIMIT:
            self._current = Relapse(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=max(self._since, 0),
                last_step=step,
                n_rows=CONFIRM_LOOKS * PIECE_VALUES,
                known_step=step,
                name=self._name,
                start=start,
                best=self._best,
                best_step=self._best_step,
                level=level,
            )
            self.episodes.append(self._current)
