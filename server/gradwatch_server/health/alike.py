"""The rules for what is worth one alone: units of a kernel, or kernels, that begin equal and never come apart.

Units that begin equal and get equal gradients stay equal, so that a layer of any width is worth one unit. A constant
start alone is none: what stands before or behind may tell the units apart, as random targets of a last layer do, or
dropout. A start at 0 is none either: layers are made so on purpose, to begin as nothing. It is where the hook sees that
the units have moved, and as copies; those of a mixture do, all means alike, all spreads alike.

Kernels begin equal where one seed makes several of them. Those that follow one another come apart with the first step;
experts that are mixed, or heads of one task, do not. Their statistics are the same to the last digits, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Alike, Phase, Twins
from gradwatch_server.health.still import CONFIRM_ROWS, CONFIRM_STEPS
from gradwatch_server.health.table import TensorTable

__all__ = ["AlikeRule", "TwinsRule"]

ROUNDING: Final = 1e-5
"""Of a mean: standard deviations below it are what float32 makes of equal numbers."""
SPREAD_SLACK: Final = 1e-3
"""A row holds weights after their update. Of a constant start their spread is the update's own, to this share; a random
start adds to it, unless the update is twenty times as wide."""
TWINS_STEPS: Final = 50
"""Steps after which copies are told: sooner than what becomes of them, a choice among equals that gets no gradient."""
EQUAL_SHARE: Final = 1e-3
"""Of the root mean square: the standard deviation over units whose gradients are equal up to the order of sums."""


class AlikeRule:
    """Watches the kernels of one stream that have several units and began as one number.

    The gradient of a bias has an element for each unit: units are equal where those are. Of a layer without a bias the
    hook tells, by looking at the kernel; where it does not, only kernels can be judged whose elements are all equal
    still, as they are behind a layer of equal units.

    Args:
        stream: the stream's number.
        table: its tensor table.
        looked_at: names of the kernels that the hook looks at, in the order of the bits.
    """

    def __init__(self, stream: int, table: TensorTable, looked_at: Sequence[str] = ()) -> None:
        self._stream, self._table = stream, table
        bits = {name: 1 << place for place, name in enumerate(looked_at)}
        self._bits = {p: bit for p in range(len(table.gradient)) if (bit := bits.get(table.names[table.gradient[p]]))}
        self._kernels = [p for p in table.whole_kernels.tolist() if table.shapes[table.gradient[p]][-1] > 1]
        self._alike: dict[int, float] | None = None
        """The kernels whose units have been equal so far, and the number they began with; None before the first row."""
        self._first_step = -1
        self._n_rows = 0
        self._current: Alike | None = None
        self.episodes: list[Alike] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which the weights were not looked at say nothing."""
        if not self._kernels or self._alike == {}:
            return
        columns = self._table.weight_of[self._kernels]
        is_seen = np.isfinite(block.statistics[:, columns, COLUMN["std"]]).all(axis=1) & block.is_update
        for row in np.flatnonzero(is_seen).tolist():
            if self._alike is None:
                self._alike = self._find_constant(block, row)
                self._first_step = int(block.steps[row])
            self._alike = {p: value for p, value in self._alike.items() if self._is_equal(block, row, p, value)}
            self._step(int(block.steps[row]), self._alike)
            if not self._alike:
                return

    def _find_constant(self, block: Block, row: int) -> dict[int, float]:
        found = {}
        for position in self._kernels:
            weight, update = self._table.weight_of[position], self._table.update_of[position]
            mean, spread = block.statistics[row, weight, [COLUMN["mean"], COLUMN["std"]]].astype(np.float64).tolist()
            step, widths = block.statistics[row, update, [COLUMN["mean"], COLUMN["std"]]].astype(np.float64).tolist()
            is_constant = spread <= (1 + SPREAD_SLACK) * widths + ROUNDING * abs(mean)
            is_at_0 = abs(mean - step) <= ROUNDING * max(abs(mean), abs(step), widths)
            if is_constant and (not is_at_0 or position in self._bits):
                found[position] = 0.0 if is_at_0 else float(mean - step)
        return found

    def _is_equal(self, block: Block, row: int, position: int, start: float) -> bool:
        """Whether a kernel's units were copies in a row, as far as it tells: a gradient of 0 tells nothing."""
        table, bias = self._table, int(self._table.bias_of[position])
        is_seen = position in self._bits and not np.isnan(block.alike[row])
        if is_seen and int(block.alike[row]) & self._bits[position]:
            return bool(block.statistics[row, table.weight_of[position], COLUMN["norm"]] > 0)
        if (is_seen and bias < 0) or start == 0:
            return False
        column = table.gradient[bias] if bias >= 0 else table.weight_of[position]
        norm, spread = block.statistics[row, column, [COLUMN["norm"], COLUMN["std"]]].astype(np.float64).tolist()
        return bool(spread <= EQUAL_SHARE * norm / np.sqrt(max(table.n_elements[column], 1.0)))

    def _step(self, step: int, alike: dict[int, float]) -> None:
        self._n_rows += 1
        if self._current is not None:
            if not alike:
                self._current.closed_step = step
                return
            self._current.last_step = step
            self._current.n_rows += 1
        elif alike and self._n_rows >= CONFIRM_ROWS and step - self._first_step >= CONFIRM_STEPS:
            self._current = Alike(
                stream=self._stream,
                phase=Phase.WEIGHT,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                positions=alike,
            )
            self.episodes.append(self._current)


