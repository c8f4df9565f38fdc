"""What is looked at in every step, before anything else: all of it is one vector, whose sum tells whether it is finite.

A step in which nothing is due and nothing is bad pays for this vector and one condition. Owns no state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from gradwatch import statistic
from gradwatch.xla import math_here

__all__ = ["Glance", "as_scalar"]

Tensor = Any  # tensorflow ships no types


class Glance:
    """The vector of one step, float32 ``[n_gradients + n_of_batch + n_losses]``.

    Args:
        gradients: the gradients that there are, dense.
        others: what else is looked at in every step.
        losses: what else must be finite; the mean is taken of more than one number.

    Attributes:
        numbers: the vector: half of each tensor's sum of squares, and the losses.
    """

    def __init__(self, gradients: Sequence[Tensor], others: Sequence[Tensor], losses: Sequence[Tensor]) -> None:
        self._n_gradients, self._n_squares = len(gradients), len(gradients) + len(others)
        self.numbers = statistic.half_squares([*gradients, *others], [as_scalar(loss) for loss in losses])

    def is_bad(self) -> Tensor:
        """Whether something of it is not finite, or so large that one cannot tell."""
        return ~math_here().is_finite(tf.reduce_sum(self.numbers))

    def is_loss_bad(self) -> Tensor:
        """Whether a loss is not finite."""
        return ~tf.reduce_all(math_here().is_finite(self.numbers[self._n_squares :]))

    def of_gradients(self) -> Tensor:
        """The half squares of the gradients."""
        return self.numbers[: self._n_gradients]

    def of_others(self) -> Tensor:
        """The half squares of what else is looked at."""
        return self.numbers[self._n_gradients : self._n_squares]


def as_scalar(value: Any) -> Tensor:
    """A number as a float32 scalar, the mean of several."""
    value = tf.cast(tf.convert_to_tensor(value), tf.float32)
    return value if value.shape.rank == 0 else tf.reduce_mean(value)
