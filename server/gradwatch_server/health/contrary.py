"""The rule for class weights the wrong way round: the label that is rare already counts for less than the common one.

Weights are made of a label where in every batch as many samples have the smaller weight as have the one label. What
weights are for is to let the rare label count for more; weights proportional to the shares do the opposite.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Contrary, Phase
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import TWO_VALUES, are_labels

__all__ = ["ContraryRule"]

RATIO_MIN: Final = 2.0
"""Between both weights: less is no matter."""
RARE_SHARE: Final = 0.35
"""Of all labels, what the rare one has at the most."""
ROWS_MIN: Final = 20
"""Full rows with both labels in them."""
WHOLE: Final = 0.05
"""By how much a number of samples, made of a batch's mean, may differ from a whole number."""

Float64 = npt.NDArray[np.float64]


class ContraryRule:
    """Watches the only target and the only sample weight of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream = stream
        found = [table.entering(role) for role in ("target", "sample_weight")]
        self._columns = [columns[0] for columns in found if len(columns) == 1]
        self._is_judged = len(self._columns) == len(found)
        self._first_step, self._n_rows = -1, 0
        self._n_ones = self._n_samples = 0.0
        self._weights: tuple[float, float] | None = None
        self.episodes: list[Contrary] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those without both, and those with one label or as many of either, say nothing of weights."""
        if not self._is_judged:
            return
        names = [COLUMN[name] for name in ("n_elements", "mean", "std", "min", "max")]
        found = block.statistics[:, self._columns][:, :, names].astype(np.float64)
        is_seen = np.isfinite(found).all(axis=(1, 2))
        tells = (found[:, :, 3] < found[:, :, 4]).all(axis=1) & (found[:, 0, 1] != 0.5)
        for row in np.flatnonzero(is_seen).tolist():
            n_samples, share = found[row, 0, :2].tolist()
            self._n_samples += n_samples
            self._n_ones += n_samples * share
            if tells[row] and self._is_judged:
                self._step(int(block.steps[row]), *found[row])

    def _step(self, step: int, target: Float64, weight: Float64) -> None:
        weights = self._read_weights(target, weight)
        if weights is None or (self._weights is not None and not np.allclose(weights, self._weights, rtol=TWO_VALUES)):
            self._is_judged = False  # they are of something else; so is what was told
            for episode in self.episodes:
                episode.closed_step = step
            return
        self._first_step = step if self._first_step < 0 else self._first_step
        self._weights = weights
        self._n_rows += 1
        self._judge(step, weights)

    def _judge(self, step: int, weights: tuple[float, float]) -> None:
        shares = (1 - self._n_ones / self._n_samples, self._n_ones / self._n_samples)
        rare = int(shares[1] < shares[0])
        of_rare, of_common = weights[rare], weights[1 - rare]
        is_so = shares[rare] <= RARE_SHARE and of_common >= RATIO_MIN * of_rare
        if self.episodes:
            known = self.episodes[-1]
            known.last_step, known.n_rows, known.share = step, self._n_rows, shares[rare]
            known.closed_step = None if is_so else step
        elif is_so and self._n_rows >= ROWS_MIN:
            self.episodes.append(
                Contrary(
                    stream=self._stream,
                    phase=Phase.LOSS,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    label=rare,
                    share=shares[rare],
                    weight=of_rare,
                    other_weight=of_common,
                )
            )

    @staticmethod
    def _read_weights(target: Float64, weight: Float64) -> tuple[float, float] | None:
        """The weights of label 0 and of label 1 in a batch that has both; None where they are not made of the label."""
        (n_samples, share, spread, low, high), (n_weights, mean, deviation, least, most) = target, weight
        n_low = n_samples * (most - mean) / (most - least)
        n_ones = share * n_samples
        is_of_two = abs(deviation**2 - (most - mean) * (mean - least)) <= TWO_VALUES * (most - least) ** 2
        is_label = are_labels(*(np.array([one]) for one in (low, high, share, spread)))[0]
        if n_samples != n_weights or not is_label or not is_of_two or abs(n_low - round(n_low)) > WHOLE:
            return None
        if round(n_low) == round(n_ones):
            return float(most), float(least)
        return (float(least), float(most)) if round(n_low) == round(n_samples - n_ones) else None
