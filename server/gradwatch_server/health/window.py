"""Windows over the newest rows at several time scales, for many channels at once. Owns their memory; judges nothing.

A divergence may take a dozen steps or ten thousand. So the newest rows are kept at several scales, each `N_MERGED`
times coarser than the one before, and each as `N_POINTS` points: the memory and the work of a row do not depend on how
long the run is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["N_MERGED", "N_POINTS", "Ladder", "Window"]

N_POINTS: Final = 16
"""Points in a window: 120 slopes between two of them, enough for a confidence interval without assumptions on noise."""
N_MERGED: Final = 8
"""Points of one scale that make one of the next."""
N_SCALES: Final = 5
"""Windows of 16, 128, 1,024, 8,192 and 65,536 rows."""

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class Window(NamedTuple):
    """The newest points at one scale, of some channels.

    Attributes:
        steps: ``[N_POINTS]`` the mean step of each point.
        values: ``[N_POINTS, n]`` the mean value of each channel in each point, NaN where it was never captured.
        first_step: the first step in it.
        last_step: the last one.
        n_rows: rows in it.
    """

    steps: Float
    values: Float
    first_step: int
    last_step: int
    n_rows: int


Sieve = Callable[[Float, Float], Bool]
"""Given the first and the last values of some windows, ``[n_windows, n]`` each: which channels to look at closely."""


class _Scale:
    """The newest points of one scale."""

    def __init__(self, n: int, n_rows: int) -> None:
        self._n_rows = n_rows
        self._steps = np.zeros(0)
        self._first_steps = np.zeros(0, np.int64)
        self._last_steps = np.zeros(0, np.int64)
        self._values = np.zeros((0, n))
        self.n_points = 0

    def append(self, steps: Float, first_steps: Int64, last_steps: Int64, values: Float) -> None:
        """Adds points; what no window needs any more is forgotten."""
        kept = slice(max(0, len(self._steps) - N_POINTS + 1), None)
        self._steps = np.concatenate([self._steps[kept], steps])
        self._first_steps = np.concatenate([self._first_steps[kept], first_steps])
        self._last_steps = np.concatenate([self._last_steps[kept], last_steps])
        self._values = np.concatenate([self._values[kept], values])
        self.n_points += len(steps)

    def merge(self, n_open: int) -> tuple[Float, Int64, Int64, Float]:
        """Points of the next scale, of the complete ones among the newest ``n_open`` that were not merged yet."""
        k, first = n_open // N_MERGED, len(self._steps) - n_open
        if not k:
            return self._steps[:0], self._first_steps[:0], self._last_steps[:0], self._values[:0]
        which = slice(first, first + k * N_MERGED)
        values = self._values[which].reshape(k, N_MERGED, self._values.shape[1])
        firsts, lasts = self._first_steps[which][::N_MERGED], self._last_steps[which][N_MERGED - 1 :: N_MERGED]
        return self._steps[which].reshape(k, N_MERGED).mean(axis=1), firsts, lasts, _mean(values)

    def look(self, n_new: int, every: int, sieve: Sieve) -> Iterator[tuple[Window, Int64]]:
        """The windows that end at a new point whose number is a multiple of ``every``, with what the sieve leaves."""
        n = len(self._steps)
        numbers = np.arange(self.n_points - n_new + 1, self.n_points + 1)
        lasts = n - 1 - (self.n_points - numbers[numbers % every == 0])
        lasts = lasts[lasts >= N_POINTS - 1]
        if not len(lasts):
            return
        is_near = sieve(self._values[lasts - N_POINTS + 1], self._values[lasts])
        for row in np.flatnonzero(is_near.any(axis=1)).tolist():
            channels, last = np.flatnonzero(is_near[row]), int(lasts[row])
            which = slice(last - N_POINTS + 1, last + 1)
            first_step, last_step = int(self._first_steps[which.start]), int(self._last_steps[last])
            values = self._values[which, channels]
            yield Window(self._steps[which], values, first_step, last_step, self._n_rows * N_POINTS), channels


class Ladder:
    """Windows at all scales over one group of channels that are captured at the same rows.

    Args:
        n: channels.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.clear()

    def clear(self) -> None:
        """Forgets everything: what comes next has nothing to do with it."""
        self._scales = [_Scale(self._n, N_MERGED**level) for level in range(N_SCALES)]
        self._pending = np.zeros(0, np.int64), np.zeros((0, self._n))

    def feed(self, steps: Int64, values: Float, sieve: Sieve) -> Iterator[tuple[Window, Int64]]:
        """Takes rows ``[n_rows, n]``; gives each window that is new and in which the sieve leaves something.

        Windows end where `N_MERGED` rows are complete, counted from the first row and not from a batch's.
        """
        steps, values = np.concatenate([self._pending[0], steps]), np.concatenate([self._pending[1], values])
        n = len(steps) - len(steps) % N_MERGED
        self._pending = steps[n:], values[n:]
        points = steps[:n].astype(np.float64), steps[:n], steps[:n], values[:n]
        for level, scale in enumerate(self._scales):
            n_new = len(points[0])
            if not n_new:
                return
            n_before = scale.n_points % N_MERGED
            scale.append(*points)
            yield from scale.look(n_new, 1 if level else N_MERGED, sieve)
            points = scale.merge(n_before + n_new)


def _mean(values: Float) -> Float:
    """The mean over the second axis of ``[k, N_MERGED, n]`` of what is known, NaN where nothing is."""
    total = values.sum(axis=1)
    gaps = np.flatnonzero(np.isnan(total).any(axis=0))
    if len(gaps):
        known = ~np.isnan(values[:, :, gaps])
        count = known.sum(axis=1)
        sums = np.where(known, values[:, :, gaps], 0.0).sum(axis=1)
        mean = np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0)
        total[:, gaps] = mean * N_MERGED
    return np.asarray(total / N_MERGED)
