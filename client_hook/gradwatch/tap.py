"""Tensors seen on the way of a step, beside gradients and weights: what a layer gave, what entered. Owns their rows.

A *tap* is an entry of the stream's tensor table. Eagerly its row of statistics is computed where the tensor arises, so
that the tensor itself is not kept; in a graph the rows of several, which arise one after another, are one branch. When
the step is applied, the rows found since the last ``apply`` go into the ring's row.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch import statistic
from gradwatch.protocol import Message

__all__ = ["Tap", "Taps", "enclosing_graphs", "is_visible", "unique_taps"]

GRAPHS_MAX: Final = 16
"""Graphs whose rows are kept: a forward pass that no ``apply`` follows in its graph must not be kept for ever."""
ROWS_MAX: Final = 10_000
TOGETHER_MAX: Final = 16
"""Tensors whose rows are computed together: a branch for each would be most of what a step pays for them."""
TOGETHER_ELEMENTS_MAX: Final = 1 << 22
"""Their elements: where due, each tensor waits for the last of them. An unknown dimension counts as a batch."""
ORDER: Final = ("input", "activation", "backprop")
Tensor = Any  # tensorflow ships no types


class Tap(NamedTuple):
    """One tensor of the table.

    Attributes:
        kind: ``input``, ``activation`` or ``backprop``.
        tensor: its name, unique among its kind.
        layer: the path of its layer, or empty.
        shape: its shape, None where it varies.
        dtype: its dtype's name.
        activation: the name of the layer's function, where known; of a ``backprop`` the function behind which it is
            taken, with respect to what enters it, None where it is with respect to the output.
    """

    kind: str
    tensor: str
    layer: str
    shape: tuple[int | None, ...]
    dtype: str
    activation: str | None = None

    @property
    def output(self) -> statistic.LayerOutput:
        """What is to be known of a layer's tensor."""
        is_output = self.kind == "activation"
        return statistic.LayerOutput(self.activation if is_output else None, has_samples=is_output)

    def to_message(self) -> Message:
        """The entry in a ``tensors`` message."""
        n_elements = 1
        for dimension in self.shape:
            n_elements *= dimension or 0
        return {
            "kind": self.kind,
            "tensor": self.tensor,
            "layer": self.layer,
            "variable": "",
            "shape": list(self.shape),
            "dtype": self.dtype,
            "n_elements": n_elements,
            "activation": self.activation,
        }


class _Waiting(NamedTuple):
    """A tensor in a graph whose row is not in it yet, and whether it is due, a bool scalar."""

    tensor: Tensor
    is_due: Tensor


class Taps:
    """The rows of the step that is being traced, or run eagerly, graph by graph."""

    def __init__(self) -> None:
        self._rows: OrderedDict[int, list[tuple[Any, Tap, Tensor | _Waiting]]] = OrderedDict()
        self._names: dict[int, Counter[tuple[str, str]]] = {}

    def name(self, kind: str, name: str, limit: int) -> str | None:
        """``name``, or ``name (2)`` where the step has that one already; None where it has had ``limit`` of them."""
        used = self._names.setdefault(_place(), Counter())
        used[kind, name] += 1
        n = used[kind, name]
        if n > limit:
            return None
        return name if n == 1 else f"{name} ({n})"

    def add(self, tap: Tap, row: Tensor) -> None:
        """Keeps a row, float32 ``[12]``, for the ``apply`` that follows."""
        self._keep(tap, row)

    def add_where(self, is_due: Tensor, tap: Tap, tensor: Tensor) -> None:
        """Keeps a tensor of the graph being traced, whose row is wanted where it is due, a bool scalar."""
        self._keep(tap, _Waiting(tensor, is_due))

    def _keep(self, tap: Tap, row: Tensor | _Waiting) -> None:
        place = _place()
        rows = self._rows.setdefault(place, [])
        if len(rows) < ROWS_MAX:
            # The graph is kept with them, so that no other one gets its id.
            rows.append((None if tf.executing_eagerly() else tf.compat.v1.get_default_graph(), tap, row))
        while len(self._rows) > GRAPHS_MAX:
            old, _ = self._rows.popitem(last=False)
            self._names.pop(old, None)

    def take(self) -> dict[Tap, Tensor]:
        """The rows that can be used here, in the table's order: kind by kind, as they came (backprop: as forward).

        They are given once; numbering of repeated names begins anew.
        """
        places = [id(graph) for graph in enclosing_graphs()] or [_EAGER]
        found: dict[Tap, Tensor] = {}
        for place in reversed(places):
            found |= _measure(self._rows.pop(place, ()))
            self._names.pop(place, None)
        forward = {tap.tensor: i for i, tap in reversed(list(enumerate(found)))}  # where each name came first
        return dict(sorted(found.items(), key=lambda item: (ORDER.index(item[0].kind), forward[item[0].tensor])))


def _measure(kept: Sequence[tuple[Any, Tap, Tensor | _Waiting]]) -> dict[Tap, Tensor]:
    """The rows of one graph, those that wait put into it."""
    found = {tap: row for _, tap, row in kept}
    waiting = {tap: row for tap, row in found.items() if isinstance(row, _Waiting)}
    for taps in _together(waiting):
        some = [waiting[tap] for tap in taps]
        with some[0].tensor.graph.as_default(), statistic.apart():
            tensors, outputs = [one.tensor for one in some], [tap.output for tap in taps]
            rows = statistic.layer_rows_where(some[0].is_due, tensors, outputs)
            found |= dict(zip(taps, tf.unstack(rows, num=len(taps)), strict=True))
    return found


def _together(waiting: dict[Tap, _Waiting]) -> Iterator[list[Tap]]:
    """Those to be measured in one branch: few, not too large, and due together."""
    group: list[Tap] = []
    n_elements = 0
    for tap, (_, is_due) in waiting.items():
        n_own = statistic.estimate_size(tap.shape)
        is_full = len(group) == TOGETHER_MAX or n_elements + n_own > TOGETHER_ELEMENTS_MAX
        if group and (is_full or waiting[group[0]].is_due is not is_due):
            yield group
            group, n_elements = [], 0
        group.append(tap)
        n_elements += n_own
    if group:
        yield group


_EAGER: Final = 0


def _place() -> int:
    return _EAGER if tf.executing_eagerly() else id(tf.compat.v1.get_default_graph())


def enclosing_graphs() -> list[Any]:
    """The graph being traced and those around it, the innermost first; none when executing eagerly."""
    graphs: list[Any] = []
    graph: Any = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    while hasattr(graph, "outer_graph"):  # the outermost of all is TensorFlow's own, which every trace shares
        graphs.append(graph)
        graph = graph.outer_graph
    return graphs


def unique_taps(taps: Iterable[Tap], taken: Set[tuple[str, str]], suffix: str) -> list[Tap]:
    """Taps under names that no other stream has: ``suffix`` is added where ``taken`` has (kind, tensor) already."""
    return [tap._replace(tensor=f"{tap.tensor} @{suffix}") if (tap.kind, tap.tensor) in taken else tap for tap in taps]


def is_visible(tensor: Tensor | None) -> bool:
    """Whether a tensor can be used here: an eager one eagerly, a symbolic one in its own graph or one inside it."""
    if tensor is None:
        return False
    if tf.executing_eagerly():
        return not tf.is_symbolic_tensor(tensor)
    return any(getattr(tensor, "graph", None) is graph for graph in enclosing_graphs())
