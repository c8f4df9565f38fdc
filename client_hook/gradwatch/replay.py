"""Finds the operation that made the first non-finite values of a bad step, of whatever type it is.

A healthy step pays nothing but a branch not taken: in it stands a copy of the operations that led to the gradients. It
is run at a bad step only, before the weights change, on the same batch, weights and random numbers, and counts NaN and
Inf in each output. Then the way back from a bad gradient through bad values ends at the operation whose inputs were
good. Where an operation cannot be repeated (it draws random numbers, calls a function that changes something) the
value that it gave is looked at instead. Owns the ring in which the counts wait to be read.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.operation import describe_operations
from gradwatch.reduction import count_broken, unpack_broken
from gradwatch.ring import Ring, create_untraced
from gradwatch.shared import SharedFunction
from gradwatch.walk import roots_of
from gradwatch.xla import cond, is_under_xla

__all__ = [
    "CHAIN_MAX",
    "N_COUNTS",
    "READS",
    "STEPS_BETWEEN",
    "TRACES_MAX",
    "Copy",
    "Replay",
    "find_origin",
    "is_repeatable",
]

NODES_MAX: Final = 10_000
"""Operations that are repeated at most: a larger step is left alone, for the copy costs time when it is traced."""
STEPS_BETWEEN: Final = 50
"""Steps from one repetition to the next: weights that are NaN make every step bad, and say nothing new."""
TRACES_MAX: Final = 8
"""Traces of one training step whose copies are kept: new shapes of a batch make new ones."""
CHAIN_MAX: Final = 12
ROWS: Final = 4
N_COUNTS: Final = 3
"""Of each operation: elements that are NaN, that are infinite, and all."""
Tensor = Any  # tensorflow ships no types
Counts = npt.NDArray[np.float32]

READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
"""Operations with state that can be run twice: they only look at it."""
_GIVEN: Final = frozenset({"Placeholder", "Const", *READS})
"""What enters a step. It makes nothing non-finite: a batch, a weight or a mask may be so."""
_EQUAL: Final = frozenset(
    {
        "Identity",
        "Reshape",
        "Squeeze",
        "ExpandDims",
        "Transpose",
        "StopGradient",
        "PreventGradient",
        "Neg",
    }
)
"""Operations whose output has as many NaN, Inf and elements as their first input: they need not be counted again."""
_PASSING: Final = frozenset({"Identity", "IdentityN", "Reshape", "Cast", "Squeeze", "ExpandDims", "Transpose"})


class Node(NamedTuple):
    """One operation of the step: the operation itself, and the places of those that feed it."""

    op: Any
    inputs: tuple[int, ...]


class Replay:
    """The copy of one traced step.

    Args:
        gradients: symbolic tensors, `tf.IndexedSlices` or None, as given to ``apply`` in the graph being traced.
        loss: the step's loss in this graph, or None.
        layer_paths: the Keras paths of the watched models' layers.
    """

    knows_order: ClassVar[bool] = True
    """Whether what broke in the copy broke in the step as well: not where another compiler made the step."""

    def __init__(self, gradients: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> None:
        graph = tf.compat.v1.get_default_graph()
        roots = roots_of(gradients)
        losses = [] if loss is None else [loss]
        self._ops = ops = _find_ops([root.op for root in roots + losses if root.graph is graph], graph)
        self.is_possible = 0 < len(ops) <= NODES_MAX
        if not self.is_possible:
            return
        self._layer_paths = list(layer_paths)
        places = {id(op): place for place, op in enumerate(ops)}
        self._nodes = [
            Node(op, tuple(places[id(t.op)] for t in op.inputs if t.dtype.is_floating and id(t.op) in places))
            for op in ops
        ]
        self._roots = [places[id(root.op)] for root in roots if id(root.op) in places]
        self._losses = [places[id(root.op)] for root in losses if id(root.op) in places]

    def record(self, step: Tensor, is_bad: Tensor) -> Tensor | None:
        """Adds the branch to the graph: where a step is bad its operations are repeated, and their counts kept."""
        self._ring = Ring(N_COUNTS * len(self._ops), ROWS)
        self._not_before = create_untraced(lambda: tf.Variable(-1, dtype=tf.int64, trainable=False))

        def repeat() -> Tensor:
            return cond(step >= self._not_before.read_value(), lambda: self._keep(step), lambda: tf.constant(0))

        cond(is_bad, repeat, lambda: tf.constant(0))
        return None

    def read(self, *, is_last: bool = False) -> list[dict[str, Any]]:  # noqa: ARG002 a graph waits for nothing
        """The origins found since the last reading, as in the protocol's ``origins``."""
        rows = self._ring.read()
        found = []
        for step, values in zip(rows.steps.tolist(), rows.values, strict=True):
            origin = self._origin(step, values)
            if origin is not None:
                found.append(origin)
        return found

    def _keep(self, step: Tensor) -> Tensor:
        self._not_before.assign(step + STEPS_BETWEEN)

        # A function of its own, not inlined: where it does not run it is one op to pass by, not thousands.
        def repeat() -> Tensor:
            return self._count(Copy(self._ops))

        self._ring.write(step, tf.function(repeat, experimental_attributes={"_noinline": True}, autograph=False)())
        return tf.constant(0)

    def _count(self, copy: Copy) -> Tensor:
        """Repeats the step: float32 ``[3 n]``, of each operation's floating outputs counts of NaN, of Inf, of all."""
        counts: dict[tuple[int, int], list[str]] = {}
        places = []
        for place, op in enumerate(self._ops):
            for tensor in op.outputs:
                if tensor.dtype.is_floating and tensor.dtype.size > 1:
                    equal = counts.get(_key(op.inputs[0])) if op.type in _EQUAL else None
                    counts[_key(tensor)] = equal or copy.count(tensor)
                    places.append(place)
        numbers = tf.stack(copy.add([name for names in counts.values() for name in names]))
        broken, sizes = tf.unstack(tf.reshape(numbers, [-1, 2]), axis=1)
        rows = tf.cast(tf.stack([*unpack_broken(broken), sizes], axis=1), tf.float32)
        return tf.reshape(tf.transpose(tf.math.unsorted_segment_sum(rows, places, len(self._ops))), [-1])

    def _origin(self, step: int, values: npt.NDArray[np.float32]) -> dict[str, Any] | None:
        *both, sizes = values.reshape(N_COUNTS, -1)
        counts = np.stack(both)
        # Of an infinity in the loss none may come back: the slope of log(Inf) is 0. What ran first is to blame.
        chains = [find_origin(self._nodes, roots, counts) for roots in (self._roots, self._losses)]
        known = list(filter(None, chains))
        chain = min(known, key=lambda way: way[0], default=[]) if self.knows_order else next(iter(known), [])
        if not chain:
            return None
        described = describe_operations([self._nodes[place].op for place in chain], self._layer_paths)
        first, n_bad = self._nodes[chain[0]], counts.sum(axis=0)
        return {
            "step": step,
            "operation": described[0]._asdict(),
            "n_nonfinite": int(n_bad[chain[0]]),
            "n_nonfinite_in": int(sum(n_bad[place] for place in first.inputs)),
            "n_elements": int(sizes[chain[0]]),
            "chain": [
                {
                    "type": one.type,
                    "name": one.name,
                    "layer": one.layer,
                    "is_gradient": one.is_gradient,
                    "n_nonfinite": int(n_bad[place]),
                }
                for one, place in zip(described, chain, strict=True)
            ],
        }


