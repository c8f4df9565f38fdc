"""The rule for a loss that stays where it began, though it had come down in the last healthy run of the same script.

That a loss does not fall tells little, whatever its level; that it fell before, by the same script, tells much. It is
given twice the steps that the healthy run took, and must begin where that began: else it is another loss, or a run
that goes on from trained weights.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.baseline import Baseline, Course
from gradwatch_server.health.episode import EPISODES_LIMIT, Behind, Phase
from gradwatch_server.health.pieces import PIECE_VALUES, Pieces

__all__ = ["BehindRule"]

Float64 = npt.NDArray[np.float64]

WON_SHARE: Final = 0.5
"""Of its start: a healthy run's loss had come down to this or lower, or is no measure."""
LAG_SHARE: Final = 0.2
"""Of what the loss had come down by in the healthy run: who has not come so far lags behind."""
PATIENCE: Final = 2
"""Times the steps of the healthy run: another seed, rate or batch size may take longer."""
START_TOLERANCE: Final = 0.25
"""Of the healthy run's start: losses that begin farther apart are not the same."""
CONFIRM_LOOKS: Final = 10
"""One look after another: two hundred values."""


class BehindRule:
    """Watches one loss.

    Args:
        stream: the stream that brings it, -1 for one that the user logs.
        name: its name.
        baseline: what it is held against; None: nothing is judged.
    """

    def __init__(self, stream: int, name: str, baseline: Baseline | None) -> None:
        self._stream, self._name, self._baseline = stream, name, baseline
        self._course = None if baseline is None else baseline.losses.get(name)
        self._pieces = Pieces()
        self._n_looks = 0
        self._since = -1
        self._current: Behind | None = None
        self.episodes: list[Behind] = []

    def feed(self, steps: npt.NDArray[np.int64], values: Float64) -> None:
        """Takes captured values, in order of steps."""
        if self._course is None:
            return
        for step, piece in self._pieces.feed(steps, values):
            self._look(self._course, step, float(np.median(piece)))

    def _look(self, course: Course, step: int, level: float) -> None:
        start = float(np.median(self._pieces.first or np.nan))
        there_step = step // PATIENCE
        best = course.best_by(there_step)
        is_measure = (
            0 < best <= WON_SHARE * course.start and abs(start - course.start) <= START_TOLERANCE * course.start
        )
        if not (is_measure and start - level <= LAG_SHARE * (course.start - best)):
            self._n_looks = 0
            if self._current is not None:
                self._current.closed_step = step
                self._current = None
            return
        if self._n_looks == 0:
            self._since = step
        self._n_looks += 1
        if self._current is not None:
            self._current.last_step = step
            self._current.n_rows += PIECE_VALUES
            self._current.level = level
        elif self._n_looks == CONFIRM_LOOKS and len(self.episodes) < EPISODES_LIMIT:
            self._current = Behind(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=self._since,
                last_step=step,
                n_rows=CONFIRM_LOOKS * PIECE_VALUES,
                known_step=step,
                name=self._name,
                start=start,
                level=level,
                baseline=self._baseline,
                there_start=course.start,
                there_level=best,
                there_step=there_step,
            )
            self.episodes.append(self._current)
