"""When full statistics are due, and of which kinds: a few variables on the device that every watched graph reads.

They can be set from any thread while the training runs; a graph traced long ago follows. What they are set to is
`gradwatch.plan`'s.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import tensorflow as tf

from gradwatch.memo import GraphMemo
from gradwatch.protocol import KINDS
from gradwatch.ring import create_untraced

__all__ = ["Cadence"]

Tensor = Any  # tensorflow ships no types


class Cadence:
    """The cadence of one run.

    Args:
        period: steps between full rows, to begin with.
    """

    def __init__(self, period: int) -> None:
        self._period = create_untraced(lambda: _variable("gradwatch_period", period, tf.int64))
        self._are_on = create_untraced(lambda: _variable("gradwatch_kinds_are_on", [True] * len(KINDS)))
        self._memo = GraphMemo()

    def set_period(self, period: int) -> None:
        """Takes full rows at every ``period``-th step from now on."""
        self._period.assign(period)

    def set_kinds(self, kinds: Collection[str]) -> None:
        """Takes full statistics of these kinds only from now on."""
        self._are_on.assign([kind in kinds for kind in KINDS])

    def is_due(self, step: Tensor, within: Any = 1) -> Tensor:
        """Whether full statistics are due at a step (int64 scalar), or were at the ``within - 1`` before it; bool."""
        return step % self._read_period() < within

    def is_due_around(self, step: Tensor) -> Tensor:
        """Whether they are due at a step or the next: within a step, before it is known whose ``apply`` comes."""
        return (step + 1) % self._read_period() < 2

    def is_on(self, kind: str) -> Tensor:
        """Whether full statistics of a kind are wanted at all, a bool scalar; one answer within a graph."""
        return self._memo.get("kinds", lambda: tf.unstack(self._are_on.read_value()))[KINDS.index(kind)]

    def _read_period(self) -> Tensor:
        return self._memo.get("period", lambda: [self._period.read_value()])[0]


def _variable(name: str, value: Any, dtype: Any = None) -> Any:
    return tf.Variable(value, dtype=dtype, trainable=False, name=name)
