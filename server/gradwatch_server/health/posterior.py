"""The rule for a latent code that tells nothing of the sample: its mean and log-variance are 0 for all of them.

A variational autoencoder is paid for telling samples apart and pays for every code that is not like the prior. Where
the price is too high, as where it is summed over the code and the error averaged over what is encoded, all codes are
the prior. The hook tells which layers give a draw's mean and log-variance; where nothing is known they are 0. That is
how many such networks begin, too, so it has to last.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Posterior
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["PosteriorRule"]

SIZE_MAX: Final = 0.05
"""The root mean square of mean and log-variance. A code that tells anything has a mean of about 1 in some of its
dimensions, and a log-variance of -2 or less."""
CONFIRM_STEPS: Final = 300


class PosteriorRule:
    """Watches what the layers give that make the mean and log-variance of one stream's draws.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream, self._table = stream, table
        layers = [path for slip in setup.slips for path in slip.get("codes", ())]
        found = [column for column in table.activation.tolist() if table.layers[column] in layers]
        self._columns = np.array(found if {table.layers[column] for column in found} == set(layers) else [], np.int64)
        self._streaks: Streaks[Posterior] = Streaks(1, CONFIRM_STEPS)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one in which these layers were not all looked at says nothing."""
        if not len(self._columns):
            return
        names = [COLUMN["norm"], COLUMN["n_elements"]]
        norm, n_elements = block.statistics[:, self._columns][:, :, names].astype(np.float64).transpose(2, 0, 1)
        size = (norm / np.sqrt(np.maximum(n_elements, 1.0))).max(axis=1)
        for row in np.flatnonzero(np.isfinite(size)).tolist():
            step, is_in = int(block.steps[row]), size[row : row + 1] <= SIZE_MAX
            is_sure = self._streaks.add(step, is_in=is_in, is_out=~is_in)
            if not self._streaks.follow(step) and is_sure[0]:
                self._streaks.open(
                    Posterior(
                        stream=self._stream,
                        phase=Phase.ACTIVATION,
                        first_step=int(self._streaks.first_step[0]),
                        last_step=step,
                        n_rows=int(self._streaks.n_rows[0]),
                        known_step=step,
                        table=self._table,
                        column=int(self._columns[0]),
                        size=float(size[row]),
                    )
                )
