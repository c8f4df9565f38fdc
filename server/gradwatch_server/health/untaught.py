"""The rule for layers that are as they were made, frozen or given to no optimizer: nothing ever taught them anything.

The hook sends some of their weights where these tell so: biases that hold nothing but 0 and 1, embeddings that fill the
range they are drawn from. The first step of any training moves them. What is frozen for a while and trained by another
optimizer, or loaded later, moves as well.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Untaught
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.still import CONFIRM_ROWS, CONFIRM_STEPS
from gradwatch_server.health.table import TensorTable

__all__ = ["UntaughtRule"]

JUDGE_LAYERS: Final = 2  # from the first of them on
"""One alone may be a projection that is meant."""
_SAME: Final = [COLUMN[name] for name in ("norm", "min", "max")]
"""What differs once a weight has moved."""


class UntaughtRule:
    """Watches weights of one stream's layers that nothing trains until one of them is no longer as it was.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream, self._table = stream, table
        self._is_so = len(table.frozen) > 0
        self._is_unknown = all(table.names[int(column)] in setup.untracked for column in table.frozen)
        self._is_judge = _is_judge(table)
        self._made: npt.NDArray[np.float32] | None = None
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Untaught] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights were not looked at say nothing."""
        if not self._is_so:
            return
        rows = np.flatnonzero(block.is_captured[:, self._table.frozen].all(axis=1))
        for row in rows.tolist():
            step = int(block.steps[row])
            found = block.statistics[row][self._table.frozen][:, _SAME]
            self._made = found if self._made is None else self._made
            if not np.array_equal(found, self._made):
                self._is_so = False
                for episode in self.episodes:
                    episode.closed_step = step
                return
            self._step(step)

    def _step(self, step: int) -> None:
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        for episode in self.episodes:
            episode.last_step, episode.n_rows = step, self._n_rows
        if not self.episodes and self._n_rows >= CONFIRM_ROWS and step - self._first_step >= CONFIRM_STEPS:
            self.episodes.append(
                Untaught(
                    stream=self._stream,
                    phase=Phase.WEIGHT,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    layers=tuple(dict.fromkeys(self._table.layer_of(int(column)) for column in self._table.frozen)),
                    variables=tuple(self._table.names[int(column)] for column in self._table.frozen),
                    is_unknown=self._is_unknown,
                    is_judge=self._is_judge,
                )
            )


def _is_judge(table: TensorTable) -> bool:
    """Whether layers that nothing taught stand behind all that is trained, so that the loss is what they make of it."""
    layers = {table.layer_of(int(column)) for column in table.frozen}
    places = [place for place, column in enumerate(table.activation) if table.layer_of(int(column)) in layers]
    trained = [place for place, column in enumerate(table.activation) if table.holds_kernel(int(column))]
    are_heard = {table.layer_of(int(column)) for column in table.backprop} >= layers
    n_behind = len(table.activation) - min(places, default=len(table.activation))
    return bool(trained) and n_behind >= JUDGE_LAYERS and min(places) > max(trained) and are_heard
