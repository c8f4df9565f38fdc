"""Down-sampling: pure functions on arrays, none of which can hide a step.

Steps are put into buckets of ``stride`` steps, a power of two, so that a bucket's limits stay where they are while the
run grows. Each bucket keeps the smallest and the largest value, the mean, and the largest count of non-finite elements.
NaN in a statistic is "not captured" and is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Buckets", "make_buckets", "max_of", "mean_of", "min_of"]

Float = npt.NDArray[np.floating[Any]]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Buckets:
    """Which steps stand together.

    Attributes:
        stride: steps in a bucket.
        keys: ``[n_buckets]`` int64, ascending: bucket ``k`` holds steps ``k * stride`` to ``(k + 1) * stride - 1``; a
            key without any step marks a hole in the record.
    """

    stride: int
    keys: Int64

    @property
    def starts(self) -> Int64:
        """``[n_buckets]`` int64: the first step of each bucket."""
        return self.keys * self.stride

    @property
    def end(self) -> int:
        """The exclusive end of the last bucket, 0 if there is none."""
        return int((self.keys[-1] + 1) * self.stride) if len(self.keys) else 0

    def place(self, steps: Int64) -> tuple[Int64, Int64]:
        """Finds where a stream's rows fall.

        Args:
            steps: ``[n]`` int64, ascending.

        Returns:
            The buckets hit (indices into `keys`), and for each the index of its first row.
        """
        keys, first = np.unique(steps // self.stride, return_index=True)
        return np.searchsorted(self.keys, keys), first


def make_buckets(steps: Int64, limit: int, *, with_holes: bool = False) -> Buckets:
    """Chooses the smallest stride (a power of two) that leaves at most ``limit`` buckets.

    Args:
        steps: ``[n]`` int64, ascending and distinct.
        limit: buckets wanted at most, 1 or more (a few more where holes are marked).
        with_holes: mark a gap that is longer than the usual distance of two buckets by an empty bucket at its start,
            so that a picture without room between its columns shows that nothing is known there.

    Returns:
        The buckets.
    """
    stride = 1
    keys = steps
    while len(keys) > limit:
        stride *= 2
        keys = np.unique(steps // stride)
    if with_holes and len(keys) > 2:
        distances = np.diff(keys)
        usual = int(np.median(distances))
        after = np.flatnonzero(distances > 2 * usual)
        keys = np.insert(keys, after + 1, keys[after] + usual)
    return Buckets(stride, keys)


def max_of(values: Float, first: Int64) -> Float:
    """The largest of each bucket along axis 0; NaN only where the bucket holds nothing else."""
    return np.fmax.reduceat(values, first, axis=0) if len(first) else values[:0]


def min_of(values: Float, first: Int64) -> Float:
    """The smallest of each bucket along axis 0; NaN only where the bucket holds nothing else."""
    return np.fmin.reduceat(values, first, axis=0) if len(first) else values[:0]


def mean_of(values: Float, first: Int64) -> Float:
    """The mean of each bucket along axis 0, accumulated in float64, over what was captured; NaN where nothing was."""
    if not len(first):
        return values[:0]
    is_known = ~np.isnan(values)
    total = np.add.reduceat(np.where(is_known, values, 0).astype(np.float64), first, axis=0)
    count = np.add.reduceat(is_known.astype(np.int64), first, axis=0)
    mean: Float = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean
