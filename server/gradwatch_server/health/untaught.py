"""The rule for layers that are as they were made, frozen or given to no optimizer: nothing ever taught them anything.

The hook sends some of their weights where these tell so: biases that hold nothing but 0 and 1, embeddings that fill the
range they are drawn from. The first step of any training moves them. What is frozen for a while and trained by another
optimizer, or loaded later, moves as well.

A target network is another thing: it begins as a copy of what is trained, and is brought up to date now and then. One
that is as it was made when the run ends never was, and what was learned from it is random. Or its weights are, and the
running means of its layers are not: then it computes something else than what it is a copy of.
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

COPY_STEPS: Final = 300
"""A run of fewer may have ended before the first time."""
COPY_STEPS_MAX: Final = 40_000
"""Steps after which a copy should have been brought up to date: four times what Mnih et al. (2015) let pass."""
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
        is_of_copies: whether the weights are those of a copy of what is trained.
        beside: the rule of the copy's weights, where they are what its layers keep beside these: running means, and the
            like. Where the weights are as they were made too, it is told of these.
    """

    def __init__(
        self,
        stream: int,
        table: TensorTable,
        setup: Setup,
        *,
        is_of_copies: bool = False,
        beside: UntaughtRule | None = None,
    ) -> None:
        self._stream, self._table = stream, table
        self._columns = table.frozen
        if is_of_copies:
            is_state = np.array([len(table.shapes[column]) == 1 for column in table.copied], bool)
            self._columns = table.copied[is_state == (beside is not None)]
        self._beside = beside
        self._is_so = len(self._columns) > 0
        self._is_copy = is_of_copies
        self._is_left = bool(np.isin(self._columns, table.left).any())
        self._is_unknown = np.isin(self._columns, table.left)
        self._is_unknown &= np.array([table.names[int(column)] in setup.untracked for column in self._columns], bool)
        # The hook tells of those that are said to be trained.
        self._is_number = self._is_unknown & np.array([not table.shapes[column] for column in self._columns], bool)
        self._clone = None if is_of_copies or self._is_left else setup.find_call("clone")
        self._is_judge = not is_of_copies and _is_judge(table)
        self._made: npt.NDArray[np.float32] | None = None
        self._n_rows = 0
        self._first_step = self._last_step = -1
        self.episodes: list[Untaught] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights were not looked at say nothing."""
        if not self._is_so:
            return
        rows = np.flatnonzero(block.is_captured[:, self._columns].all(axis=1))
        for row in rows.tolist():
            step = int(block.steps[row])
            found = block.statistics[row][self._columns][:, _SAME]
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
        self._last_step = step
        for episode in self.episodes:
            episode.last_step, episode.n_rows = step, self._n_rows
        self._judge(COPY_STEPS_MAX if self._is_copy else CONFIRM_STEPS)

    @property
    def is_so(self) -> bool:
        """Whether all of it is as it was made, as far as it is known."""
        return self._is_so

    def finish(self) -> None:
        """Says that the run has ended: what has not been brought up to date is not going to be."""
        if self._is_so and self._is_copy:
            self._judge(COPY_STEPS)

    def _judge(self, n_steps: int) -> None:
        step = self._last_step
        if self._beside is not None and self._beside.is_so:
            return
        if not self.episodes and self._n_rows >= CONFIRM_ROWS and step - self._first_step >= n_steps:
            self.episodes.append(
                Untaught(
                    stream=self._stream,
                    phase=Phase.WEIGHT,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    layers=tuple(dict.fromkeys(self._table.layer_of(int(column)) for column in self._columns)),
                    variables=tuple(self._table.names[int(column)] for column in self._columns),
                    is_left=self._is_left,
                    is_unknown=self._made is not None
                    and bool((_are_drawn(self._made) | self._is_number)[self._is_unknown].any()),
                    is_judge=self._is_judge,
                    is_copy=self._is_copy,
                    clone=self._clone,
                    is_of_statistics=self._beside is not None,
                )
            )


def _are_drawn(made: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Which weights, by their norm, least and largest number, are no biases of 0 and 1."""
    return ~np.isin(made[:, 1], (0, 1))


def _is_judge(table: TensorTable) -> bool:
    """Whether layers that nothing taught stand behind all that is trained, so that the loss is what they make of it."""
    layers = {table.layer_of(int(column)) for column in table.frozen}
    places = [place for place, column in enumerate(table.activation) if table.layer_of(int(column)) in layers]
    trained = [place for place, column in enumerate(table.activation) if table.holds_kernel(int(column))]
    are_heard = {table.layer_of(int(column)) for column in table.backprop} >= layers
    n_behind = len(table.activation) - min(places, default=len(table.activation))
    return bool(trained) and n_behind >= JUDGE_LAYERS and min(places) > max(trained) and are_heard
