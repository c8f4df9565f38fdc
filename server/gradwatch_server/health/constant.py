"""Inputs that are one number in every element of every batch: nothing can be learned of them. Judges nothing.

A mask of ones or a type of 0 may well be; the indices of what a lookup does not find are too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.table import TensorTable

__all__ = ["Constant", "ConstantInputs"]

ROWS_MIN: Final = 20
"""Captured rows from which on it is known."""


class Constant(NamedTuple):
    """An input that never changed.

    Attributes:
        name: its name in the table.
        value: what it is.
        n_rows: in so many rows.
    """

    name: str
    value: float
    n_rows: int


class ConstantInputs:
    """What enters one stream's model.

    Args:
        table: its tensor table.
    """

    def __init__(self, table: TensorTable) -> None:
        indices = table.entering("index")
        self._columns, self._n_indices = indices + table.entering("input"), len(indices)
        self._names = [table.names[column] for column in self._columns]
        self._values = np.full(len(self._columns), np.nan)
        self._n_rows = np.zeros(len(self._columns), np.int64)
        self._is_constant = np.ones(len(self._columns), bool)

    def feed(self, block: Block) -> None:
        """Takes rows; those in which an input was not looked at say nothing of it."""
        if not self._is_constant.any():
            return
        ends = block.statistics[:, self._columns][:, :, [COLUMN["min"], COLUMN["max"]]].astype(np.float64)
        is_seen: npt.NDArray[np.bool_] = np.asarray(np.isfinite(ends).all(axis=2))
        for place in np.flatnonzero(self._is_constant & is_seen.any(axis=0)).tolist():
            values = ends[is_seen[:, place], place]
            if np.isnan(self._values[place]):
                self._values[place] = values[0, 0]
            self._is_constant[place] = bool((values == self._values[place]).all())
            self._n_rows[place] += len(values)

    def read(self) -> tuple[Sequence[Constant], bool]:
        """The inputs that never changed, and whether no others are indices, or no others are there at all."""
        places = np.flatnonzero(self._is_constant & (self._n_rows >= ROWS_MIN)).tolist()
        n_indices = sum(place < self._n_indices for place in places)
        is_all = 0 < n_indices == self._n_indices or 0 < len(places) == len(self._columns)
        found = [Constant(self._names[p], float(self._values[p]), int(self._n_rows[p])) for p in places]
        return found, is_all
