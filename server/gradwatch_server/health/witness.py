"""The rule for NaN and Inf that may be by design: in inputs, layers' outputs, and the gradients with respect to these.

A mask of -Inf, or gaps that the model fills itself, do no harm. So what is not finite counts only in rows whose loss or
gradient broke too, and not if it was there before without harm.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, NonFinite, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["WitnessRule"]

_COUNTS: Final = slice(COLUMN["n_nan"], COLUMN["n_neg_inf"] + 1)

Bool = npt.NDArray[np.bool_]


class WitnessRule:
    """Watches the tensors of one phase in one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
        phase: `Phase.INPUT`, `Phase.ACTIVATION` or `Phase.BACKPROP`.
    """

    def __init__(self, stream: int, table: TensorTable, phase: Phase) -> None:
        columns = {Phase.INPUT: table.input, Phase.ACTIVATION: table.activation, Phase.BACKPROP: table.backprop}
        self._stream, self._table, self._phase, self._columns = stream, table, phase, columns[phase]
        self._is_usual = np.zeros((len(self._columns), 3), bool)
        self._finite_step = -1
        self._n_calm = 0
        self._current: NonFinite | None = None
        self.episodes: list[NonFinite] = []

    def feed(self, block: Block) -> None:
        """Takes rows."""
        if not len(self._columns):
            return
        is_any = block.is_nonfinite[:, self._columns]
        is_seen = np.asarray(block.is_captured[:, self._columns].any(axis=1))
        if self._current is None and not is_any.any():
            self._note_finite(block, is_seen)
            return
        counts = block.statistics[:, self._columns, _COUNTS]
        is_odd = (counts > 0) & ~self._is_usual
        is_quiet = not (is_any[block.is_harmed].any() if self._phase is Phase.INPUT else is_odd.any())
        if self._current is None and is_quiet and not is_odd.any():
            self._note_finite(block, is_seen)
            return
        for row, step in enumerate(block.steps.tolist()):
            if not block.is_harmed[row]:
                self._is_usual |= counts[row] > 0
                self._take_calm(step, is_seen=bool(is_seen[row]))
            elif self._is_odd(counts[row]):
                self._take_bad(block, row, counts[row])
            elif is_seen[row]:
                self._finite_step = step  # what was broken then is still so: this is no recovery

    def _is_odd(self, counts: npt.NDArray[np.float32]) -> bool:
        # Of an input the columns may tell that other ones are broken than usual.
        is_bad = counts > 0
        return bool(is_bad.any() if self._phase is Phase.INPUT else (is_bad & ~self._is_usual).any())

    def _is_contained(self, block: Block, row: int, odd: npt.NDArray[np.float64]) -> bool:
        layers = self._table.activation
        broken = [self._table.names[column] for column in self._columns[odd.any(axis=1)]]
        # Labels and weights of samples enter behind the layers.
        is_before = all(name.partition("/")[0] == "input" for name in broken)
        is_seen = bool(block.is_captured[row, layers].any())
        return is_before and is_seen and not bool(block.is_nonfinite[row, layers].any())

    def _note_finite(self, block: Block, is_seen: Bool) -> None:
        if is_seen.any():
            self._finite_step = int(block.steps[is_seen][-1])

    def _take_bad(self, block: Block, row: int, counts: npt.NDArray[np.float32]) -> None:
        step = int(block.steps[row])
        odd = np.where(self._is_usual, 0.0, np.nan_to_num(counts)).astype(np.float64)
        is_usual = not odd.any()
        if is_usual:
            odd = np.nan_to_num(counts).astype(np.float64)
        if self._current is None and len(self.episodes) >= EPISODES_LIMIT:
            self._current = self.episodes[-1]
            self._current.closed_step = None
        if self._current is None:
            self._current = NonFinite(
                stream=self._stream,
                phase=self._phase,
                first_step=step,
                last_step=step,
                known_step=step,
                table=self._table,
                is_first_row=self._finite_step < 0,
                finite_step=self._finite_step,
                counts=odd,
                looked_at=block.is_captured[row, self._columns].copy(),
                first_steps=np.full(len(self._columns), -1, np.int64),
                sizes=np.nan_to_num(block.statistics[row, self._columns, COLUMN["n_elements"]]).astype(np.float64),
                n_rows=0,
                is_usual=is_usual,
                is_contained=self._phase is Phase.INPUT and self._is_contained(block, row, odd),
            )
            self.episodes.append(self._current)
        episode = self._current
        episode.last_step = step
        episode.n_rows += 1
        episode.first_steps[odd.any(axis=1) & (episode.first_steps < 0)] = step
        self._n_calm = 0

    def _take_calm(self, step: int, *, is_seen: bool) -> None:
        if is_seen:
            self._finite_step = step
        if self._current is None:
            return
        self._n_calm += 1
        if self._n_calm >= RECOVERY_ROWS:
            self._current.closed_step = step
            self._current = None
