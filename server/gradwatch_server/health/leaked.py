"""The rule for targets that stand among the inputs: the hook says at each full row which column of an input it is.

It does harm where it is learned to be read off; who does not learn that has another trouble first. A sequence that is
its own target is what an autoencoder is given; where nothing on the way is without an axis of time, there is nothing to
be gained by it. Where it stands beside another input, what that becomes may well have none: there a loss that comes
down to nothing tells that it is copied. A sequence whose targets are its own next numbers is what a language model is
given: the hook tells of it only where the model looks at them, or where the loss moves them by another step.

And two inputs that are to differ may be the same: a state and the one that follows it, where an environment changes its
array in place and hands it out again; two views of a sample, made with the same random numbers. And labels may begin
with what is none to their loss, words with what is masked as padding.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gradwatch.protocol import (
    ALIKE_PLACE,
    BLANK_PLACE,
    LEAKED_PLACES,
    MASKED_PLACE,
    NEXT_PLACE,
    PADDED_PLACE,
    ROUNDED_PLACE,
    SAME_PLACE,
    TRUNCATED_PLACE,
    TWICE_PLACE,
)
from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Leaked, Phase
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.table import TensorTable

__all__ = ["LeakedRule"]

OTHERS: Final = (PADDED_PLACE, ROUNDED_PLACE, TRUNCATED_PLACE)
"""What other rules take."""
CONFIRM_ROWS: Final = 10
"""Rows that know of it, in a run: in one batch a column may fit by chance."""
VARIED: Final = 3
"""Different means of a batch, from which on it is no constant."""
SEQUENCE_RANK: Final = 3
"""Axes of a layer's output that has one of time."""
COPIED_SHARE: Final = 0.01
"""Likewise, where all is copied."""
LEARNED_SHARE: Final = 0.5
"""Of its start, what the loss is at the most by then."""


def _source_of(setup: Setup, field: str) -> Mapping[str, Any] | None:
    return next((slip.get("source") for slip in setup.slips if field in slip), None)


class LeakedRule:
    """Watches one stream's inputs and targets.

    Args:
        stream: the stream's number.
        table: the stream's tensors.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream = stream
        self._pairs = next((str(slip["pairs"]) for slip in setup.slips if slip.get("pairs")), "")
        outputs = [table.shapes[column] for column in table.activation]
        self._keeps_time = bool(outputs) and all(len(shape) >= SEQUENCE_RANK for shape in outputs)
        entering = [*table.entering("input"), *table.entering("index")]
        self._has_others = len(entering) > 1
        shapes = [table.shapes[column] for column in table.entering("input")]
        self._n_features = shapes[0][-1] if len(shapes) == 1 and len(shapes[0]) == SEQUENCE_RANK else 0
        self._source = _source_of(setup, "blank")
        self._shift = _source_of(setup, "shifts")
        self._mask = next((slip for slip in setup.slips if "omits" in slip), None)
        self._given = entering[0] if entering else -1
        self._means: set[float] = set()
        """Of the first input, a few: what stays as it is from batch to batch may be meant to."""
        self._place = 0
        self._differed = False
        """Whether two that are to differ did, in any row so far."""
        self._first_step = -1
        self._n_rows = 0
        self._start = float("nan")
        self._losses: deque[float] = deque(maxlen=CONFIRM_ROWS)
        self.episodes: list[Leaked] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those that say nothing of it are passed by."""
        rows = np.flatnonzero(~np.isnan(block.leaked))
        for row in rows.tolist():
            step, place = int(block.steps[row]), int(block.leaked[row])
            place = 0 if abs(place) % LEAKED_PLACES in OTHERS else place
            self._losses.append(float(block.loss[row]))
            self._start = self._losses[0] if np.isnan(self._start) else self._start
            if place != self._place:
                if self._is_open:
                    self.episodes[-1].closed_step = step
                self._place, self._first_step, self._n_rows = place, step, 0
            self._differed |= not self._is_of_two
            if len(self._means) < VARIED and self._given >= 0:
                self._means.add(float(block.statistics[row, self._given, COLUMN["mean"]]))
            if self._is_alike and len(self._means) < VARIED:
                continue
            if self._pairs == "returns" and self._is_of_two and self._differed:
                continue  # a policy that has come to do nothing stays where it is
            if place and (self._keeps_time or self._has_others or not self._is_whole or self._is_kept):
                self._note(step)

    @property
    def _is_open(self) -> bool:
        return bool(self.episodes) and self.episodes[-1].closed_step is None

    @property
    def _is_whole(self) -> bool:
        return abs(self._place) % LEAKED_PLACES == 0

    @property
    def _is_kept(self) -> bool:
        """Whether a model is known to keep each time of a sequence that is its own target."""
        return self._is_whole and self._place > 0

    @property
    def _is_of_window(self) -> bool:
        return self._place > 0 and self._n_features > 0

    @property
    def _is_of_two(self) -> bool:
        return abs(self._place) % LEAKED_PLACES == SAME_PLACE

    @property
    def _is_blank(self) -> bool:
        return self._place == BLANK_PLACE

    @property
    def _is_twice(self) -> bool:
        return self._place == TWICE_PLACE

    @property
    def _is_masked(self) -> bool:
        return self._place == MASKED_PLACE

    @property
    def _is_alike(self) -> bool:
        return self._place == ALIKE_PLACE

    @property
    def _is_learned(self) -> bool:
        """Whether the loss came down, as far as it is known, or need not."""
        if self._is_of_two or self._is_blank or self._is_twice or self._is_masked or self._is_alike:
            return True
        if self._is_whole and not self._keeps_time and not self._is_kept:
            return bool(np.median(self._losses) <= COPIED_SHARE * self._start)
        return np.isnan(self._start) or bool(np.mean(self._losses) <= LEARNED_SHARE * self._start)

    @property
    def _place_source(self) -> Mapping[str, Any] | None:
        """The line of what the place is of."""
        if self._is_masked and self._mask is not None:
            return self._mask.get("source")
        return self._source if self._is_blank else self._shift if self._is_twice else None

    def _note(self, step: int) -> None:
        self._n_rows += 1
        if self._is_open:
            self.episodes[-1].last_step, self.episodes[-1].n_rows = step, self._n_rows
        elif self._n_rows >= CONFIRM_ROWS and self._is_learned and not self.episodes:
            number, column = divmod(abs(self._place) - 1, LEAKED_PLACES)
            self.episodes.append(
                Leaked(
                    stream=self._stream,
                    phase=Phase.LOSS,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    number=number,
                    column=column % self._n_features if self._is_of_window else column,
                    time=column // self._n_features if self._is_of_window else -1,
                    is_last=self._place < 0 and not self._is_whole,
                    is_whole=self._is_whole,
                    is_next=abs(self._place) % LEAKED_PLACES == NEXT_PLACE,
                    pairs=self._pairs if self._is_of_two else "",
                    has_blank=self._is_blank,
                    is_twice=self._is_twice,
                    are_alike=self._is_alike,
                    masks=str(self._mask["omits"]) if self._is_masked and self._mask else "",
                    source=self._place_source,
                )
            )
