"""The rule for layers that come to give the same for every sample: a representation that collapses.

Chen and He (SimSiam, 2021) tell a collapse by the standard deviation of normalised outputs over the samples of a batch;
the mean cosine distance between samples is the same thing. It knows no length: a network without bias may give one
direction for everything, long for some samples and short for others. Outputs may well be nearly parallel from the start
(a mean far from 0), or become so by what they have to give (prices of about 2,000): there the part in which samples
differ grows. Layers with few units have few directions, and are not judged. The weights of an attention may well be the
same for every sample: that of the place before, say. So may the spread of a code, where an error costs as much of
one as of another.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Collapsed, Phase
from gradwatch_server.health.streak import CONFIRM_ROWS, Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["CollapseRule"]

EARLY_ROWS: Final = 5
"""Captured rows of which the largest is a layer's own past."""
DISTANCE_LIMIT: Final = 4e-3
"""Cosine distance below which samples are as good as parallel: an angle of 5 degrees. Over 80 healthy trainings the
least that a layer fell to was 2e-2."""
FALLEN_FACTOR: Final = 0.05
"""Of a layer's own past."""
ENDS_SHARE: Final = 0.97
"""Of its largest magnitude that an output's root mean square is, where nearly all of it is at one end or the other."""
SHARES: Final = 1e-2
"""By how much numbers that add up to 1 may miss it, rounded to float16."""
WIDTH_MIN: Final = 4
"""Numbers in a sample."""

Float = npt.NDArray[np.float64]


class CollapseRule:
    """Watches the cosine distance between samples in the outputs of one stream's layers.

    Args:
        stream: the stream's number.
        table: its tensor table.
        spreads: paths of layers that give the log-variance of a code.
    """

    def __init__(self, stream: int, table: TensorTable, *, spreads: Set[str] = frozenset()) -> None:
        self._stream, self._table = stream, table
        judged = [column for column in table.activation.tolist() if table.layers[column] not in spreads]
        wide = [column for column in judged if _width(table.shapes[column]) >= WIDTH_MIN]
        self._columns = np.array(wide, np.int64)
        n = len(wide)
        # [n, heads, queries, keys], or [n, places, places]: over how many an attention would share out.
        shapes = [table.shapes[column] for column in wide]
        is_of_pairs = [len(shape) > 3 or (len(shape) == 3 and shape[1] == shape[2]) for shape in shapes]
        self._n_keys = np.array([s[-1] if is_so else 0 for s, is_so in zip(shapes, is_of_pairs, strict=True)])
        self._early: list[list[tuple[float, float]]] = [[] for _ in range(n)]
        self._before = np.full((n, 2), np.nan)
        """Of each layer its past distance, and its past variance between samples."""
        self._streaks: Streaks[Collapsed] = Streaks(n)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no samples were compared changes nothing."""
        if not len(self._columns):
            return
        distance = block.statistics[:, self._columns, COLUMN["cosine_distance"]].astype(np.float64)
        rows = np.flatnonzero(np.isfinite(distance).any(axis=1))
        if not len(rows):
            return
        norm = block.statistics[:, self._columns, COLUMN["norm"]].astype(np.float64)
        variance = distance * norm**2 / np.maximum(block.statistics[:, self._columns, COLUMN["n_elements"]], 1.0)
        is_settled = not np.isnan(self._before).any()
        if (
            is_settled
            and self._streaks.current is None
            and not self._streaks.is_any
            and not self._is_low(distance, variance).any()
        ):
            return
        for row in rows.tolist():
            self._step(block, row, distance[row], variance[row])

    def _is_low(self, distance: Float, variance: Float) -> npt.NDArray[np.bool_]:
        limit = np.minimum(DISTANCE_LIMIT, FALLEN_FACTOR * self._before[:, 0])
        return np.asarray((distance < limit) & (variance < self._before[:, 1]))  # never of what is NaN

    def _step(self, block: Block, row: int, distance: Float, variance: Float) -> None:
        step = int(block.steps[row])
        is_seen = np.isfinite(distance) & np.isfinite(variance)
        for place in np.flatnonzero(np.isnan(self._before[:, 0]) & is_seen).tolist():
            early = self._early[place]
            early.append((float(distance[place]), float(variance[place])))
            if len(early) == EARLY_ROWS:
                self._before[place] = np.max(early, axis=0)
        is_low = self._is_low(distance, variance) & ~self._is_attention(block, row)
        if self._streaks.current is None and not is_low.any() and not self._streaks.is_any:
            return
        is_sure = self._streaks.add(step, is_in=is_low, is_out=is_seen & ~is_low)
        if self._streaks.follow(step):
            if (current := self._streaks.current) is not None:
                current.columns = self._streaks.find_starts(self._columns, np.flatnonzero(is_sure)) | current.columns
        elif is_sure.any():
            # Others are as good as sure: the nearest to the input leads, for behind it nothing tells samples apart.
            self._open(block, row, np.flatnonzero(self._streaks.n_rows >= CONFIRM_ROWS), distance)

    def _is_attention(self, block: Block, row: int) -> npt.NDArray[np.bool_]:
        """``[n]`` whether an output holds shares of 1, of as many keys as it has, and none below 0."""
        low, mean = block.statistics[row, self._columns][:, [COLUMN["min"], COLUMN["mean"]]].astype(np.float64).T
        return np.asarray((self._n_keys > 1) & (low >= 0) & (np.abs(mean * self._n_keys - 1) <= SHARES))

    def _open(self, block: Block, row: int, places: npt.NDArray[np.int64], distance: Float) -> None:
        step, first = int(block.steps[row]), int(places[0])
        self._streaks.open(
            Collapsed(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=int(self._streaks.first_step[first]),
                last_step=step,
                n_rows=int(self._streaks.n_rows[first]),
                known_step=step,
                table=self._table,
                columns=self._streaks.find_starts(self._columns, places),
                column=int(self._columns[first]),
                before=float(self._before[first, 0]),
                after=float(distance[first]),
                is_at_ends=_is_at_ends(block, row, int(self._columns[first])),
            )
        )


def _is_at_ends(block: Block, row: int, column: int) -> bool:
    """Whether nearly all numbers of an output have its largest magnitude, some above 0 and some below."""
    names = [COLUMN[name] for name in ("norm", "min", "max", "n_elements")]
    norm, low, high, n = block.statistics[row, column, names].astype(np.float64).tolist()
    return bool(norm / max(n, 1.0) ** 0.5 >= ENDS_SHARE * max(-low, high) and low < 0 < high)


def _width(shape: tuple[int, ...]) -> int:
    """Numbers in a sample; a dimension that varies counts as one."""
    return int(np.prod([max(size, 1) for size in shape[1:]])) if len(shape) > 1 else 0
