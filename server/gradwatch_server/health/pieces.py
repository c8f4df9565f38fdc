"""Cuts the values of a loss into pieces of one length. Owns the piece that is not full yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["PIECE_VALUES", "Pieces"]

PIECE_VALUES: Final = 20
"""Values whose median is one look: a bad batch is none."""


class Pieces:
    """The pieces of one loss, however many values come at once."""

    def __init__(self) -> None:
        self._piece = np.zeros(PIECE_VALUES)
        self._n = 0

    def feed(
        self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
    ) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
        """Takes captured values, in order of steps; gives each piece that is full, and the step of its last value."""
        start = 0
        while start < len(steps):
            place = self._n % PIECE_VALUES
            end = min(len(steps), start + PIECE_VALUES - place)
            self._piece[place : place + end - start] = values[start:end]
            self._n += end - start
            start = end
            if self._n % PIECE_VALUES == 0:
                yield int(steps[end - 1]), self._piece
