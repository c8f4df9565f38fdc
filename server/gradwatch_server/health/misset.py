"""The rule for settings that undo one another, or the training: told alone, whatever the loss does."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Misset, Phase
from gradwatch_server.health.setup import Setup

__all__ = ["FEW_UPDATES", "MissetRule", "find_swapped_betas"]

CONFIRM_ROWS: Final = 50
"""Rows: what is run a few times is a trial."""


def find_swapped_betas(setup: Setup) -> tuple[float, float] | None:
    """The betas of an optimizer that forgets a gradient's size long before its direction; None where it does not.

    Adam needs beta_1 < sqrt(beta_2) to settle (Reddi, Kale and Kumar, "On the convergence of Adam and beyond", 2018).
    """
    first, second = setup.number("beta_1"), setup.number("beta_2")
    return (first, second) if first is not None and second is not None and first * first > second else None


FIRST_SHARE: Final = 0.5
"""Of averaged weights, what is the first step's at the least where that is told: a training is to move them further."""


def find_first_share(setup: Setup, n_steps: int) -> float | None:
    """Of the weights that `fit` puts in place at its end, what is the first step's; None where it averages none.

    Keras' optimizers begin the average with the weights after their first step, and put it in place of the weights
    where `fit` ends, unless they do so every ``ema_overwrite_frequency`` steps.
    """
    momentum = setup.number("ema_momentum")
    is_averaged = setup.settings.get("use_ema") is True and setup.number("ema_overwrite_frequency") is None
    is_fitted = setup.find_call("fit") is not None
    return momentum ** (n_steps - 1) if is_averaged and is_fitted and momentum is not None else None


FEW_UPDATES: Final = 20
"""Of all of a training that has read `MANY_STEPS` batches or more: no optimizer gets anywhere in so few."""
MANY_STEPS: Final = 500


WARM_ROWS: Final = 100
"""Rows: a shorter training is a trial."""
RISEN_FACTOR: Final = 10.0
"""Times the first rate, the last at the least, of a training that ended while it rose."""
LINEAR_SHARE: Final = 0.4
"""Of the last rate, what half of the rows have seen more than: one that grows by a factor, as where a rate is looked
for, is lower for longer."""
RISING_PART: Final = 0.8
"""Of the rows: since then it has risen still."""
RISING_SHARE: Final = 0.95
HIGHEST_RATE: Final = 0.05
"""A rate that comes to more is one that is looked for."""
RISES_MIN: Final = 12
"""Times that it rose: a warm-up that is meant to count epochs takes fewer."""
ROWS_PER_RISE: Final = 10
"""Rows from one rise to the next at the least, of one that counts epochs. One that counts steps may have been stopped
by hand."""


class _Rates:
    """The learning rate of one stream, as long as it never falls."""

    def __init__(self) -> None:
        self._n_rows = 0
        self._rises: list[tuple[int, float]] = []
        """The numbers of the rows at which it rose, and to what."""
        self._is_rising = True

    def feed(self, block: Block) -> None:
        """Takes rows."""
        rates = block.learning_rate
        for rate in rates[np.isfinite(rates) & (rates > 0)].tolist() if self._is_rising else ():
            newest = self._rises[-1][1] if self._rises else 0.0
            self._is_rising = self._is_rising and rate >= newest
            if rate > newest:
                self._rises.append((self._n_rows, rate))
            self._n_rows += 1

    def read(self) -> tuple[float, float] | None:
        """The first and the last rate of one that ended while it rose steadily, by epochs; None for any other."""
        first, last = (self._rises[place][1] if self._rises else 0.0 for place in (0, -1))
        is_high = RISEN_FACTOR * first <= last <= HIGHEST_RATE
        if not self._is_rising or self._n_rows < WARM_ROWS or not is_high:
            return None
        if not RISES_MIN <= len(self._rises) <= self._n_rows / ROWS_PER_RISE:
            return None
        half, late = (
            max(rate for row, rate in self._rises if row <= part * self._n_rows) for part in (0.5, RISING_PART)
        )
        return (first, last) if half >= LINEAR_SHARE * last and late <= RISING_SHARE * last else None


class MissetRule:
    """Watches one stream whose optimizer has such settings.

    Args:
        stream: the stream's number.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, setup: Setup) -> None:
        self._stream = stream
        self._setup = setup
        self._last_step = -1
        self._is_swapped = find_swapped_betas(setup) is not None
        lines = [setup.find_call("monitor"), setup.find_call("compounded")]
        is_other = self._is_swapped or any(one is not None for one in lines)
        self._is_unclipped = not is_other and setup.find_call("unapplied") is not None
        self._is_so = is_other or self._is_unclipped
        self._is_averaged = find_first_share(setup, 1) is not None
        self._is_summed = (setup.number("gradient_accumulation_steps") or 1) > 1
        self._n_updates = 0
        self._rates = _Rates()
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Misset] = []

    def feed(self, block: Block) -> None:
        """Takes rows."""
        self._n_updates += int(np.count_nonzero(block.is_update))
        self._rates.feed(block)
        for step in block.steps.tolist():
            self._first_step = step if self._n_rows == 0 else self._first_step
            self._n_rows, self._last_step = self._n_rows + 1, step
            if self._is_so and not self.episodes and self._n_rows >= CONFIRM_ROWS:
                self._note()
            for episode in self.episodes:
                episode.last_step, episode.n_rows = step, self._n_rows

    def finish(self, *, is_alone: bool) -> None:
        """Says that the run has ended, and whether there is no other stream, as of a stage that came later."""
        share = find_first_share(self._setup, self._n_rows)
        if share is not None and share >= FIRST_SHARE and self._n_rows >= CONFIRM_ROWS and not self.episodes:
            self._note(share)
        elif self._is_summed and self._n_rows >= MANY_STEPS and self._n_updates < FEW_UPDATES and not self.episodes:
            self._note(n_updates=self._n_updates)
        elif not self.episodes and is_alone and (warm_up := self._rates.read()) is not None:
            self._note(warm_up=warm_up)

    def _note(
        self, first_share: float = math.nan, n_updates: int = -1, warm_up: tuple[float, float] = (math.nan, math.nan)
    ) -> None:
        self.episodes.append(
            Misset(
                stream=self._stream,
                phase=Phase.UPDATE,
                first_step=self._first_step,
                last_step=self._last_step,
                n_rows=self._n_rows,
                known_step=self._last_step,
                first_share=first_share,
                n_updates=n_updates,
                warm_up=warm_up,
                is_unclipped=self._is_unclipped,
                is_swapped=self._is_swapped,
            )
        )
