"""Losses of a sequence of labels whose blank is label 0, in the graph. Owns no state.

Between two labels a network may give none: the blank. It is label 0 of `keras.losses.CTC`, and of `tf.nn.ctc_loss`
where `blank_index` is not given; then labels count from 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from gradwatch.origin import source_of

__all__ = ["find_blank", "find_labels"]

SCOPE: Final = "ctc_loss_dense"
"""What TensorFlow calls the scope of such a loss."""
MOVING: Final = "Select"
"""What it moves the labels with where the blank is another one."""
Tensor = Any  # tensorflow ships no types


def find_blank(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """The first such loss with label 0 for its blank; that is no slip, unless labels count from 0.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.

    Returns:
        Type (``CTC``), name, no layer and source line of it, and ``blank``: the label.
    """
    for op in forward:
        before, found, _ = op.name.partition(f"{SCOPE}/")
        if found:
            if f"{before}{SCOPE}/{MOVING}" in {one.name for one in op.graph.get_operations()}:
                return []
            return [{"type": "CTC", "name": op.name, "layer": "", "source": source_of(op), "blank": 0}]
    return []


def find_labels(graphs: Iterable[Any]) -> Tensor | None:
    """The sequences of labels, ``[n, length]``, that such a loss is given in one of these graphs; or None."""
    for op in itertools.chain.from_iterable(graph.get_operations() for graph in graphs):
        if f"{SCOPE}/" in op.name:
            for one in op.inputs:
                if one.dtype.is_integer and one.shape.rank == 2 and SCOPE not in one.op.name:
                    return one
    return None
