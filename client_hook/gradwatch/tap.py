"""Tensors seen on the way of a step, beside gradients and weights: what a layer gave, what entered. Owns their rows.

A *tap* is an entry of the stream's tensor table. Eagerly its row of statistics is computed where the tensor arises, so
that the tensor itself is not kept; in a graph the rows of several, which arise one after another, are one branch. Small
tensors of a graph wait for the branch in which the whole step is measured. When the step is applied, the rows found
since the last ``apply`` go into the ring's row: those on the way of a gradient, where what it is asked for is applied.
"""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch import statistic
from gradwatch.protocol import Message

__all__ = [
    "APPLIES_MAX",
    "Tap",
    "Tapped",
    "Taps",
    "Waiting",
    "captured_handles",
    "enclosing_graphs",
    "find_handle",
    "find_outer",
    "is_visible",
    "keys_of",
    "unique_taps",
]

GRAPHS_MAX: Final = 16
"""Graphs whose rows are kept: a forward pass that no ``apply`` follows in its graph must not be kept for ever."""
ROWS_MAX: Final = 10_000
APPLIES_MAX: Final = 8
"""Calls of ``apply`` for which what belongs to another one is kept: a critic may be trained a few times in between."""
TOGETHER_MAX: Final = 16
"""Tensors whose rows are computed together: a branch for each would be most of what a step pays for them."""
TOGETHER_ELEMENTS_MAX: Final = 1 << 22
"""Their elements: where due, each tensor waits for the last of them. An unknown dimension counts as a batch."""
WAITING_ELEMENTS_MAX: Final = 1 << 18
"""Elements of all layers' tensors of a step up to which they wait until it is applied. To keep more of them than fit
into a processor's cache costs more than a branch of their own."""
ORDER: Final = ("input", "activation", "backprop")
Tensor = Any  # tensorflow ships no types


@dataclass(frozen=True)
class Tap:
    """One tensor of the table.

    Attributes:
        kind: ``input``, ``activation`` or ``backprop``.
        tensor: its name, unique among its kind.
        layer: the path of its layer, or empty.
        shape: its shape, None where it varies.
        dtype: its dtype's name.
        activation: the name of the layer's function, where known; of a ``backprop`` the function behind which it is
            taken, with respect to what enters it, None where it is with respect to the output.
        is_within: whether it is no layer's output, but what the user's own code takes that function of within a layer.
        source: file, line and code of that call, None where it is not known.
    """

    kind: str
    tensor: str
    layer: str
    shape: tuple[int | None, ...]
    dtype: str
    activation: str | None = None
    is_within: bool = False
    source: Message | None = field(default=None, compare=False)

    @property
    def output(self) -> statistic.LayerOutput:
        """What is to be known of a layer's tensor."""
        is_output = self.kind == "activation"
        has_samples = is_output and not self.is_within
        return statistic.LayerOutput(self.activation if is_output else None, has_samples=has_samples)

    def to_message(self) -> Message:
        """The entry in a ``tensors`` message."""
        n_elements = 1
        for dimension in self.shape:
            n_elements *= dimension or 0
        within = {"within": True, "source": self.source} if self.is_within else {}
        return {
            "kind": self.kind,
            "tensor": self.tensor,
            "layer": self.layer,
            "variable": "",
            "shape": list(self.shape),
            "dtype": self.dtype,
            "n_elements": n_elements,
            "activation": self.activation,
            **within,
        }


class Waiting(NamedTuple):
    """Tensors of the graph in which ``apply`` is called, which are to be measured there.

    Attributes:
        keys: kind and name of each tensor's tap; of one kind.
        tensors: the tensors.
        outputs: what is to be known of each.
    """

    keys: list[tuple[str, str]]
    tensors: list[Tensor]
    outputs: list[statistic.LayerOutput]


class Tapped(NamedTuple):
    """Rows of statistics: kind and name of each one's tap, and all of them, float32 ``[n, 12]``."""

    keys: list[tuple[str, str]]
    block: Tensor


