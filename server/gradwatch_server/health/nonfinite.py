"""The rules for NaN and Inf: in gradients, updates, weights (`NonFiniteRule`); in a scalar (`NonFiniteScalarRule`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, NonFinite, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["LOSS_SCALE_FLOOR", "LOSS_SCALE_HALVINGS", "NonFiniteRule", "NonFiniteScalarRule"]

LOSS_SCALE_HALVINGS: Final = 20
"""Overflows in one stretch that dynamic loss scaling cannot need: Keras starts at 2^15 and halves at each, so 15
bring it to its floor (keras.optimizers.LossScaleOptimizer, initial_scale=2**15); a few more for users who start
higher."""

LOSS_SCALE_FLOOR: Final = 1.0
"""Gradients that overflow at this scale overflow without scaling too."""

_COUNTS: Final = slice(COLUMN["n_nan"], COLUMN["n_neg_inf"] + 1)


class NonFiniteRule:
    """Watches the tensors of one phase in one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
        phase: `Phase.GRADIENT`, `Phase.UPDATE` or `Phase.WEIGHT`.
        harmed: for gradients, the rules of updates and weights, which take the rows first: an overflow under loss
            scaling is forgotten once it is over, unless it did harm there.
        began_forward: for gradients, tells of a step whether what broke began in the forward pass, which no loss scale
            has a part in; its operations take the rows first.
    """

    def __init__(
        self,
        stream: int,
        table: TensorTable,
        phase: Phase,
        harmed: Sequence[NonFiniteRule] = (),
        began_forward: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self._stream, self._table, self._phase, self._harmed = stream, table, phase, harmed
        self._began_forward = began_forward
        self._columns = {Phase.GRADIENT: table.gradient, Phase.UPDATE: table.update, Phase.WEIGHT: table.weight}[phase]
        self._finite_step = -1
        self._n_finite = 0
        self._scale_before = float("nan")
        self._current: NonFinite | None = None
        self.episodes: list[NonFinite] = []

    def feed(self, block: Block) -> None:
        """Takes rows; a row in which none of the tensors was captured changes nothing."""
        if not len(self._columns) or not len(block.steps):
            return
        is_bad = np.asarray(block.is_nonfinite[:, self._columns].any(axis=1))
        scales = np.fmax.accumulate(np.append(self._scale_before, np.where(block.is_scaled, block.loss_scale, np.nan)))
        if self._current is None and not is_bad.any():
            seen = block.is_captured[:, self._columns].any(axis=1)
            if seen.any():
                self._finite_step = int(block.steps[seen][-1])
            self._scale_before = float(scales[-1])
            return
        is_seen = block.is_captured[:, self._columns].any(axis=1)
        for row in np.flatnonzero(is_seen):
            self._scale_before = float(scales[row + 1])
            if is_bad[row]:
                self._take_bad(block, int(row))
            else:
                self._take_finite(int(block.steps[row]))
        self._scale_before = float(scales[-1])

    def _take_bad(self, block: Block, row: int) -> None:
        step = int(block.steps[row])
        bad = block.is_nonfinite[row, self._columns]
        if self._current is None:
            self._open(block, row, step)
        episode = self._current
        if episode is None:
            return
        if episode.last_step != step:
            episode.last_step = step
            episode.n_rows += 1
        episode.first_steps[bad & (episode.first_steps < 0)] = step
        self._n_finite = 0
        if episode.is_scaled:
            episode.n_skipped += 1
            episode.scale = min(episode.scale, float(block.loss_scale[row]))
        if episode.is_normal:
            at_floor = block.loss_scale[row] <= LOSS_SCALE_FLOOR
            if episode.n_skipped >= LOSS_SCALE_HALVINGS or at_floor or not block.is_scaled[row]:
                episode.is_normal = False
                episode.known_step = step

    def _open(self, block: Block, row: int, step: int) -> None:
        if len(self.episodes) >= EPISODES_LIMIT:
            self._current = self.episodes[-1]
            self._current.closed_step = None
            return
        found = block.statistics[row, self._columns].astype(np.float64)
        is_scaled = self._phase is Phase.GRADIENT and bool(block.is_scaled[row])
        is_forward = is_scaled and self._began_forward(step)
        self._current = NonFinite(
            stream=self._stream,
            phase=self._phase,
            first_step=step,
            last_step=step,
            known_step=step,
            table=self._table,
            is_first_row=self._finite_step < 0,
            finite_step=self._finite_step,
            counts=np.nan_to_num(found[:, _COUNTS]),
            looked_at=block.is_captured[row, self._columns].copy(),
            first_steps=np.full(len(self._columns), -1, np.int64),
            is_normal=is_scaled and not is_forward,
            is_scaled=is_scaled,
            is_forward=is_forward,
            scale_before=self._scale_before,
            scale=float(block.loss_scale[row]),
        )
        self.episodes.append(self._current)

    def _take_finite(self, step: int) -> None:
        self._finite_step = step
        if self._current is None:
            return
        self._n_finite += 1
        if self._n_finite >= RECOVERY_ROWS:
            self._current.closed_step = step
            if self._current.is_normal and not self._did_harm(self._current.first_step, step):
                self.episodes.remove(self._current)
            self._current = None

    def _did_harm(self, first_step: int, last_step: int) -> bool:
        found = itertools.chain.from_iterable(rule.episodes for rule in self._harmed)
        return any(first_step <= episode.first_step <= last_step for episode in found)


class NonFiniteScalarRule:
    """Watches one scalar, such as a loss.

    Args:
        stream: the stream that brings it, -1 for one that the user logs.
        name: its name.
    """

    def __init__(self, stream: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._finite_step = -1
        self._n_finite = 0
        self._current: NonFinite | None = None
        self.episodes: list[NonFinite] = []

    def feed(self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Takes captured values, in order of steps."""
        is_bad = np.asarray(~np.isfinite(values))
        if self._current is None and not is_bad.any():
            if len(steps):
                self._finite_step = int(steps[-1])
            return
        for step, value, bad in zip(steps.tolist(), values.tolist(), is_bad.tolist(), strict=True):
            if bad:
                self._take_bad(step, value)
            else:
                self._take_finite(step)

    def _take_bad(self, step: int, value: float) -> None:
        if self._current is None and len(self.episodes) >= EPISODES_LIMIT:
            self._current = self.episodes[-1]
            self._current.closed_step = None
        if self._current is None:
            self._current = NonFinite(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=step,
                last_step=step,
                known_step=step,
                name=self._name,
                is_first_row=self._finite_step < 0,
                finite_step=self._finite_step,
                value=value,
                n_rows=0,
            )
            self.episodes.append(self._current)
        self._current.last_step = step
        self._current.n_rows += 1
        self._n_finite = 0

    def _take_finite(self, step: int) -> None:
        self._finite_step = step
        if self._current is None:
            return
        self._n_finite += 1
        if self._n_finite >= RECOVERY_ROWS:
            self._current.closed_step = step
            self._current = None
