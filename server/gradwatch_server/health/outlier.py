"""Inputs that are finite and out of all proportion to what came before. Judges nothing: it explains what broke then."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT
from gradwatch_server.health.table import TensorTable

__all__ = ["OUTLIER_FACTOR", "OUTLIER_ROWS", "Outlier", "Outliers"]

OUTLIER_FACTOR: Final = 1_000.0
"""Times the largest |value| before: a wrong unit, a missing value coded as 1e20; heavy tails grow by less in a step."""
OUTLIER_ROWS: Final = 8
"""Rows after which the largest value so far says something."""


class Outlier(NamedTuple):
    """An input far larger than ever before.

    Attributes:
        step: the step in which it came.
        tensor: the input's name.
        value: its largest |value| in that step.
        before: and in all steps before.
    """

    step: int
    tensor: str
    value: float
    before: float


class Outliers:
    """What one stream's features reach.

    Args:
        table: its tensor table.
    """

    def __init__(self, table: TensorTable) -> None:
        columns = table.entering("input")
        self._columns = np.array(columns, np.int64)
        self._names = [table.names[column] for column in columns]
        self._largest = np.zeros(len(columns))
        self._n_rows = np.zeros(len(columns), np.int64)
        self.found: list[Outlier] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which an input was not looked at say nothing."""
        if not len(self._columns):
            return
        ends = block.statistics[:, self._columns][:, :, [COLUMN["min"], COLUMN["max"]]].astype(np.float64)
        reach = np.abs(ends).max(axis=2)
        for place, name in enumerate(self._names):
            rows = np.flatnonzero(np.isfinite(reach[:, place]))
            if not len(rows):
                continue
            values = reach[rows, place]
            before = np.maximum.accumulate(np.concatenate([[self._largest[place]], values]))[:-1]
            is_known = self._n_rows[place] + np.arange(len(rows)) >= OUTLIER_ROWS
            for at in np.flatnonzero(is_known & (before > 0) & (values > OUTLIER_FACTOR * before)).tolist():
                if len(self.found) < EPISODES_LIMIT:
                    step = int(block.steps[rows[at]])
                    self.found.append(Outlier(step, name, float(values[at]), float(before[at])))
            self._largest[place] = max(self._largest[place], float(values.max()))
            self._n_rows[place] += len(rows)