@dataclass
class _Row:
    """A row, or what it is computed of, until it is taken.

    Attributes:
        graph: the graph, kept so that no other one gets its id; None eagerly.
        tap: its tap.
        row: the row.
        owners: for each gradient that passes the tensor, the ids of the `tf.Variable` that it was asked for; where
            there are none, the row belongs to the ``apply`` that comes first.
        made_at: where in its step the tensor is made.
        n_passed: how many came that it did not belong to.
    """

    graph: Any
    tap: Tap
    row: Tensor | _Kept
    owners: list[frozenset[int]]
    made_at: int
    n_passed: int = 0

    def is_of(self, applied: Set[int]) -> bool:
        """Whether it belongs to the ``apply`` of these variables."""
        return not self.owners or any(one & applied for one in self.owners)

    def leave_to_others(self, applied: Set[int]) -> bool:
        """Takes note of an ``apply``; whether the row is kept for another one."""
        self.owners = [one for one in self.owners if not one & applied]
        self.n_passed += 1
        return bool(self.owners) and self.n_passed < APPLIES_MAX


class _Kept(NamedTuple):
    """A tensor in a graph whose row is not in it yet, and what tells whether it is due, a bool scalar."""

    tensor: Tensor
    is_due: Callable[[], Tensor]


class Taps:
    """The rows of the step that is being traced, or run eagerly, graph by graph."""

    def __init__(self) -> None:
        self._rows: OrderedDict[int, list[_Row]] = OrderedDict()
        self._newest: dict[int, dict[Tap, _Row]] = {}
        self._names: dict[int, Counter[tuple[str, str]]] = {}

    def name(self, kind: str, name: str, limit: int) -> str | None:
        """``name``, or ``name (2)`` where the step has that one already; None where it has had ``limit`` of them."""
        used = self._names.setdefault(_place(), Counter())
        used[kind, name] += 1
        n = used[kind, name]
        if n > limit:
            return None
        return name if n == 1 else f"{name} ({n})"

    def add(self, tap: Tap, row: Tensor, owners: frozenset[int] = frozenset(), made_at: int = 0) -> None:
        """Keeps a row, float32 ``[12]``, for the ``apply`` of its owners, or the one that follows if it has none.

        ``made_at``: where in its step an eager tensor was made.
        """
        self._keep(tap, row, owners, made_at)

    def add_where(
        self, is_due: Callable[[], Tensor], tap: Tap, tensor: Tensor, owners: frozenset[int] = frozenset()
    ) -> None:
        """Keeps a tensor of the graph being traced, whose row is wanted where it is due: what gives a bool scalar."""
        # A graph numbers its operations in the order in which they are called for.
        self._keep(tap, _Kept(tensor, is_due), owners, int(tensor.op._id))

    def claim(self, tap: Tap, owners: frozenset[int]) -> bool:
        """Keeps the row of a tap for its owners too; whether there is one that was not taken yet."""
        known = self._newest.get(_place(), {}).get(tap)
        if known is not None and owners:
            known.owners.append(owners)
        return known is not None

    def _keep(self, tap: Tap, row: Tensor | _Kept, owners: frozenset[int], made_at: int) -> None:
        place = _place()
        rows = self._rows.setdefault(place, [])
        if len(rows) < ROWS_MAX:
            graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
            rows.append(_Row(graph, tap, row, [owners] if owners else [], made_at))
            self._newest.setdefault(place, {})[tap] = rows[-1]
        while len(self._rows) > GRAPHS_MAX:
            old, _ = self._rows.popitem(last=False)
            self._names.pop(old, None)
            self._newest.pop(old, None)

    def take(self, applied: Set[int]) -> tuple[list[Tap], list[Tapped | Waiting]]:
        """The taps in the table's order (kind by kind, as they came; backprop: as forward), and what gives their rows.

        They are given once to each owner; numbering of repeated names begins anew.

        Args:
            applied: the ids of the `tf.Variable` that are about to be applied.
        """
        places = [id(graph) for graph in enclosing_graphs()] or [_EAGER]
        taps: list[Tap] = []
        found: list[Tapped | Waiting] = []
        for place in reversed(places):
            rows = self._rows.pop(place, [])
            own = [one for one in rows if one.is_of(applied)]
            if any(one.tap.is_within for one in own):  # they were looked for after the others had come
                own.sort(key=lambda one: one.made_at)
            kept = {one.tap: one.row for one in own}
            left = [one for one in rows if one.leave_to_others(applied)]
            self._newest.pop(place, None)
            if left:
                self._rows[place] = left
                self._newest[place] = {one.tap: one for one in left}
            self._names.pop(place, None)
            taps += [tap for tap in kept if tap not in taps]
            found += _measure(kept, is_here=place == places[0])
        forward = {tap.tensor: i for i, tap in reversed(list(enumerate(taps)))}  # where each name came first
        return sorted(taps, key=lambda tap: (ORDER.index(tap.kind), forward[tap.tensor])), found


