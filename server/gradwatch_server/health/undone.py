"""The rule for weights that are put back between steps: what the optimizer does is undone by something else.

A mean is linear: of a weight after a step it is that after the step before, plus that of the update. Where it is not,
something else has changed the weight in between: a copy that is assigned, weights that are loaded, a limit kept by
hand. Many do that on purpose. It is a trouble where it takes back what the optimizer did since the last time, again and
again, and the loss does not come down, which is asked later, or goes up each time. Of rows only those of steps that
follow each other can tell. What is assigned outside of a graph the hook sees itself, with its line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Undone
from gradwatch_server.health.still import CONFIRM_STEPS
from gradwatch_server.health.table import TensorTable

__all__ = ["UndoneRule"]

ROUNDING: Final = 1e-5
"""Of the root mean square of a weight: what float32 may make of a sum of means."""
UPDATE_ROUNDING: Final = 1e-3
"""Of the mean of the update."""
LEFT_LIMIT: Final = 0.2
"""The part of what the optimizer did that a change which undoes it leaves; an average over many steps leaves some."""
TIMES_MIN: Final = 3
"""Changes that undo it, nearly all of those seen: one is a checkpoint that is loaded."""
TIMES_SHARE: Final = 0.8
TIMES_KEPT: Final = 64
"""Of which the median is told."""
N_LOSSES: Final = 10
"""Before and after a change; their means are compared."""

Float = npt.NDArray[np.float64]


class _Leap(NamedTuple):
    """The losses of the rows before and after a change."""

    before: list[float]
    after: list[float]


class UndoneRule:
    """Watches the means of one stream's kernels from one step to the next.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._weight, self._update = table.weights_and_updates()
        self._stream, self._table = stream, table
        self._step = -1
        self._mean = np.zeros(len(self._weight))
        self._moved: Float | None = None
        """What updates have added to each mean since the last change from outside, None after a gap."""
        self._n_changes = self._n_undone = 0
        self._first_step = self._last_step = -1
        self._left: list[float] = []
        self._periods: list[int] = []
        self._assigned: deque[int] = deque(maxlen=TIMES_KEPT)
        """The steps before the newest changes that the hook saw itself."""
        self._waiting: deque[Mapping[str, Any]] = deque()
        """Those of which the rows have not come."""
        self._source: Mapping[str, Any] | None = None
        self._losses: deque[float] = deque(maxlen=N_LOSSES)
        self._leap: _Leap | None = None
        self._n_leaps = self._n_level = 0
        self._current: Undone | None = None
        self.episodes: list[Undone] = []

    def note_assigned(self, assigned: Mapping[str, Any]) -> None:
        """Takes an entry of the field ``assigned`` of a ``rows`` message; before the row of its step, or after it."""
        self._assigned.append(int(assigned["step"]))
        self._waiting.append(assigned)

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights or updates were not looked at are a gap."""
        self._feed_assigned(block)
        if not len(self._weight):
            return
        mean = block.statistics[:, self._weight, COLUMN["mean"]].astype(np.float64)
        update = block.statistics[:, self._update, COLUMN["mean"]].astype(np.float64)
        norm = block.statistics[:, self._weight, COLUMN["norm"]].astype(np.float64)
        size = np.maximum(block.statistics[:, self._weight, COLUMN["n_elements"]].astype(np.float64), 1.0)
        rows = np.flatnonzero(np.isfinite(mean + update + norm + size).all(axis=1))
        if not len(rows):
            return
        steps, mean, update, scale = block.steps[rows], mean[rows], update[rows], (norm / np.sqrt(size))[rows]
        before = np.concatenate([self._mean[None], mean[:-1]])
        is_next = np.diff(steps, prepend=self._step) == 1
        is_changed = self._is_changed(mean - before - update, update, scale)
        if is_next.all() and not is_changed.any():  # nobody but the optimizer, and row by row as below
            if self._moved is not None:
                self._moved = np.cumsum(np.concatenate([self._moved[None], update]), axis=0)[-1]
            self._step, self._mean = int(steps[-1]), mean[-1]
            return
        for step, *row in zip(steps.tolist(), mean, update, scale, strict=True):
            self._take(step, *row)

    @staticmethod
    def _is_changed(change: Float, update: Float, scale: Float) -> npt.NDArray[np.bool_]:
        """Whether something else has changed weights, row by row."""
        return np.asarray((np.abs(change) > ROUNDING * scale + UPDATE_ROUNDING * np.abs(update)).any(axis=-1))

    def _take(self, step: int, mean: Float, update: Float, scale: Float) -> None:
        is_next = step == self._step + 1
        change = mean - self._mean - update
        self._step, self._mean = step, mean
        if not is_next:
            self._moved = update.copy() if step == 0 else None
            return
        if self._is_changed(change, update, scale):
            self._note(step, change, scale)
            self._moved = update.copy()
        elif self._moved is not None:
            self._moved = self._moved + update

    def _feed_assigned(self, block: Block) -> None:
        """Takes the changes that the hook saw itself, and the losses around them."""
        if not self._waiting and self._leap is None:
            self._losses.extend(block.loss[-N_LOSSES:][np.isfinite(block.loss[-N_LOSSES:])].tolist())
            return
        for step, loss in zip(block.steps.tolist(), block.loss.tolist(), strict=True):
            while self._waiting and int(self._waiting[0]["step"]) < step:
                one = self._waiting.popleft()
                self._end_leap()
                self._leap = _Leap(list(self._losses), [])
                self._source = one.get("source") or self._source
                self._count(step, float(one["left"]))
            if np.isfinite(loss):
                self._losses.append(loss)
                if self._leap is not None:
                    self._leap.after.append(loss)
            if self._leap is not None and len(self._leap.after) == N_LOSSES:
                self._end_leap()

    def _end_leap(self) -> None:
        """Compares the losses around a change."""
        if self._leap is not None and self._leap.before and self._leap.after:
            is_up = np.mean(self._leap.after) > np.mean(self._leap.before)
            self._n_leaps += int(is_up)
            self._n_level += int(not is_up)
            if self._current is not None:
                self._current.leaps = (self._n_leaps, self._n_level)
        self._leap = None

    def _note(self, step: int, change: Float, scale: Float) -> None:
        """Something else has changed weights before this step."""
        if self._moved is None or step - 1 in self._assigned:
            return
        safe = np.where(scale > 0, scale, 1.0)
        moved = float(np.abs(self._moved / safe).sum())
        if moved <= len(scale) * ROUNDING:
            return  # nothing to undo
        self._count(step, float(np.abs((self._moved + change) / safe).sum()) / moved)

    def _count(self, step: int, left: float) -> None:
        """A change before this step left so much of what the optimizer did."""
        self._n_changes += 1
        if left <= LEFT_LIMIT:
            self._n_undone += 1
            if self._n_undone == 1:
                self._first_step = step
            elif len(self._left) < TIMES_KEPT:
                self._periods.append(step - self._last_step)
            if len(self._left) < TIMES_KEPT:
                self._left.append(left)
            self._last_step = step
        is_so = (
            self._n_undone >= TIMES_MIN
            and self._n_undone >= TIMES_SHARE * self._n_changes
            and step - self._first_step >= CONFIRM_STEPS  # by then a loss that comes down all the same has done so
        )
        if self._current is not None:
            if self._n_undone < TIMES_SHARE * self._n_changes:
                self._current.closed_step = step
                self._current = None
                return
            self._current.last_step = step
            self._current.n_rows = self._n_undone
        elif is_so and len(self.episodes) < EPISODES_LIMIT:
            self._current = Undone(
                stream=self._stream,
                phase=Phase.WEIGHT,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_undone,
                known_step=step,
                table=self._table,
                left=float(np.median(self._left)),
                period=int(np.median(self._periods)),
                source=self._source,
                leaps=(self._n_leaps, self._n_level),
            )
            self.episodes.append(self._current)
