"""For how long each of some tensors has been in trouble without a break. Knows nothing of which trouble."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["CONFIRM_ROWS", "Streaks"]

CONFIRM_ROWS: Final = 10
CONFIRM_STEPS: Final = 50
"""Captured rows, and steps, without a break: less may be chance."""

Bool = npt.NDArray[np.bool_]


class Streaks:
    """Counts captured rows, tensor by tensor.

    Args:
        n: how many tensors.

    Attributes:
        n_rows: ``[n]`` rows of the streak that goes on, 0 for none.
        first_step: ``[n]`` the step at which the last streak began, -1 for none so far.
    """

    def __init__(self, n: int) -> None:
        self.n_rows = np.zeros(n, np.int64)
        self.first_step = np.full(n, -1, np.int64)

    @property
    def is_any(self) -> bool:
        """Whether any goes on."""
        return bool(self.n_rows.any())

    def add(self, step: int, *, is_in: Bool, is_out: Bool) -> Bool:
        """Takes one row.

        Args:
            step: its step.
            is_in: ``[n]`` the tensors in trouble.
            is_out: ``[n]`` those whose streak ends. What is neither goes on where a streak does, uncounted where
                nothing is known of it.

        Returns:
            ``[n]`` which streaks are too long for chance.
        """
        self.first_step[is_in & (self.n_rows == 0)] = step
        self.n_rows = np.where(is_out, 0, self.n_rows + is_in)
        return np.asarray((self.n_rows >= CONFIRM_ROWS) & (step - self.first_step >= CONFIRM_STEPS))
