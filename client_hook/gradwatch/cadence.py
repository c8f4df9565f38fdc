"""When full statistics are due: a few variables on the device that every watched graph reads. Owns those variables.

They can be set from any thread while the training runs; a graph traced long ago follows.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gradwatch.ring import create_untraced

__all__ = ["Cadence"]

Tensor = Any  # tensorflow ships no types


class Cadence:
    """The cadence of one run.

    Args:
        every: steps between full rows at the least, what the user asked for.
    """

    def __init__(self, every: int) -> None:
        self._every = _variable("gradwatch_every", every)
        self._period = _variable("gradwatch_period", 1)

    def set_period(self, period: int) -> None:
        """Takes full rows at every ``period``-th of the steps that the user's ``every`` leaves."""
        self._period.assign(period)

    def is_due(self, step: Tensor) -> Tensor:
        """Whether full statistics are due at a step (int64 scalar), a bool scalar."""
        return step % (self._every.read_value() * self._period.read_value()) == 0

    def is_due_around(self, step: Tensor) -> Tensor:
        """Whether they are due at a step or the next: within a step, before it is known whose ``apply`` comes."""
        between = self._every.read_value() * self._period.read_value()
        return (step % between == 0) | ((step + 1) % between == 0)


def _variable(name: str, value: int) -> Any:
    return create_untraced(lambda: tf.Variable(value, dtype=tf.int64, trainable=False, name=name))
