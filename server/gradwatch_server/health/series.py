"""One scalar over the steps, and questions about it that are answered once the data are there. Owns no judgement.

A rule may meet a NaN gradient at a step whose loss has not arrived yet, or arrived long ago. So a question is kept
until the series has passed its step, and its answer does not depend on which came first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["RECENT_VALUES", "Question", "Reading", "Series"]

CAPACITY: Final = 65_536
"""How many values a series remembers: far more than rows and scalars are ever apart."""
_FEED_LIMIT: Final = 8_192
RECENT_VALUES: Final = 20
"""A median over this many values stands for the level of a noisy scalar."""

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """What a series says about one step.

    Attributes:
        value: the value of that step, perhaps not finite; None if not recorded.
        before: the last finite value of an earlier step, or None.
        before_step: and its step.
        highest: the highest of the last `RECENT_VALUES` finite values before that step, or None.
        recent: the median of the last `RECENT_VALUES` finite values up to that step, or None.
        initial: the median of the series' first `RECENT_VALUES` finite values up to that step, or None.
    """

    value: float | None = None
    before: float | None = None
    before_step: int | None = None
    highest: float | None = None
    recent: float | None = None
    initial: float | None = None

    @property
    def newest(self) -> float | None:
        """The last finite value up to that step, or None."""
        return self.value if self.value is not None and math.isfinite(self.value) else self.before


class Question:
    """A question about one step of a series; `reading` is its answer as far as it is known."""

    def __init__(self, series: Series, step: int) -> None:
        """Asks the series about a step."""
        self.step = step
        self._series = series
        self._answer: Reading | None = None

    @property
    def reading(self) -> Reading:
        """The final answer, or the one that the data so far allow."""
        return self._answer if self._answer is not None else self._series.read(self.step)

    def negative_since(self) -> int | None:
        """The step of the first of the values below 0 that lead up to the step, as far as the series remembers."""
        return self._series.negative_since(self.step)

    def rising_since(self) -> tuple[int, float] | None:
        """Step and value from which on the values have risen up to the step without falling; None where they have not.

        As far as the series remembers.
        """
        return self._series.rising_since(self.step)

    def broken_before(self) -> int | None:
        """The last step before it whose value is not finite, as far as the series remembers; None for none."""
        return self._series.broken_before(self.step)

    def settle(self) -> None:
        """Keeps the answer: the series has passed the step."""
        self._answer = self._series.read(self.step)


class Series:
    """A scalar over steps that never fall; remembers the newest `CAPACITY` values and the first few."""

    def __init__(self) -> None:
        """Starts empty."""
        self._steps = np.zeros(2 * CAPACITY, np.int64)
        self._values = np.zeros(2 * CAPACITY, np.float64)
        self._n = 0
        self._first_steps: list[int] = []
        self._first_values: list[float] = []
        self._pending: list[Question] = []

    @property
    def last_step(self) -> int:
        """The newest step, -1 if there is none."""
        return int(self._steps[self._n - 1]) if self._n else -1

    @property
    def newest(self) -> tuple[int, float] | None:
        """Step and value of the newest value, or None."""
        return (self.last_step, float(self._values[self._n - 1])) if self._n else None

    def feed(self, steps: Int64, values: Float64) -> None:
        """Adds values; those of steps before the newest one are a replay, and are left out."""
        fresh = steps >= self.last_step
        steps, values = steps[fresh], values[fresh]
        for start in range(0, len(steps), _FEED_LIMIT):
            self._append(steps[start : start + _FEED_LIMIT], values[start : start + _FEED_LIMIT])

    def ask(self, step: int) -> Question:
        """A question about a step, past or future."""
        question = Question(self, step)
        if self.last_step > step:
            question.settle()
        else:
            self._pending.append(question)
        return question

    def read(self, step: int) -> Reading:
        """What the values so far say about a step."""
        end = int(np.searchsorted(self._steps[: self._n], step, side="right"))
        start = int(np.searchsorted(self._steps[:end], step, side="left"))
        last = self._last_finite_place(start)
        return Reading(
            value=_pick(self._values[start:end]),
            before=float(self._values[last]) if last >= 0 else None,
            before_step=int(self._steps[last]) if last >= 0 else None,
            highest=max(self._last_finite_values(start), default=None),
            recent=_median(self._last_finite_values(end)),
            initial=_median([v for s, v in zip(self._first_steps, self._first_values, strict=True) if s <= step]),
        )

    def rising_since(self, step: int) -> tuple[int, float] | None:
        """The last step and value before those rose that lead up to a step, none of which falls; None for none."""
        end = int(np.searchsorted(self._steps[: self._n], step, side="right"))
        fell = np.flatnonzero(np.diff(self._values[:end]) < 0)
        begun = int(fell[-1]) + 1 if len(fell) else 0
        rose = np.flatnonzero(self._values[begun:end] > self._values[begun])
        if not len(rose):
            return None
        last = begun + int(rose[0]) - 1
        return int(self._steps[last]), float(self._values[last])

    def negative_since(self, step: int) -> int | None:
        """The step of the first of the values below 0 that lead up to a step; None if the newest is not below 0."""
        end = int(np.searchsorted(self._steps[: self._n], step, side="right"))
        if not end or not self._values[end - 1] < 0:
            return None
        others = np.flatnonzero(~(self._values[:end] < 0))
        return int(self._steps[others[-1] + 1 if len(others) else 0])

    def broken_before(self, step: int) -> int | None:
        """The last step before a step whose value is not finite; None for none."""
        end = int(np.searchsorted(self._steps[: self._n], step))
        broken = np.flatnonzero(~np.isfinite(self._values[:end]))
        return int(self._steps[broken[-1]]) if len(broken) else None

    def _append(self, steps: Int64, values: Float64) -> None:
        if self._n + len(steps) > 2 * CAPACITY:
            keep = slice(self._n - CAPACITY, self._n)
            self._steps[:CAPACITY], self._values[:CAPACITY] = self._steps[keep].copy(), self._values[keep].copy()
            self._n = CAPACITY
        self._steps[self._n : self._n + len(steps)] = steps
        self._values[self._n : self._n + len(steps)] = values
        self._n += len(steps)
        self._keep_first(steps, values)
        if self._pending:
            passed = [question for question in self._pending if question.step < self.last_step]
            for question in passed:
                question.settle()
            self._pending = [question for question in self._pending if question.step >= self.last_step]

    def _keep_first(self, steps: Int64, values: Float64) -> None:
        wanted = RECENT_VALUES - len(self._first_values)
        if wanted > 0:
            places = np.flatnonzero(np.isfinite(values))[:wanted]
            self._first_steps += steps[places].tolist()
            self._first_values += values[places].tolist()

    def _last_finite_place(self, end: int) -> int:
        """The place of the last finite value before a place, -1 for none; looks nearby first."""
        for start in (max(0, end - 50 * RECENT_VALUES), 0):
            finite = np.flatnonzero(np.isfinite(self._values[start:end]))
            if len(finite):
                return start + int(finite[-1])
        return -1

    def _last_finite_values(self, end: int) -> list[float]:
        # Runs of NaN are long: look back far enough to find values before one, but not without end.
        tail = self._values[max(0, end - 50 * RECENT_VALUES) : end]
        finite: list[float] = tail[np.isfinite(tail)][-RECENT_VALUES:].tolist()
        return finite


def _pick(values: Float64) -> float | None:
    """The value of a step that may have several: one that is not finite tells most."""
    if not len(values):
        return None
    odd = values[~np.isfinite(values)]
    return float(odd[0]) if len(odd) else float(values[-1])


def _median(values: list[float]) -> float | None:
    if not values:
        return None
    median = float(np.median(values))
    return median if math.isfinite(median) else None
