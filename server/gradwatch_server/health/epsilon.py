"""The rule for an optimizer's epsilon that is far above every gradient.

Adam and its like divide a gradient by its own usual size, and add an epsilon to that so as not to divide by 0. Beside a
large one they divide by epsilon alone, which makes them gradient descent with a rate that is as much smaller. Who gave
such an epsilon on purpose gave the rate for it, so that the updates are of the usual size: that is asked later.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Misset, Phase
from gradwatch_server.health.misset import CONFIRM_ROWS, find_swapped_betas
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.table import TensorTable

__all__ = ["EpsilonRule"]

EPSILON_MIN: Final = 1e-5
"""Keras' is 1e-7, PyTorch's 1e-8; gradients may well be smaller than that where a training is at its end."""
EPSILON_FACTOR: Final = 30.0
"""Times the largest gradient's root mean square: what it is divided by is epsilon then, and nothing else."""
UPDATES_MIN: Final = 10
"""Captured ones, that their size be known."""
ADAPTIVE: Final = frozenset({"Adam", "AdamW", "Adamax", "Nadam", "RMSprop"})
"""Keras' optimizers that divide a gradient by its own usual size and an epsilon."""


class EpsilonRule:
    """Watches the kernels' gradients of one stream whose optimizer was given a large epsilon.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up; betas that are swapped are told alone.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream = stream
        self._gradient = table.gradient[table.kernels]
        _, self._update = table.weights_and_updates()
        is_judged = setup.optimizer_class in ADAPTIVE and find_swapped_betas(setup) is None
        self._epsilon = (setup.number("epsilon") or 0.0) if is_judged else 0.0
        self._is_so = self._epsilon >= EPSILON_MIN and len(self._update) > 0
        self._largest = 0.0
        """The largest root mean square of any kernel's gradient so far."""
        self._n_rows = self._n_updates = 0
        self._first_step = -1
        self.episodes: list[Misset] = []

    def feed(self, block: Block) -> None:
        """Takes rows; the first gradient that is not far below ends it for good."""
        if not self._is_so or not len(block.steps):
            return
        names = [COLUMN[name] for name in ("norm", "n_elements")]
        norm, size = block.statistics[:, self._gradient][:, :, names].astype(np.float64).transpose(2, 0, 1)
        found = np.nanmax(norm / np.sqrt(np.maximum(size, 1.0)), axis=1, initial=self._largest)
        largest = np.maximum.accumulate(found)
        is_far = EPSILON_FACTOR * largest <= self._epsilon
        n_rows = self._n_rows + np.arange(1, len(found) + 1)
        n_updates = self._n_updates + np.cumsum(block.is_captured[:, self._update].all(axis=1))
        is_sure = is_far & (n_rows >= CONFIRM_ROWS) & (n_updates >= UPDATES_MIN) & (largest > 0)
        self._first_step = int(block.steps[0]) if self._n_rows == 0 else self._first_step
        if not self.episodes and is_sure.any():
            row = int(np.argmax(is_sure))
            self._open(int(block.steps[row]), float(largest[row]))
        for episode in self.episodes:
            if is_far.any():
                episode.last_step, episode.n_rows = int(block.steps[is_far][-1]), int(n_rows[is_far][-1])
            if not is_far.all():
                episode.closed_step = int(block.steps[np.argmin(is_far)])
        self._n_rows, self._n_updates = int(n_rows[-1]), int(n_updates[-1])
        self._largest, self._is_so = float(largest[-1]), bool(is_far[-1])

    def _open(self, step: int, gradient: float) -> None:
        self.episodes.append(
            Misset(
                stream=self._stream,
                phase=Phase.UPDATE,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                epsilon=self._epsilon,
                gradient=gradient,
            )
        )
