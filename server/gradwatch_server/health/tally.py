"""The count that several rules keep: rows that look like a trouble, less two for each that does not. Judges nothing."""

from __future__ import annotations

from typing import Generic, TypeVar

from gradwatch_server.health.episode import EPISODES_LIMIT, Episode

__all__ = ["Tally"]

AnyEpisode = TypeVar("AnyEpisode", bound=Episode)


class Tally(Generic[AnyEpisode]):
    """One trouble's rows, and the episodes made of them.

    Args:
        confirm_rows: the count at which it is sure; twice that is the most, and so bounds how long it lingers.
    """

    def __init__(self, confirm_rows: int) -> None:
        self._confirm_rows = confirm_rows
        self.count = 0
        self.first_step = -1
        """The step at which the count began."""
        self.episodes: list[AnyEpisode] = []
        self._current: AnyEpisode | None = None

    def take(self, step: int, *, is_seen: bool) -> bool:
        """Takes a row, into the open episode if there is one; returns whether a new one may be opened."""
        if is_seen and self.count == 0:
            self.first_step = step
        self.count = min(self.count + 1, 2 * self._confirm_rows) if is_seen else max(self.count - 2, 0)
        if self._current is None:
            return self.count >= self._confirm_rows and len(self.episodes) < EPISODES_LIMIT
        if is_seen:
            self._current.last_step = step
            self._current.n_rows += 1
        if self.count == 0:
            self._current.closed_step = step
            self._current = None
        return False

    def open(self, episode: AnyEpisode) -> None:
        """Keeps a new episode, which the next rows go into."""
        self._current = episode
        self.episodes.append(episode)