def _measure(kept: dict[Tap, Tensor | _Kept], *, is_here: bool) -> list[Tapped | Waiting]:
    """The rows of one graph; what is small waits if that graph is the one in which ``apply`` is called."""
    rows = {tap: row for tap, row in kept.items() if not isinstance(row, _Kept)}
    tensors = {tap: row for tap, row in kept.items() if isinstance(row, _Kept)}
    found: list[Tapped | Waiting] = []
    if rows:
        found.append(Tapped(keys_of(rows), tf.stack(list(rows.values()))))
    waits = is_here and sum(statistic.estimate_size(tap.shape) for tap in tensors) <= WAITING_ELEMENTS_MAX
    for taps in _together(tensors, len(tensors) if waits else TOGETHER_MAX):
        some, outputs = [tensors[tap].tensor for tap in taps], [tap.output for tap in taps]
        if waits:
            found.append(Waiting(keys_of(taps), some, outputs))
            continue
        with some[0].graph.as_default(), statistic.apart():
            block = statistic.layer_rows_where(tensors[taps[0]].is_due(), some, outputs)
        found.append(Tapped(keys_of(taps), block))
    return found


def keys_of(taps: Iterable[Tap]) -> list[tuple[str, str]]:
    """Kind and name of each tap."""
    return [(tap.kind, tap.tensor) for tap in taps]


def _together(tensors: dict[Tap, _Kept], n_max: int) -> Iterator[list[Tap]]:
    """Those to be measured in one branch: few, not too large, and of one kind."""
    group: list[Tap] = []
    n_elements = 0
    for tap in tensors:
        n_own = statistic.estimate_size(tap.shape)
        is_full = len(group) == n_max or n_elements + n_own > TOGETHER_ELEMENTS_MAX
        if group and (is_full or group[0].kind != tap.kind):
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


def captured_handles() -> set[int]:
    """The numbers of the eager tensors, handles of variables among them, that the graphs being traced read so far."""
    captures = [outer for graph in enclosing_graphs() for outer, _ in graph.captures]
    return {int(outer._id) for outer in captures if isinstance(outer, tf.Tensor) and not tf.is_symbolic_tensor(outer)}


def captured_variables() -> list[Any]:
    """The variables that the graphs being traced have read or written so far; none eagerly."""
    # A graph's public `variables` are known once it is traced.
    found = itertools.chain.from_iterable(getattr(graph, "_watched_variables", ()) for graph in enclosing_graphs())
    return list({id(one): one for one in found}.values())


def find_outer(tensor: Tensor) -> Tensor | None:
    """The eager tensor that a symbolic one stands for, through the graphs that captured it; None if there is none."""
    while tf.is_symbolic_tensor(tensor):
        captures = getattr(tensor.graph, "captures", ())
        tensor = next((outer for outer, inner in captures if inner is tensor), None)
    return tensor


def find_handle(tensor: Tensor) -> int | None:
    """The number of an eager handle, through the graphs that captured it."""
    outer = find_outer(tensor)
    return None if outer is None else int(outer._id)


def unique_taps(taps: Iterable[Tap], taken: Set[tuple[str, str]], suffix: str) -> list[Tap]:
    """Taps under names that no other stream has: ``suffix`` is added where ``taken`` has (kind, tensor) already.

    An output and its gradient keep one name, by which they are known to belong together.
    """

    def is_taken(tap: Tap) -> bool:
        kinds = ("activation", "backprop") if tap.kind != "input" else ("input",)
        return any((kind, tap.tensor) in taken for kind in kinds)

    return [replace(tap, tensor=f"{tap.tensor} @{suffix}") if is_taken(tap) else tap for tap in taps]


def is_visible(tensor: Tensor | None) -> bool:
    """Whether a tensor can be used here: an eager one eagerly, a symbolic one in its own graph or one inside it."""
    if tensor is None:
        return False
    if tf.executing_eagerly():
        return not tf.is_symbolic_tensor(tensor)
    return any(getattr(tensor, "graph", None) is graph for graph in enclosing_graphs())
