"""When full statistics are due, and of which kinds: a few variables on the device that every watched graph reads.

They can be set from any thread while the training runs; a graph traced long ago follows. What they are set to is
`gradwatch.plan`'s.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import tensorflow as tf

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
        self._is_on = create_untraced(lambda: {kind: _variable(f"gradwatch_{kind}_is_on", True) for kind in KINDS})

    def set_period(self, period: int) -> None:
        """Takes full rows at every ``period``-th step from now on."""
        self._period.assign(period)

    def set_kinds(self, kinds: Collection[str]) -> None:
        """Takes full statistics of these kinds only from now on."""
        for kind, variable in self._is_on.items():
            variable.assign(kind in kinds)

    def is_due(self, step: Tensor, within: Any = 1) -> Tensor:
        """Whether full statistics are due at a step (int64 scalar), or were at the ``within - 1`` before it; bool."""
        return step % self._period.read_value() < within

    def is_due_around(self, step: Tensor) -> Tensor:
        """Whether they are due at a step or the next: within a step, before it is known whose ``apply`` comes."""
        return (step + 1) % self._period.read_value() < 2

    def is_on(self, kind: str) -> Tensor:
        """Whether full statistics of a kind are wanted at all, a bool scalar.

        It may change between two readings within one step: what must agree reads it once.
        """
        return self._is_on[kind].read_value()


def _variable(name: str, value: Any, dtype: Any = None) -> Any:
    return tf.Variable(value, dtype=dtype, trainable=False, name=name)