def find_origin(nodes: Sequence[Node], roots: Iterable[int], counts: Counts) -> list[int]:
    """The way from the operation that made the first non-finite values to a gradient.

    Args:
        nodes: the operations in the order in which they run.
        roots: the places of those that give gradients and loss.
        counts: float32 ``[2, n]``: NaN and Inf in the outputs of each.

    Returns:
        Places, the origin first, at most 12; empty if none was bad or what is bad came from outside.
    """
    is_nan, is_inf = counts[0] > 0, counts[1] > 0
    is_bad = is_nan | is_inf
    bad_roots = [root for root in roots if is_bad[root]]
    came_to = _walk_back(nodes, bad_roots, is_bad)

    def makes(place: int) -> bool:
        node = nodes[place]
        if node.op.type in _GIVEN or not node.inputs:
            return False
        if not any(is_bad[i] for i in node.inputs):
            return True
        # A NaN out of infinities that were meant to be there, such as a mask: Inf - Inf, 0 * Inf.
        return bool(
            is_nan[place]
            and not any(is_nan[i] for i in node.inputs)
            and not any(_is_made(nodes, i, is_bad) for i in node.inputs if is_bad[i])
        )

    makers = sorted(place for place in came_to if makes(place))
    # A NaN is never meant; an infinity may be, and be masked out again: what leads to a NaN comes first.
    nan_roots = [root for root in bad_roots if is_nan[root]]
    if nan_roots:
        led = _walk_back(nodes, nan_roots, is_bad)
        makers = [place for place in makers if place in led] or makers
    if not makers:
        return []
    return _shorten(_way(came_to, makers[0]), nodes)


