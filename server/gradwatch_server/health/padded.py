"""The rule for sequences that end in padding where their end is what a recurrent layer hands on.

The hook tells which layer hands on its state after the last step alone, without a mask, and in which batches most
sequences end in zeros. That does harm where the layer forgets what stood before them: where a hundred steps later next
to nothing has been learned. A layer without gates forgets by itself, and what it has not learned after twice as long it
will not. Where a mask of the padding was made and lost on the way, it was meant to be left out: then
it is told before a loss has come down by half.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np

from gradwatch.protocol import LEAKED_PLACES, PADDED_PLACE
from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Padded, Phase
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["PaddedRule"]

CONFIRM_STEPS: Final = 100
UNLEARNED_SHARE: Final = 0.9
"""Of the loss at the start, what it still is where next to nothing was learned."""
UNGATED_SHARE: Final = 0.6
"""Likewise, of a recurrent layer without gates, after `UNGATED_STEPS`: more is not learned from the few long ones."""
UNGATED_STEPS: Final = 200
LOST_SHARE: Final = 0.5
"""Likewise, where a mask is lost on the way to any layer that would use it."""
START_ROWS: Final = 10
MEAN_ROWS: Final = 50


class PaddedRule:
    """Watches one stream's sequences and its loss.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream, self._table = stream, table
        slip = next((slip for slip in setup.slips if "end_of" in slip), None)
        self._layer = None if slip is None else str(slip.get("layer", ""))
        lost = next((slip for slip in setup.slips if "loses" in slip), None)
        is_of_layer = lost is not None and (self._layer is None or self._layer.startswith(str(lost["layer"])))
        self._lost = lost if is_of_layer else None
        if self._lost is not None:
            self._layer = str(self._lost["layer"])
        layer = f"{self._layer}/"
        own = [one for one in table.kernels.tolist() if f"{table.layer_of_gradient(one)}/".startswith(layer)]
        self._is_ungated = table.count_gates(np.array(own, np.int64)) == 1
        self._first: list[float] = []
        self._losses: deque[float] = deque(maxlen=MEAN_ROWS)
        self._streaks: Streaks[Padded] = Streaks(2, CONFIRM_STEPS)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; of those that know nothing of the sequences the loss counts."""
        if self._layer is None:
            return
        for row, loss in enumerate(block.loss.tolist()):
            if np.isfinite(loss):
                self._losses.append(loss)
                if len(self._first) < START_ROWS:
                    self._first.append(loss)
            if not np.isnan(block.leaked[row]) and self._losses:
                is_padded = abs(int(block.leaked[row])) % LEAKED_PLACES == PADDED_PLACE
                self._take(int(block.steps[row]), is_padded=is_padded)

    def _take(self, step: int, *, is_padded: bool) -> None:
        start, loss = float(np.median(self._first)), float(np.mean(self._losses))
        share = UNLEARNED_SHARE if self._lost is None else LOST_SHARE
        shares = np.array([share, UNGATED_SHARE if self._is_ungated else math.inf])
        is_in = is_padded & (loss >= shares * start)
        is_sure = self._streaks.add(step, is_in=is_in, is_out=~is_in)
        is_sure[1] &= step - self._streaks.first_step[1] >= UNGATED_STEPS
        if not self._streaks.follow(step) and is_sure.any():
            which = int(np.argmax(is_sure))
            self._streaks.open(
                Padded(
                    stream=self._stream,
                    phase=Phase.INPUT,
                    first_step=int(self._streaks.first_step[which]),
                    last_step=step,
                    n_rows=int(self._streaks.n_rows[which]),
                    known_step=step,
                    table=self._table,
                    layer=self._layer or "",
                    lost=self._lost,
                    start=start,
                    loss=loss,
                )
            )
