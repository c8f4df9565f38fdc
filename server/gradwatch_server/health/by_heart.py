"""The rule for what is learned by heart: the training loss falls, and that of the validation never is below its start.

Any training may end in overfitting, and most validation losses rise again after their best: that is no trouble of the
numbers. One that was never better than a model which knows nothing is: what is learned of the training data says
nothing of the others. What the training loss did meanwhile is asked later.

Where it is known what guessing gives, one that has not come below that in many validations, and rises, tells the same
of a training loss that comes down slowly.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.book import LOGGED
from gradwatch_server.health.episode import ByHeart, Phase

__all__ = ["VALIDATION_LOSS", "ByHeartRule"]

VALIDATION_LOSS: Final = "val_loss"
"""As Keras names it, and the hook with it."""
VALUES_MIN: Final = 3
"""Running statistics of batch normalisation are behind at first."""


class ByHeartRule:
    """Watches the validation loss; its one episode lasts until the engine finds it better than guessing."""

    def __init__(self) -> None:
        """Begins without a value."""
        self._best = np.inf
        self._n_values = 0
        self._first_step = -1
        self.episodes: list[ByHeart] = []

    def feed(self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Takes validation losses, in order of steps; those that are not finite say nothing here."""
        for step, value in zip(steps.tolist(), values.tolist(), strict=True):
            if not np.isfinite(value):
                continue
            if self._n_values == 0:
                self._first_step = step
            self._n_values += 1
            self._best = min(self._best, value)
            if self._n_values >= VALUES_MIN:
                # The newest value asks anew what the training loss has done by then.
                self.episodes = [
                    ByHeart(
                        stream=LOGGED,
                        phase=Phase.LOSS,
                        first_step=self._first_step,
                        last_step=step,
                        n_rows=self._n_values,
                        known_step=step,
                        best=self._best,
                        newest=value,
                        n_values=self._n_values,
                    )
                ]