def _walk_back(nodes: Sequence[Node], roots: Iterable[int], is_bad: npt.NDArray[np.bool_]) -> dict[int, int]:
    """Every bad place that bad values came from, with the place that they went to on the shortest way to a root."""
    came_to = dict.fromkeys(roots, -1)
    pending = deque(came_to)
    while pending:
        place = pending.popleft()
        for source in nodes[place].inputs:
            if is_bad[source] and source not in came_to:
                came_to[source] = place
                pending.append(source)
    return came_to


def _is_made(nodes: Sequence[Node], place: int, is_bad: npt.NDArray[np.bool_]) -> bool:
    """Whether a bad value goes back to an operation with good inputs, not only to what was given so."""
    return any(
        nodes[source].op.type not in _GIVEN
        and nodes[source].inputs
        and not any(is_bad[i] for i in nodes[source].inputs)
        for source in _walk_back(nodes, [place], is_bad)
    )


def _way(came_to: dict[int, int], place: int) -> list[int]:
    way = [place]
    while came_to[way[-1]] >= 0:
        way.append(came_to[way[-1]])
    return way


def _shorten(way: list[int], nodes: Sequence[Node]) -> list[int]:
    """At most `CHAIN_MAX` places: without those that only pass values on, then without the middle."""
    kept = [way[0], *(place for place in way[1:] if nodes[place].op.type not in _PASSING)]
    if len(kept) > CHAIN_MAX:
        kept = kept[: CHAIN_MAX // 2] + kept[-(CHAIN_MAX - CHAIN_MAX // 2) :]
    return kept


def _find_ops(roots: Iterable[Any], graph: Any) -> list[Any]:
    """The operations of a graph that some depend on, each after those that feed it; else in the order of their making.

    The order of making alone will not do: the gradient of a loop gives the loop inputs that are made after it.
    """
    n_missing: dict[int, int] = {}
    consumers: dict[int, list[Any]] = {}
    pending = list(roots)
    ready: list[Any] = []
    while pending:
        op = pending.pop()
        if id(op) in n_missing or op.graph is not graph:
            continue
        sources = list({id(tensor.op): tensor.op for tensor in op.inputs if tensor.op.graph is graph}.values())
        n_missing[id(op)] = len(sources)
        for source in sources:
            consumers.setdefault(id(source), []).append(op)
        if not sources:
            heapq.heappush(ready, (op._id, op))
        pending.extend(sources)
    found = []
    while ready:
        found.append(heapq.heappop(ready)[1])
        for consumer in consumers.get(id(found[-1]), ()):
            n_missing[id(consumer)] -= 1
            if not n_missing[id(consumer)]:
                heapq.heappush(ready, (consumer._id, consumer))
    return found


def is_repeatable(op: Any) -> bool:
    """Whether an operation can be run twice, with the same result and without another effect."""
    if op.type == "Placeholder":
        return False
    if op.type in READS:  # a counter, such as a seed's, has moved on since; a weight has not
        return bool(op.outputs[0].dtype.is_floating)
    return not op.op_def.is_stateful


class Copy:
    """The repeatable ones of some operations, to be added to the graph that is being made, all at once.

    To make thousands of operations one by one takes longer than to trace the step that they are copied from.

    Args:
        ops: the operations, in an order in which they can run.
        give: for a tensor that is not computed anew, one that stands for it in the graph that is being made; by default
            the tensor itself, captured.
        repeats: whether an operation is among those that are computed anew.
    """

    def __init__(
        self,
        ops: Sequence[Any],
        give: Callable[[Tensor], Tensor] | None = None,
        repeats: Callable[[Any], bool] = is_repeatable,
    ) -> None:
        self._graph = tf.compat.v1.get_default_graph()
        self._give = give or self._graph.capture
        self._given: dict[str, Tensor] = {}
        self._functions: set[Any] = set()
        self._copied = {id(op): f"op_{place}" for place, op in enumerate(ops) if repeats(op)}
        self._definition = tf.compat.v1.GraphDef()
        self._definition.versions.CopyFrom(self._graph.graph_def_versions)  # else defaults of old are assumed
        for op in ops:
            if id(op) in self._copied:
                self._define(self._copied[id(op)], op.node_def, op.inputs)

    def count(self, tensor: Tensor) -> list[str]:
        """Counts what is broken of an output, and its elements, two int64; the names of the results."""
        function = _counter.trace([tensor], is_under_xla())
        if function.name not in self._functions:
            self._functions.add(function.name)
            function.add_to_graph(self._graph)
        name = f"count_{len(self._definition.node)}"
        definition = tf.compat.v1.NodeDef(op="PartitionedCall")
        definition.attr["f"].func.name = function.name
        definition.attr["Tin"].list.type.append(tensor.dtype.as_datatype_enum)
        definition.attr["Tout"].list.type.extend([tf.int64.as_datatype_enum] * 2)
        self._define(name, definition, [tensor])
        return [f"{name}:{place}" for place in range(2)]

    def add(self, wanted: Sequence[str]) -> list[Tensor]:
        """Adds everything to the graph; the tensors of these names."""
        found = tf.graph_util.import_graph_def(
            self._definition, input_map=self._given, return_elements=wanted, name="replay"
        )
        return list(found)

    def _define(self, name: str, definition: Any, inputs: Iterable[Tensor]) -> None:
        node = self._definition.node.add()
        node.CopyFrom(definition)
        node.name = name
        for attribute in [key for key in node.attr if key.startswith("_")]:
            del node.attr[attribute]
        node.input[:] = [self._source_of(tensor) for tensor in inputs]

    def _source_of(self, tensor: Tensor) -> str:
        copied = self._copied.get(id(tensor.op))
        if copied is not None:
            return f"{copied}:{tensor.value_index}"
        name = f"given_{id(tensor)}:0"
        if name not in self._given:
            self._given[name] = self._give(tensor)
        return name


def _key(tensor: Tensor) -> tuple[int, int]:
    return id(tensor.op), tensor.value_index


def _count(tensors: Sequence[Tensor], is_fused: bool) -> list[Tensor]:
    (tensor,) = tensors
    return [count_broken(tensor, is_fused=is_fused), tf.size(tensor, tf.int64)]


_counter: Final = SharedFunction(_count)
