"""The rule for a loss that runs away without ever becoming NaN.

A loss of training ends somewhere: at 0, at the noise of the data, at the entropy of what is predicted. One that is a
hundred times its start, and stays beyond it, is being driven: up by steps that are too large or have the wrong sign,
down because nothing bounds it. One that stays at a few times its start may be well, as where two models play; it is
another matter when the weights grew likewise, which is for others to say.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Runaway
from gradwatch_server.health.pieces import PIECE_VALUES, Pieces

__all__ = ["GROWN_FACTOR", "RunawayRule", "is_driven"]

RUNAWAY_FACTOR: Final = 100.0
"""Times the least of the first values, or times 1 where that is smaller: losses in bits, nats or squared units start
within that."""
CALM_FACTOR: Final = 10.0
"""Hysteresis: it is over below this."""
CONFIRM_LOOKS: Final = 3
"""One look after another: divergence stays, a burst does not."""
CLIMB_FACTOR: Final = 3.0
"""Times its start, above 0: a climb."""
CLIMB_LOOKS: Final = 5
CLIMB_CALM_FACTOR: Final = 2.0
CLIMBS_LIMIT: Final = EPISODES_LIMIT // 2
"""Of a loss that swings, most climbs are nobody's trouble: they leave room for what is."""
GROWN_FACTOR: Final = 5.0
"""Kernels this many times as large as at first have grown with the loss; of the catalogue's healthy trainings with a
loss that climbs none has."""


class RunawayRule:
    """Watches one loss.

    Args:
        stream: the stream that brings it, -1 for one that the user logs.
        name: its name.
    """

    def __init__(self, stream: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._pieces = Pieces()
        self._n_far = self._n_climbed = 0
        self._far_step = self._climb_step = -1
        self._current: Runaway | None = None
        self.episodes: list[Runaway] = []

    def feed(self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Takes captured values, in order of steps."""
        for step, piece in self._pieces.feed(steps, values):
            if np.isfinite(piece).all():
                self._look(step, float(np.median(piece)))

    def _look(self, step: int, level: float) -> None:
        begun = min(self._pieces.first, key=abs)
        times = abs(level) / max(abs(begun), 1.0)
        if self._current is not None:
            if times < (CALM_FACTOR if self._current.is_far else CLIMB_CALM_FACTOR):
                self._current.closed_step = step
                self._current, self._n_far, self._n_climbed = None, 0, 0
                return
            self._n_far = self._n_far + 1 if times >= RUNAWAY_FACTOR else 0
            self._current.is_far |= self._n_far >= CONFIRM_LOOKS
            self._current.last_step = step
            self._current.n_rows += PIECE_VALUES
            if abs(level) > abs(self._current.level):
                self._current.level = level
            return
        if self._n_far == 0:
            self._far_step = step - PIECE_VALUES + 1
        if self._n_climbed == 0:
            self._climb_step = step - PIECE_VALUES + 1
        self._n_far = self._n_far + 1 if times >= RUNAWAY_FACTOR else 0
        self._n_climbed = self._n_climbed + 1 if times >= CLIMB_FACTOR and level > 0 else 0
        is_far = self._n_far >= CONFIRM_LOOKS
        is_climb = self._n_climbed >= CLIMB_LOOKS and len(self.episodes) < CLIMBS_LIMIT
        if is_climb or (is_far and len(self.episodes) < EPISODES_LIMIT):
            self._current = Runaway(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=max(self._far_step if is_far else self._climb_step, 0),
                last_step=step,
                n_rows=(self._n_far if is_far else self._n_climbed) * PIECE_VALUES,
                known_step=step,
                name=self._name,
                start=begun,
                times=RUNAWAY_FACTOR if is_far else CLIMB_FACTOR,
                level=level,
                is_far=is_far,
            )
            self.episodes.append(self._current)


def is_driven(episode: Runaway) -> bool:
    """Whether the kernels grew with the loss: then it is no consequence of what they make of the layers."""
    return episode.weight_factor >= GROWN_FACTOR
