"""Kernels that begin as one number, and whether the units of each are copies of one another still.

The gradient of a bias has an element for each unit. Of a kernel without a bias no statistic of a whole tensor tells its
units apart, nor those of one that serves several things, as the heads of a mixture do: of each kind its units may be
copies. So the kernel itself is looked at, in the reader's thread, until a unit differs once from all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
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
        """The number whose bits tell of which of ``names`` each unit has been equal to another so far."""
        self._left = {place: one for place, one in self._left.items() if _are_copies(one)}
        return sum(1 << place for place in self._left)


def _may_be(variable: Any) -> bool:
    shape = variable.shape if isinstance(variable, BaseResourceVariable) else tf.TensorShape([])
    return len(shape) > 1 and shape[-1] > 1 and 0 < shape.num_elements() <= ELEMENTS_MAX


def _is_one_number(variable: Any) -> bool:
    value = variable.numpy()
    return bool((value == value.flat[0]).all())


def _are_copies(variable: Any) -> bool:
    value = variable.numpy()
    if (value == value[..., :1]).all():
        return True
    _, n_equal = np.unique(value.reshape(-1, value.shape[-1]), axis=1, return_counts=True)
    return bool((n_equal > 1).all())
