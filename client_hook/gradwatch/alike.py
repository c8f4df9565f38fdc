"""Kernels that begin as one number, and whether the units of each are copies of one another still.

The gradient of a bias has an element for each unit. Of a kernel without a bias no statistic of a whole tensor tells its
units apart, so the kernel itself is looked at, in the reader's thread, until its units differ once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

__all__ = ["AlikeKernels"]

KERNELS_MAX: Final = 24
"""As many as a float32 can tell apart by a bit each."""
ELEMENTS_MAX: Final = 65_536
"""Of a kernel that is looked at."""


class AlikeKernels:
    """Those among some variables.

    Args:
        names: of the variables.
        variables: `tf.Variable`; where one cannot be read as yet it is none of them.

    Attributes:
        names: of those that are one number when this is made, and have several units: along their last axis.
    """

    def __init__(self, names: Sequence[str], variables: Sequence[Any]) -> None:
        with tf.init_scope():
            found = [(n, one) for n, one in zip(names, variables, strict=True) if _may_be(one) and _is_one_number(one)]
        self.names = tuple(name for name, _ in found[:KERNELS_MAX])
        self._left = dict(enumerate(one for _, one in found[:KERNELS_MAX]))

    def find(self) -> int:
        """The number whose bits tell of which, in the order of ``names``, all units have been equal so far."""
        self._left = {place: one for place, one in self._left.items() if _are_equal(one)}
        return sum(1 << place for place in self._left)


def _may_be(variable: Any) -> bool:
    shape = variable.shape if isinstance(variable, BaseResourceVariable) else tf.TensorShape([])
    return len(shape) > 1 and shape[-1] > 1 and 0 < shape.num_elements() <= ELEMENTS_MAX


def _is_one_number(variable: Any) -> bool:
    value = variable.numpy()
    return bool((value == value.flat[0]).all())


def _are_equal(variable: Any) -> bool:
    value = variable.numpy()
    return bool((value == value[..., :1]).all())
