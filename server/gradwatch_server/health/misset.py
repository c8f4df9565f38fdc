"""The rule for settings of an optimizer that undo one another: known from the first step on, and told alone."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Misset, Phase
from gradwatch_server.health.setup import Setup

__all__ = ["MissetRule", "find_swapped_betas"]

CONFIRM_ROWS: Final = 50
"""Rows: what is run a few times is a trial."""


def find_swapped_betas(setup: Setup) -> tuple[float, float] | None:
    """The betas of an optimizer that forgets a gradient's size long before its direction; None where it does not.

    Adam needs beta_1 < sqrt(beta_2) to settle (Reddi, Kale and Kumar, "On the convergence of Adam and beyond", 2018).
    """
    first, second = setup.number("beta_1"), setup.number("beta_2")
    return (first, second) if first is not None and second is not None and first * first > second else None


class MissetRule:
    """Watches one stream whose optimizer has such settings.

    Args:
        stream: the stream's number.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, setup: Setup) -> None:
        self._stream = stream
        self._is_so = find_swapped_betas(setup) is not None
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Misset] = []

    def feed(self, block: Block) -> None:
        """Takes rows."""
        for step in block.steps.tolist() if self._is_so else ():
            self._first_step = step if self._n_rows == 0 else self._first_step
            self._n_rows += 1
            if not self.episodes and self._n_rows >= CONFIRM_ROWS:
                self.episodes.append(
                    Misset(
                        stream=self._stream,
                        phase=Phase.UPDATE,
                        first_step=self._first_step,
                        last_step=step,
                        n_rows=self._n_rows,
                        known_step=step,
                    )
                )
            for episode in self.episodes:
                episode.last_step, episode.n_rows = step, self._n_rows
