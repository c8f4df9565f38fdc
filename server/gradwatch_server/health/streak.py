"""For how long each of some tensors has been in trouble without a break. Knows nothing of which trouble."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import EPISODES_LIMIT, Episode

__all__ = ["CONFIRM_ROWS", "Streaks"]

CONFIRM_ROWS: Final = 10
CONFIRM_STEPS: Final = 50
"""Captured rows, and steps, without a break: less may be chance."""

Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
AnyEpisode = TypeVar("AnyEpisode", bound=Episode)


class Streaks(Generic[AnyEpisode]):
    """Counts captured rows, tensor by tensor, and keeps the episodes made of them: one for all tensors at a time.

    Args:
        n: how many tensors.
        n_steps: for how many steps a streak must have lasted.

    Attributes:
        n_rows: ``[n]`` rows of the streak that goes on, 0 for none.
        first_step: ``[n]`` the step at which the last streak began, -1 for none so far.
        episodes: all of them, in order.
        current: the one that is open, or None.
    """

    def __init__(self, n: int, n_steps: int = CONFIRM_STEPS) -> None:
        self._n_steps = n_steps
        self.n_rows = np.zeros(n, np.int64)
        self.first_step = np.full(n, -1, np.int64)
        self.episodes: list[AnyEpisode] = []
        self.current: AnyEpisode | None = None

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
        return np.asarray((self.n_rows >= CONFIRM_ROWS) & (step - self.first_step >= self._n_steps))

    def find_starts(self, columns: Int64, places: Int64) -> dict[int, int]:
        """The step at which the streak of each of some places began, by the column that the place stands for."""
        return {int(columns[place]): int(self.first_step[place]) for place in places}

    def follow(self, step: int) -> bool:
        """Takes the row that was added into the open episode, or closes it where no streak goes on.

        Returns:
            Whether nothing can be opened at this row: an episode was open, or there have been too many.
        """
        if self.current is None:
            return len(self.episodes) >= EPISODES_LIMIT
        if self.is_any:
            self.current.last_step = step
            self.current.n_rows += 1
        else:
            self.current.closed_step = step
            self.current = None
        return True

    def open(self, episode: AnyEpisode) -> None:
        """Keeps a new episode, which the next rows go into."""
        self.current = episode
        self.episodes.append(episode)
