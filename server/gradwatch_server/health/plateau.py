"""The rule for a loss that never leaves what guessing gives. Owns one loss' newest values.

That a loss does not fall tells little: it may have converged, be noisy by nature, or belong to a game of two. The loss
of guessing among C classes is ln C, though, and a model whose last layer has C outputs and whose loss stays at ln C for
long has not learned. Nothing else is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Plateau
from gradwatch_server.health.table import TensorTable

__all__ = ["PlateauRule", "count_classes"]

WINDOW_VALUES: Final = 1_000
"""SageMaker Debugger asks for 10 steps; deep networks may need some hundred before they begin to learn."""
REFRESH_VALUES: Final = 100
"""Values between two looks, counted from the loss' first one, so that batches do not matter."""
LEVEL_TOLERANCE: Final = 0.01
"""How near the median must be to the loss of guessing. Priors that differ between classes lower it, and are not
judged."""
TREND_LIMIT: Final = 0.002
"""By how much of itself the loss may fall from the first to the second half, and still be level; above its noise."""
MAD_TO_SIGMA: Final = 1.4826

Float64 = npt.NDArray[np.float64]


class PlateauRule:
    """Watches one loss.

    Args:
        stream: the stream that brings it, -1 for one that the user logs.
        name: its name.
    """

    def __init__(self, stream: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._values = np.zeros(WINDOW_VALUES)
        self._steps = np.zeros(WINDOW_VALUES, np.int64)
        self._n = 0
        self._current: Plateau | None = None
        self.n_classes = 0
        """How many classes are guessed among; 0 where that is not known: then nothing is judged."""
        self.episodes: list[Plateau] = []

    def feed(self, steps: npt.NDArray[np.int64], values: Float64) -> None:
        """Takes captured values, in order of steps."""
        start = 0
        while start < len(steps):
            end = min(len(steps), start + REFRESH_VALUES - self._n % REFRESH_VALUES)
            places = np.arange(self._n, self._n + end - start) % WINDOW_VALUES
            self._values[places], self._steps[places] = values[start:end], steps[start:end]
            self._n += end - start
            start = end
            if self._n % REFRESH_VALUES == 0 and self._n >= WINDOW_VALUES and self.n_classes >= 2:
                self._look()

    def _look(self) -> None:
        order = np.arange(self._n - WINDOW_VALUES, self._n) % WINDOW_VALUES
        values, steps = self._values[order], self._steps[order]
        level = float(np.median(values))
        spread = MAD_TO_SIGMA * float(np.median(np.abs(values - level)))
        if not self._is_stuck(values, level, spread):
            if self._current is not None:
                self._current.closed_step = int(steps[-1])
                self._current = None
            return
        if self._current is None and len(self.episodes) < EPISODES_LIMIT:
            self._current = Plateau(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=int(steps[0]),
                last_step=int(steps[-1]),
                n_rows=0,
                known_step=int(steps[-1]),
                name=self._name,
                level=level,
                spread=spread,
                guess=math.log(self.n_classes),
                n_classes=self.n_classes,
            )
            self.episodes.append(self._current)
        if self._current is not None:
            self._current.last_step = int(steps[-1])
            self._current.n_rows += REFRESH_VALUES if self._current.n_rows else WINDOW_VALUES

    def _is_stuck(self, values: Float64, level: float, spread: float) -> bool:
        guess = math.log(self.n_classes)
        if not np.isfinite(values).all() or abs(level - guess) > LEVEL_TOLERANCE * guess:
            return False
        newest = float(np.median(values[-REFRESH_VALUES:]))
        if newest < level - max(LEVEL_TOLERANCE * guess, 3.0 * spread):
            return False
        half = WINDOW_VALUES // 2
        fall = float(np.median(values[:half]) - np.median(values[half:]))
        noise = 2.0 * spread / math.sqrt(half)  # of the difference of two medians
        return fall <= max(TREND_LIMIT * guess, noise)


def count_classes(tables: Sequence[TensorTable]) -> int:
    """How many classes a run tells apart: the width of its last layer, 2 for a single output; 0 where it is not known.

    Several streams are a game of several models, whose losses need not fall.
    """
    if len(tables) != 1:
        return 0
    table = tables[0]
    if not len(table.kernels):
        return 0
    kernel = table.gradient[table.kernels[-1]]
    if len(table.activation) and table.functions[int(table.activation[-1])] == "sigmoid":
        return 2
    width = table.shapes[kernel][-1]
    return 2 if width == 1 else width
