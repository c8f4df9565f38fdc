"""What a run is held against: the last healthy run of the same script. Owns no rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from gradwatch_server.health.pieces import PIECE_VALUES, START_VALUES

__all__ = ["Baseline", "Course"]

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """How a loss went.

    Args:
        steps: ``[n]``, rising.
        values: ``[n]``, finite.
    """

    steps: npt.NDArray[np.int64]
    values: Float64
    _lowest: Float64 = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Finds the lowest median of a piece up to each value."""
        if len(self.values) < PIECE_VALUES:
            object.__setattr__(self, "_lowest", np.zeros(0))
            return
        levels = np.median(sliding_window_view(self.values, PIECE_VALUES), axis=1)
        object.__setattr__(self, "_lowest", np.minimum.accumulate(levels))

    @property
    def start(self) -> float:
        """The median of its first values, NaN where there are none."""
        return float(np.median(self.values[:START_VALUES])) if len(self.values) else np.nan

    def best_by(self, step: int) -> float:
        """The lowest median of values in a row up to a step, NaN before the first piece is full."""
        n = int(np.searchsorted(self.steps, step, side="right"))
        return float(self._lowest[n - PIECE_VALUES]) if n >= PIECE_VALUES else np.nan


@dataclass(frozen=True)
class Baseline:
    """The last healthy run of the same script before a run.

    Attributes:
        run: its id.
        name: its name.
        differences: settings that are not the same: the key, the value there, the value here.
        losses: the course of each of its losses, by name.
    """

    run: str
    name: str
    differences: Sequence[tuple[str, Any, Any]]
    losses: Mapping[str, Course]
