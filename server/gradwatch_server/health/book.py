"""All scalars of a run, by where they come from and by name, and what is asked of them. Owns no judgement."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import is_loss
from gradwatch_server.health.series import Question, Reading, Series

__all__ = [
    "CLIPPED_SHARE",
    "GRADIENT_NORM",
    "KERNEL_NORM",
    "LEARNING_RATE",
    "LOGGED",
    "UPDATE_RATIO",
    "WEIGHTS_FINITE",
    "Book",
    "StepQuestion",
    "Testimony",
]

LOGGED: Final = -1
"""The stream number of scalars that the user logs."""

CLIPPED_SHARE: Final = "clipped_share"
"""The scalar of what share of its elements, or of the step, the optimizer's own clipping touches."""
GRADIENT_NORM: Final = "gradient_norm"
"""The scalar that the hook's reader makes of the gradients' norms."""
LEARNING_RATE: Final = "learning_rate"
"""The scalar that the hook reads off the optimizer."""
UPDATE_RATIO: Final = "gradwatch/update_ratio"
WEIGHTS_FINITE: Final = "gradwatch/weights_finite"
KERNEL_NORM: Final = "gradwatch/kernel_norm"
"""Scalars that the engine itself derives from the rows."""

Key = tuple[int, str]


class StepQuestion:
    """What the run's scalars say about one step, as far as they are known by now."""

    def __init__(self, stream: int, step: int) -> None:
        """Asks, on behalf of a stream, about a step; the book adds the answers."""
        self.stream, self.step = stream, step
        self.questions: dict[Key, Question] = {}

    def read(self, name: str, stream: int | None = None) -> Reading:
        """The reading of one scalar, of this stream if no other is given; empty where there is none.

        What the user logged belongs to no stream: where only one has such a scalar, that one is meant.
        """
        question = self._find(name, stream)
        return question.reading if question is not None else Reading()

    def negative_since(self, name: str) -> int | None:
        """The step since when one scalar has been below 0; None if it is not, or not there."""
        question = self._find(name, None)
        return question.negative_since() if question is not None else None

    def rising_since(self, name: str) -> tuple[int, float] | None:
        """Step and value from which on one scalar has risen; None if it has not, or is not there."""
        question = self._find(name, None)
        return question.rising_since() if question is not None else None

    def broken_before(self, name: str) -> int | None:
        """The last step before it at which one scalar was not finite; None for none."""
        question = self._find(name, None)
        return question.broken_before() if question is not None else None

    def _find(self, name: str, stream: int | None) -> Question | None:
        question = self.questions.get((self.stream if stream is None else stream, name))
        if question is None and stream is None and self.stream == LOGGED:
            others = [other for (_, known), other in self.questions.items() if known == name]
            question = others[0] if len(others) == 1 else None
        return question

    def read_loss(self) -> Reading:
        """The loss: the stream's own, else the logged ``loss``, else another; with any loss's non-finite value."""
        losses = {key: question.reading for key, question in self.questions.items() if is_loss(key[1])}
        known = {key: r for key, r in losses.items() if r.value is not None or r.before is not None}
        if not known:
            return Reading()
        first = min(known, key=lambda key: _rank(key, self.stream))
        chosen = known[first]
        odd = [r.value for r in known.values() if r.value is not None and not math.isfinite(r.value)]
        if odd:
            return replace(chosen, value=odd[0])
        return chosen


class Testimony(NamedTuple):
    """What the scalars say about an episode: at its first step, and at the step at which the rule was sure."""

    onset: StepQuestion
    known: StepQuestion


class Book:
    """Every scalar's `Series`, and every question asked, so that a scalar that appears later is asked too."""

    def __init__(self) -> None:
        """Starts empty."""
        self._series: dict[Key, Series] = {}
        self._asked: list[StepQuestion] = []

    def feed(self, stream: int, name: str, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Adds captured values of one scalar."""
        if not len(steps):
            return
        key = (stream, name)
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = Series()
            for asked in self._asked:
                asked.questions[key] = series.ask(asked.step)
        series.feed(steps, values)

    def ask(self, stream: int, step: int) -> StepQuestion:
        """Asks all scalars about a step."""
        asked = StepQuestion(stream, step)
        asked.questions = {key: series.ask(step) for key, series in self._series.items()}
        self._asked.append(asked)
        return asked

    def newest_loss(self, stream: int) -> tuple[int, float] | None:
        """Step and value of the newest loss, by the same choice as `StepQuestion.read_loss`; None if there is none."""
        keys = [key for key, series in self._series.items() if is_loss(key[1]) and series.last_step >= 0]
        if not keys:
            return None
        return self._series[min(keys, key=lambda key: _rank(key, stream))].newest

    def forget(self, asked: StepQuestion) -> None:
        """Drops a question that nobody has any more."""
        self._asked.remove(asked)


def _rank(key: Key, stream: int) -> tuple[bool, bool, Key]:
    return key != (stream, "loss"), key != (LOGGED, "loss"), key
