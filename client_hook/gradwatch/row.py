"""How one row of a stream's ring is laid out, and the way back from it to statistics and scalars.

A step in which nothing is due writes one number for each gradient and input, from which the reader makes the rows that
the step did not: the graph has them as constants, and runs nothing for them. Owns no state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import OPERATION_STATISTICS, STATISTICS

__all__ = ["N_LOSSES_MAX", "Layout", "Taken"]

Numbers = npt.NDArray[np.float32]
N_LOSSES_MAX: Final = 2
"""A step's losses: what its gradients were asked of, and the loss as such."""
_WIDTH: Final = len(STATISTICS)
_NORM, _N_ELEMENTS = STATISTICS.index("norm"), STATISTICS.index("n_elements")
_COUNTS: Final = slice(STATISTICS.index("n_nan"), STATISTICS.index("n_neg_inf") + 1)


class Taken(NamedTuple):
    """What ``n`` rows hold.

    Attributes:
        statistics: float32 ``[n, n_tensors, 12]``, in the order of the stream's table.
        operations: float32 ``[n, n_operations * len(OPERATION_STATISTICS)]``.
        scalars: float32 ``[n, n_scalars]``, 0 where one is not known.
        present: whether it is, ``[n, n_scalars]`` of 0 and 1.
    """

    statistics: Numbers
    operations: Numbers
    scalars: Numbers
    present: Numbers


@dataclass(frozen=True)
class Layout:
    """A row, as vectors that lie end to end.

    The statistics of gradients and of taps; the operations; the scalars that are NaN where they are not known; the
    statistics of weights, updates, slots and states; the other scalars, and for each whether it is known; and what was
    seen at a glance: half the sum of squares of each gradient and floating input, two losses, the inputs' sizes.

    Args:
        sizes: the elements of each variable.
        n_weights: the tensors between gradients and taps in the table.
        n_taps: the tensors that were tapped.
        seen_taps: which of these are inputs that are looked at in every step.
        n_operations: the risky operations.
        n_first: the scalars that say whether they are known.
        n_compared: the others.
    """

    sizes: tuple[int, ...]
    n_weights: int
    n_taps: int
    seen_taps: tuple[int, ...]
    n_operations: int
    n_first: int
    n_compared: int

    @property
    def n_seen(self) -> int:
        """How many tensors are seen at a glance."""
        return len(self.sizes) + len(self.seen_taps)

    @property
    def width(self) -> int:
        """The numbers in a row."""
        return sum(self._lengths)

    @property
    def _lengths(self) -> tuple[int, ...]:
        n_numbers = self.n_operations * len(OPERATION_STATISTICS)
        tensors = (len(self.sizes) * _WIDTH, self.n_taps * _WIDTH, n_numbers, self.n_compared, self.n_weights * _WIDTH)
        return (*tensors, self.n_first, self.n_first, self.n_seen, N_LOSSES_MAX, len(self.seen_taps))

    def take_apart(self, rows: Numbers) -> Taken:
        """What rows ``[n, width]`` hold."""
        ends = np.cumsum(self._lengths)[:-1]
        gradients, taps, operations, compared, weights, first, flags, seen, _, sizes = np.split(rows, ends, axis=1)
        n_tensors = len(self.sizes) + self.n_weights + self.n_taps
        statistics = np.concatenate([gradients, weights, taps], axis=1).reshape(len(rows), n_tensors, _WIDTH)
        self._fill_in(statistics, seen, sizes)
        is_known = ~np.isnan(compared)
        scalars = np.concatenate([first, np.where(is_known, compared, 0)], axis=1)
        return Taken(statistics, operations, scalars, np.concatenate([flags, is_known], axis=1, dtype=np.float32))

    def _fill_in(self, statistics: Numbers, half_squares: Numbers, sizes: Numbers) -> None:
        """The rows of tensors of which no more is known than their norm, and that every element of them is finite."""
        n = len(self.sizes)
        places = np.array([*range(n), *(n + self.n_weights + tap for tap in self.seen_taps)], np.intp)
        of_gradients = np.broadcast_to(np.array(self.sizes, np.float32), (len(sizes), n))
        row, column = np.nonzero(np.isnan(statistics[:, places, _NORM]) & np.isfinite(half_squares))
        filled: Any = statistics[row, places[column]]
        filled[:, _NORM] = np.sqrt(2 * half_squares[row, column].astype(np.float64))
        filled[:, _COUNTS] = 0
        filled[:, _N_ELEMENTS] = np.concatenate([of_gradients, sizes], axis=1)[row, column]
        statistics[row, places[column]] = filled
