"""The rule for a learning rate that has come down to next to nothing long before the end.

A schedule that is given epochs where it counts steps, or one that takes every good epoch for a bad one, leaves most of
the training to steps that are too small to matter. A rate that ends low is none of it: what counts is that twice as
many steps were taken at a hundredth of the highest rate as before, while the loss has not come down far (asked later).
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Decayed, Phase

__all__ = ["EVERY_MAX", "LOW_SHARE", "DecayedRule"]

EVERY_MAX: Final = 2.0
"""Steps from one cut of the rate to the next: at every step."""

LOW_SHARE: Final = 1e-2
"""Of the highest rate so far: where usual schedules end."""
LOW_FACTOR: Final = 2
"""Times the steps before it, at the least."""
LOW_STEPS: Final = 200
LOW_ROWS: Final = 20
CUTS: Final = 5
"""Changes of the rate, each of which took a larger part than the one before, to call them compounded."""
CUT_SLACK: Final = 1e-3


class DecayedRule:
    """Watches the learning rate of one stream.

    Args:
        stream: the stream's number.
    """

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._first_step = self._high_step = -1
        self._highest = 0.0
        self._n_low = 0
        self._rate = float("nan")
        self._n_cuts = 0
        self._cut_step = -1
        self._cuts: deque[float] = deque(maxlen=CUTS)
        """What the newest changes left of the rate."""
        self.episodes: list[Decayed] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those without a rate, or with one that is not finite, say nothing."""
        rates = block.learning_rate
        for row in np.flatnonzero(np.isfinite(rates) & (rates > 0)).tolist():
            self._step(int(block.steps[row]), float(rates[row]))

    def _step(self, step: int, rate: float) -> None:
        self._first_step = step if self._first_step < 0 else self._first_step
        self._highest = max(self._highest, rate)
        if rate < self._rate:
            self._n_cuts += 1
            self._cut_step = step
            self._cuts.append(rate / self._rate)
        self._rate = rate
        known = self.episodes[-1] if self.episodes and self.episodes[-1].is_open else None
        if rate >= LOW_SHARE * self._highest:
            self._high_step, self._n_low = step, 0
            if known is not None:
                known.closed_step = step
            return
        self._n_low += 1
        n_before = self._high_step - self._first_step + 1
        if known is not None:
            known.last_step, known.n_rows, known.rate = step, self._n_low, rate
        elif (
            not self.episodes
            and self._n_low >= LOW_ROWS
            and step - self._high_step >= max(LOW_STEPS, LOW_FACTOR * n_before)
        ):
            self.episodes.append(
                Decayed(
                    stream=self._stream,
                    phase=Phase.UPDATE,
                    first_step=self._high_step + 1,
                    last_step=step,
                    n_rows=self._n_low,
                    known_step=step,
                    highest=self._highest,
                    rate=rate,
                    every=(self._cut_step - self._first_step) / max(self._n_cuts, 1),
                    is_compounded=self._is_compounded(),
                )
            )

    def _is_compounded(self) -> bool:
        is_falling = all(later < (1 - CUT_SLACK) * earlier for earlier, later in pairwise(self._cuts))
        return len(self._cuts) == CUTS and is_falling
