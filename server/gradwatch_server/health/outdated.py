"""The rule for numbers of Python's that a compiled step goes on with though they would be others by now.

The hook tells in each row which of the numbers that a step was traced with are outdated: random numbers from the
second step of a trace on, any other once it has changed. A step that is traced anew takes them anew.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Outdated, Phase

__all__ = ["OutdatedRule"]

CONFIRM_ROWS: Final = 20
"""Rows in a run: a number that a loop changes may be followed by a new trace."""


class OutdatedRule:
    """Watches the numbers that one stream's step was traced with.

    Args:
        stream: the stream's number.
    """

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._n_rows: dict[int, int] = {}
        """For each place how many rows in a run it was outdated."""
        self._open: dict[int, Outdated] = {}
        self._first: dict[int, int] = {}
        self.episodes: list[Outdated] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those that say nothing of it are passed by."""
        rows = np.flatnonzero(~np.isnan(block.outdated))
        bits = block.outdated[rows].astype(np.int64)
        if not bits.any() and not self._n_rows:
            return
        for step, mask in zip(block.steps[rows].tolist(), bits.tolist(), strict=True):
            places = {place for place in range(mask.bit_length()) if mask >> place & 1}
            for place in self._n_rows.keys() - places:
                del self._n_rows[place]
                if (over := self._open.pop(place, None)) is not None:
                    over.closed_step = step
            for place in sorted(places):
                self._note(place, step)

    def _note(self, place: int, step: int) -> None:
        n_rows = self._n_rows[place] = self._n_rows.get(place, 0) + 1
        if n_rows == 1:
            self._first[place] = step
        if place in self._open:
            episode = self._open[place]
            episode.last_step, episode.n_rows = step, n_rows
        elif n_rows == CONFIRM_ROWS and not any(one.place == place for one in self.episodes):
            self._open[place] = Outdated(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=self._first[place],
                last_step=step,
                n_rows=n_rows,
                known_step=step,
                place=place,
            )
            self.episodes.append(self._open[place])
