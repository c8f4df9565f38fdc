"""The rule for an optimizer that is made anew over and over: each time its averages and its schedule begin again.

A `compile` within the loop over chunks of data, or an optimizer that is made in each step, gives the same variables to
a new optimizer. A schedule that warms up then does so for ever, and Adam's averages never know more than the last few
steps. Another optimizer for another stage is none of it: it has other variables, another rate, or many steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Phase, Remade
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.table import TensorTable

__all__ = ["Course", "RemadeRule"]

TIMES_MIN: Final = 4
"""Optimizers of the same variables, one after another; of stages of a training there are two or three."""
STEPS_FEW: Final = 20
"""Steps of each, up to which its averages (of ten steps and of a thousand, of Adam) are hardly begun."""
RATE_MOVES: Final = 0.1
"""By how much of itself a rate changes within one optimizer, to be that of a schedule."""
SAME_RATE: Final = 0.01
"""By how much of itself a first rate may differ from that of the optimizer before."""


class Course:
    """The steps that one stream's optimizer took, and its learning rate at both ends.

    Args:
        table: the stream's tensor table.
        setup: how its training is set up.
    """

    def __init__(self, table: TensorTable, setup: Setup) -> None:
        names = [table.names[column] for column in table.gradient.tolist()]
        self.key = (setup.optimizer_class, *sorted(names))
        self.is_of_replica = table.replica is not None
        self.first_step = self.last_step = -1
        self.first_rate = self.last_rate = float("nan")

    @property
    def n_steps(self) -> int:
        """How many steps from the first to the last."""
        return self.last_step - self.first_step + 1

    @property
    def has_schedule(self) -> bool:
        """Whether its rate changed."""
        return abs(self.last_rate - self.first_rate) > RATE_MOVES * abs(self.first_rate)

    def feed(self, block: Block) -> None:
        """Takes rows."""
        if not len(block.steps):
            return
        self.first_step = int(block.steps[0]) if self.first_step < 0 else self.first_step
        self.last_step = int(block.steps[-1])
        rates = block.learning_rate[np.isfinite(block.learning_rate)]
        if len(rates):
            self.first_rate = float(rates[0]) if np.isnan(self.first_rate) else self.first_rate
            self.last_rate = float(rates[-1])


class RemadeRule:
    """Compares the streams of a run."""

    def __init__(self) -> None:
        """Starts with nothing compared."""
        self.episodes: list[Remade] = []

    def compare(self, streams: Iterable[tuple[int, Course]]) -> None:
        """Looks for streams that train the same, one after another.

        Args:
            streams: number and course of each stream, in order of their numbers.
        """
        groups: dict[tuple[str, ...], list[tuple[int, Course]]] = {}
        for number, course in streams:
            if course.first_step >= 0 and not course.is_of_replica:
                groups.setdefault(course.key, []).append((number, course))
        for group in groups.values():
            if len(group) >= TIMES_MIN and (self.episodes or _begin_anew([course for _, course in group])):
                self._tell(group)

    def _tell(self, group: list[tuple[int, Course]]) -> None:
        courses = [course for _, course in group]
        if not self.episodes:
            known = courses[TIMES_MIN - 1]
            self.episodes.append(
                Remade(
                    stream=group[0][0],
                    phase=Phase.UPDATE,
                    first_step=courses[1].first_step,
                    last_step=known.last_step,
                    n_rows=TIMES_MIN,
                    known_step=known.first_step,
                    n_steps=int(np.median([one.n_steps for one in courses[: TIMES_MIN - 1]])),
                    first_rate=courses[0].first_rate,
                    last_rate=courses[0].last_rate,
                    has_schedule=courses[0].has_schedule,
                )
            )
        (episode,) = self.episodes
        if episode.stream == group[0][0]:
            episode.last_step, episode.n_rows, episode.newest = courses[-1].last_step, len(group), group[-1][0]


def _begin_anew(courses: list[Course]) -> bool:
    """Whether each began after the one before, and as that did."""
    pairs = list(itertools.pairwise(courses))
    are_apart = all(before.last_step < after.first_step for before, after in pairs)
    is_same = all(
        abs(after.first_rate - before.first_rate) <= SAME_RATE * abs(before.first_rate) for before, after in pairs
    )
    is_short = all(course.n_steps <= STEPS_FEW for course in courses[:-1])
    return are_apart and is_same and (is_short or all(course.has_schedule for course in courses[:-1]))
