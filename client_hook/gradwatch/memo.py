"""What the hook has computed already in a graph that is being traced. Owns nothing that keeps a graph alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

import tensorflow as tf

__all__ = ["GraphMemo"]

Tensor = Any  # tensorflow ships no types


class GraphMemo:
    """Tensors by key, in each graph its own: what a step asks twice is one op, and both have one answer."""

    def __init__(self) -> None:
        # Names and not tensors, which would keep the graph that they stand in.
        self._names: weakref.WeakKeyDictionary[Any, dict[Hashable, list[str]]] = weakref.WeakKeyDictionary()

    def get(self, key: Hashable, make: Callable[[], list[Tensor]]) -> list[Tensor]:
        """What ``make`` gave for this key in the graph being traced; eagerly it is made each time."""
        if tf.executing_eagerly():
            return make()
        graph = tf.compat.v1.get_default_graph()
        names = self._names.setdefault(graph, {})
        if key not in names:
            names[key] = [tensor.name for tensor in make()]
        return [graph.get_tensor_by_name(name) for name in names[key]]
