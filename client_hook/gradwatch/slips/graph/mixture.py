"""Mixtures of densities whose coordinates each pick a component of their own, in the graph. Owns no state.

The density of a point in one component is the product of those of its coordinates; the mixture is the sum of these,
weighed. Summed over the components first, for each coordinate, it is another model: it holds every mixture of the
components' coordinates, and weights that say nothing of which go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import layer_of, slip_of, source_of
from gradwatch.walk import ADDING, PASSING, behind

__all__ = ["find_marginals"]

WEIGHING: Final = frozenset({"LogSoftmax"})
RANK: Final = 3
"""Axes of the densities: samples, components, coordinates."""


def find_marginals(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first log-sum-exp over components, ``[n, k, d]`` to ``[n, d]``, with one weight for all coordinates of each.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Log``), name, layer and source line of it, and ``marginals``: how many coordinates there are.
    """
    for op in forward:
        total = op.inputs[0].op if op.type == "Log" else None
        if total is None or total.type != "Sum" or layer_of(op.name, layer_paths):
            continue
        terms = total.inputs[0].op
        shifted = terms.inputs[0].op if terms.type == "Exp" and terms.outputs[0].shape.rank == RANK else None
        axis = tf.get_static_value(total.inputs[1])
        if shifted is None or shifted.type != "Sub" or axis is None or axis.ravel().tolist() not in ([1], [-2]):
            continue
        joined = shifted.inputs[0].op
        for weight, density in (joined.inputs, tuple(reversed(joined.inputs))) if joined.type in ADDING else ():
            n = density.shape[-1] if density.shape.rank == RANK else None
            is_of_all = weight.shape.rank == RANK and weight.shape[-1] == 1 and n is not None and n > 1
            if is_of_all and any(one.type in WEIGHING for one in behind([weight.op], through=PASSING)):
                return [slip_of(op, layer_paths) | {"source": source_of(op), "marginals": n}]
    return []
