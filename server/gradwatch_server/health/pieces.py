"""Cuts the values of a loss into pieces of one length. Owns its first values, and the piece that is not full yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["PIECE_VALUES", "Pieces"]

START_VALUES: Final = 3
"""The first values are the start: a loss runs away, or falls, within the first steps."""

PIECE_VALUES: Final = 20
"""Values whose median is one look: a bad batch is none."""


class Pieces:
    """The pieces of one loss, however many values come at once.

    Attributes:
        first: its first finite values, three at the most.
    """

    def __init__(self) -> None:
        self.first: list[float] = []
        self._piece = np.zeros(PIECE_VALUES)
        self._n = 0

    def feed(
        self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
    ) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
        """Takes captured values, in order of steps; gives each piece that is full, and the step of its last value."""
        wanted = START_VALUES - len(self.first)
        if wanted > 0:
            self.first += values[np.isfinite(values)][:wanted].tolist()
        start = 0
        while start < len(steps):
            place = self._n % PIECE_VALUES
            end = min(len(steps), start + PIECE_VALUES - place)
            self._piece[place : place + end - start] = values[start:end]
            self._n += end - start
            start = end
            if self._n % PIECE_VALUES == 0:
                yield int(steps[end - 1]), self._piece