class TwinsRule:
    """Watches the kernels of one stream that have the same shape and began with the same random numbers.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        by_shape: dict[tuple[int, ...], list[int]] = {}
        for position in table.whole_kernels.tolist():
            by_shape.setdefault(table.shapes[table.gradient[position]], []).append(position)
        self._groups = [group for group in by_shape.values() if len(group) > 1]
        """Kernels that may be copies of one another, group by group."""
        self._first: dict[int, npt.NDArray[np.float32]] = {}
        self._first_step = -1
        self._n_rows = 0
        self._current: Twins | None = None
        self.episodes: list[Twins] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which the weights were not looked at say nothing."""
        if not self._groups:
            return
        columns = self._table.weight_of[[p for group in self._groups for p in group]]
        for row in np.flatnonzero(np.isfinite(block.statistics[:, columns, COLUMN["std"]]).all(axis=1)).tolist():
            self._groups = [group for one in self._groups for group in self._apart(block, row, one)]
            self._step(int(block.steps[row]), block, row)
            if not self._groups:
                return

    def _read(self, block: Block, row: int, position: int) -> npt.NDArray[np.float32]:
        return block.statistics[row, self._table.weight_of[position], [COLUMN["min"], COLUMN["max"], COLUMN["std"]]]

    def _apart(self, block: Block, row: int, group: list[int]) -> list[list[int]]:
        """Those of a group that are copies of one another in a row, and were given the same gradient."""
        same: dict[tuple[float, ...], list[int]] = {}
        for position in group:
            low, high, spread = self._read(block, row, position).tolist()
            gradient = block.statistics[row, self._table.gradient[position], [COLUMN["min"], COLUMN["max"]]]
            if spread > 0:
                same.setdefault((low, high, *gradient.tolist()), []).append(position)
        return [found for found in same.values() if len(found) > 1]

    def _step(self, step: int, block: Block, row: int) -> None:
        self._n_rows += 1
        if not self._groups:
            if self._current is not None:
                self._current.closed_step = step
            return
        group = max(self._groups, key=len)
        if self._n_rows == 1:
            self._first_step = step
            self._first = {p: self._read(block, row, p) for one in self._groups for p in one}
        if self._current is not None:
            self._current.last_step, self._current.n_rows = step, self._n_rows
        elif (
            self._n_rows >= CONFIRM_ROWS
            and step - self._first_step >= TWINS_STEPS
            and (self._read(block, row, group[0]) != self._first[group[0]]).any()  # it is trained
        ):
            self._current = Twins(
                stream=self._stream,
                phase=Phase.WEIGHT,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                positions=tuple(group),
                n_groups=len(self._groups),
            )
            self.episodes.append(self._current)
