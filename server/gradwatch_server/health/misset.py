"""The rule for settings of an optimizer that undo one another, or its own doing: told alone, whatever the loss does.

Swapped betas are known from the first step on. Adam and its like divide a gradient by its own usual size, and add an
epsilon to that so as not to divide by 0: where epsilon is far above every gradient they divide by epsilon, which makes
them gradient descent with a rate that is as much smaller. Who gave such an epsilon on purpose gave the rate for it, so
that the updates are of the usual size.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Misset, Phase
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.table import TensorTable

__all__ = ["MissetRule", "find_swapped_betas"]

CONFIRM_ROWS: Final = 50
"""Rows: what is run a few times is a trial."""
EPSILON_MIN: Final = 1e-5
"""Keras' is 1e-7, PyTorch's 1e-8; gradients may well be smaller than that where a training is at its end."""
EPSILON_FACTOR: Final = 30.0
"""Times the largest gradient's root mean square: what it is divided by is epsilon then, and nothing else."""
SMALL_RATIO: Final = 0.1 * USUAL_RATIO
"""Updates this small against the weights are too small."""
UPDATES_MIN: Final = 10
"""Captured ones."""
ADAPTIVE: Final = frozenset({"Adam", "AdamW", "Adamax", "Nadam", "RMSprop"})
"""Keras' optimizers that divide a gradient by its own usual size and an epsilon."""


def find_swapped_betas(setup: Setup) -> tuple[float, float] | None:
    """The betas of an optimizer that forgets a gradient's size long before its direction; None where it does not.

    Adam needs beta_1 < sqrt(beta_2) to settle (Reddi, Kale and Kumar, "On the convergence of Adam and beyond", 2018).
    """
    first, second = setup.number("beta_1"), setup.number("beta_2")
    return (first, second) if first is not None and second is not None and first * first > second else None


class MissetRule:
    """Watches one stream whose optimizer has such settings.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream, self._table = stream, table
        self._has_swapped = find_swapped_betas(setup) is not None
        epsilon = setup.number("epsilon") if setup.optimizer_class in ADAPTIVE else None
        self._epsilon = epsilon if epsilon is not None and epsilon >= EPSILON_MIN else math.nan
        self._weight, self._update = table.weights_and_updates()
        self._largest = 0.0
        """The largest root mean square of any kernel's gradient so far."""
        self._ratios: list[float] = []
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Misset] = []

    def feed(self, block: Block) -> None:
        """Takes rows."""
        if not self._has_swapped and not len(self._update):
            return
        is_watched = self._has_swapped or (not math.isnan(self._epsilon) and self._is_far(self._largest))
        if is_watched and not self._has_swapped:
            self._look(block)
        for step in block.steps.tolist() if is_watched else ():
            self._first_step = step if self._n_rows == 0 else self._first_step
            self._n_rows += 1
            if not self.episodes and self._n_rows >= CONFIRM_ROWS and self._is_so():
                self.episodes.append(self._open(step))
            for episode in self.episodes:
                is_over = not self._has_swapped and not self._is_far(self._largest)
                if is_over:
                    episode.closed_step = step
                elif episode.is_open:
                    episode.last_step, episode.n_rows = step, self._n_rows

    def _look(self, block: Block) -> None:
        """Takes the sizes of gradients and updates; kernels that got no gradient say nothing."""
        columns = self._table.gradient[self._table.kernels]
        norm, size = _read(block, columns, "norm"), _read(block, columns, "n_elements")
        self._largest = max(self._largest, float(np.nanmax(norm / np.sqrt(np.maximum(size, 1.0)), initial=0.0)))
        if len(self._ratios) < UPDATES_MIN:
            weight, update = _read(block, self._weight, "norm"), _read(block, self._update, "norm")
            ratio = np.where(weight > 0, update / np.where(weight > 0, weight, 1.0), np.nan)
            self._ratios += np.median(ratio[np.isfinite(ratio).all(axis=1)], axis=1).tolist()[:UPDATES_MIN]

    def _is_far(self, gradient: float) -> bool:
        return gradient * EPSILON_FACTOR <= self._epsilon

    def _is_so(self) -> bool:
        if self._has_swapped:
            return True
        is_small = len(self._ratios) >= UPDATES_MIN and float(np.median(self._ratios)) < SMALL_RATIO
        return is_small and self._largest > 0 and self._is_far(self._largest)

    def _open(self, step: int) -> Misset:
        episode = Misset(
            stream=self._stream,
            phase=Phase.UPDATE,
            first_step=self._first_step,
            last_step=step,
            n_rows=self._n_rows,
            known_step=step,
        )
        if not self._has_swapped:
            episode.epsilon, episode.gradient = self._epsilon, self._largest
            episode.ratio = float(np.median(self._ratios))
        return episode


def _read(block: Block, columns: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.float64]:
    return block.statistics[:, columns, COLUMN[name]].astype(np.float64)
