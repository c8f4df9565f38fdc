"""What each layer gave, and the gradient that came back to it, while a step is traced or run. Owns who is being called.

Nothing is put between layers: an output is looked at where it arises, and its gradient is asked for as one source more
in the user's own `tf.GradientTape.gradient`, which computes it anyway. Layers inside a loop or a function of their own
are not reached (what comes out of it is); neither are calls that no tape records, such as an evaluation's.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import keras
import tensorflow as tf
from tensorflow.python.eager import record

from gradwatch import statistic
from gradwatch.cadence import Cadence
from gradwatch.memo import GraphMemo
from gradwatch.origin import source_here
from gradwatch.probe import Clock
from gradwatch.sketch import Sketch
from gradwatch.tap import APPLIES_MAX, Tap, Taps, enclosing_graphs, find_handle
from gradwatch.target import path_of, walk
from gradwatch.walk import SAME_NUMBERS, passed
from gradwatch.within import FUNCTIONS, Function

__all__ = ["LayerProbe"]

RESHAPING: Final = (keras.layers.InputLayer, keras.layers.Flatten, keras.layers.Reshape, keras.layers.Permute)
"""Layers whose output holds the elements of their input."""
OUTPUTS_MAX: Final = 10_000
MADE_MAX: Final = 8
"""Layers of a step that are looked at for being made in it."""
MADE: Final = "Layer"
"""The type of such a slip."""
CALLS_MAX: Final = 16
"""Calls of one layer in a step, the first ones: a network that a solver unrolls is called hundreds of times, and to
look at each would make its first step minutes long."""
Tensor = Any  # tensorflow ships no types


class _Output(NamedTuple):
    """What a layer gave: its tap, the tensor, and how many steps were applied before."""

    tap: Tap
    ref: weakref.ref[Any]
    n_applied: int


class LayerProbe:
    """The activation and backprop taps of one watch.

    Args:
        models: gives the watched models.
        taps: where rows go.
        cadence: when they are due.
        clock: the run's clock.
        place: gives where an eager step is, in operations.
        kinds: the kinds to capture, of ``activation backprop``.
    """

    def __init__(
        self,
        *,
        models: Callable[[], Iterable[Any]],
        taps: Taps,
        cadence: Cadence,
        clock: Clock,
        place: Callable[[], int],
        kinds: Sequence[str],
    ) -> None:
        self._models = models
        self._taps = taps
        self._cadence = cadence
        self._clock = clock
        self._place = place
        self._kinds = frozenset(kinds)
        self._calls = threading.local()
        self._parts: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self._outputs: list[_Output] = []
        self._n_applied = 0
        self._left_out: Callable[[], Any] = lambda: None
        self._held: list[Tensor] = []
        self._made: list[tuple[Any, dict[str, Any] | None]] = []
        self._due = GraphMemo()

    def enter(self, layer: Any) -> Any:
        """Called before a layer is; returns what `leave` needs."""
        before = getattr(self._calls, "graph", None)
        if before is None and self._kinds and record.could_possibly_record() and self._is_watched(layer):
            self._calls.graph = _graph()
        elif before is not None and isinstance(layer, keras.layers.RNN):
            self._calls.graph = _LOOP
        elif before is not None and tf.executing_eagerly() and not layer.built and not self._is_watched(layer):
            self._made = [*self._made, (layer, source_here())][:MADE_MAX]
        return before

    def leave(self, layer: Any, before: Any, output: Any) -> None:
        """Called after a layer was, with its output (None if it raised); looks at the output."""
        graph = before if before is not None else getattr(self._calls, "graph", None)
        self._calls.graph = before
        if graph is None or graph is not _graph() or isinstance(layer, RESHAPING) or tf.distribute.has_strategy():
            return
        with statistic.apart():
            for i, tensor in enumerate(keras.tree.flatten(output)):
                if tf.is_tensor(tensor) and isinstance(tensor, tf.Tensor) and tensor.dtype.is_floating:
                    self._look_at(layer, i, tensor)

    def sources(self, asked: Sequence[Any]) -> list[tuple[Tap, Tensor]]:
        """The layers' outputs in this graph, whose gradients are wanted wherever the user asks a tape for gradients.

        In a graph only those that depend on a variable that is asked for: what a discriminator is given is no part of
        its own way back.

        Args:
            asked: what the user asks for, each the `tf.Variable` where it is one.
        """
        if "backprop" not in self._kinds:
            return []
        graph = _graph()
        alive = [(one.tap, output) for one in self._outputs if (output := one.ref()) is not None]
        outputs = [(tap, output) for tap, output in alive if _graph_of(output) is graph]
        reached = _dependents(graph, asked) if outputs and graph is not _EAGERLY else None
        found = []
        for tap, output in outputs:
            if reached is not None and id(output.op) not in reached:
                continue
            found.append((replace(tap, kind="backprop", activation=None), output))
            # Keras' losses look behind a softmax or sigmoid: the output itself then has no gradient.
            scores = getattr(output, "_keras_logits", None)
            if scores is not None and tap.activation is not None and _graph_of(scores) is graph:
                found.append((replace(tap, kind="backprop"), scores))
        return found

    def note_gradients(
        self, sources: Sequence[tuple[Tap, Tensor]], gradients: Sequence[Any], asked: Sequence[Any]
    ) -> None:
        """Looks at the gradients of `sources`; None where an output is not connected.

        Args:
            sources: as `sources` gave them.
            gradients: one for each.
            asked: as there; these, applied, are whose rows they are, and whose those of the outputs.
        """
        self._held.clear()
        seen = set()
        owners = frozenset(id(one) for one in asked if isinstance(one, tf.Variable))
        outputs = {id(output): one.tap for one in self._outputs if (output := one.ref()) is not None}
        with statistic.apart():
            for (tap, output), gradient in zip(sources, gradients, strict=True):
                if gradient is None:
                    continue
                made = outputs.get(id(output))  # None for what is behind a softmax
                if made is not None and not self._taps.claim(made, owners):  # another ``apply`` took it
                    self._add(made, output, owners)
                if tap.tensor not in seen:
                    seen.add(tap.tensor)
                    self._add(tap, statistic.dense_values(gradient), owners)

    def name_of(self, output: Tensor) -> str | None:
        """What a layer's output is called in the tensor table; None for what no layer gave just so."""
        return next((one.tap.tensor for one in reversed(self._outputs) if one.ref() is output), None)

    def take_made(self, given: Sequence[Any]) -> list[dict[str, Any]]:
        """Layers that were first called, eagerly, in this step within a watched model and are no part of it after it.

        What such a layer trains is not kept: the next call makes another. A graph refuses to make it twice.

        Args:
            given: the variables that the optimizer is given; a layer that has one of them is left out.

        Returns:
            Of those with weights to train the class, the name and the source line of the call, as ``slips`` have them.
        """
        made, self._made = self._made, []
        known, ids = {id(part) for part in walk(self._models())} if made else set(), set(map(id, given))
        return [
            {"type": MADE, "name": layer.name, "layer": None, "source": source, "class": type(layer).__name__}
            for layer, source in made
            if layer.trainable_weights and id(layer) not in known and not ids.intersection(map(id, layer.weights))
        ]

    def look_within(
        self, find: Callable[[frozenset[int]], Iterable[Function]], sketch: Sketch | None
    ) -> dict[Tap, Tensor]:
        """Looks at what the user's own code takes functions of.

        Args:
            find: gives it, but for what layers give, by id.
            sketch: what was drawn of an eager step; of another one nothing is known.

        Returns:
            Of a sketch, the tensors by their taps.
        """
        if "activation" not in self._kinds or (tf.executing_eagerly() and sketch is None):
            return {}
        graph = _graph() if sketch is None else sketch.graph
        outputs = [output for one in self._outputs if (output := one.ref()) is not None]
        drawn = outputs if sketch is None else map(sketch.find, outputs)
        found: dict[Tap, Tensor] = {}
        for one in find(frozenset(map(id, drawn))):
            if _graph_of(one.output) is not graph:
                continue
            name = self._taps.name("activation", f"{one.layer}/{one.name}", CALLS_MAX)
            if name is not None:
                given = name, one.layer, _shape_of(one.output), one.output.dtype.name, one.name
                found[Tap("activation", *given, is_within=True, source=one.source)] = one.output
        for tap, tensor in found.items():
            if sketch is None:
                self._add(tap, tensor)
            elif (own := sketch.find_eager(tensor)) is not None and (place := sketch.find_place(tensor)) is not None:
                with statistic.apart():
                    self._add(tap, own, place=place.number + 1)
        return found

    def forget(self) -> None:
        """The step is applied: outputs seen long before it, or in graphs that are traced, have had their gradients."""
        self._held.clear()
        self._n_applied += 1
        graphs = [_EAGERLY, *enclosing_graphs()]
        recent = [one for one in self._outputs if self._n_applied - one.n_applied < APPLIES_MAX]
        alive = [(one, output) for one in recent if (output := one.ref()) is not None]
        self._outputs = [one for one, output in alive if any(_graph_of(output) is graph for graph in graphs)]

    def _is_watched(self, layer: Any) -> bool:
        """Whether it is a watched model or a part of one: a ``train_step`` may call the parts alone."""
        is_part = self._parts.get(layer)
        if is_part is None or (not is_part and not tf.executing_eagerly()):  # parts may be added; a trace is seldom
            is_part = self._parts[layer] = any(layer is part for part in walk(self._models()))
        return is_part

    def _look_at(self, layer: Any, place: int, tensor: Tensor) -> None:
        if any(one.ref() is tensor for one in reversed(self._outputs)) or self._left_out() is tensor:
            return  # the last layer's, passed on by the model or block around it
        path = path_of(layer)
        name = self._taps.name("activation", f"{path}:{place}" if place else path, CALLS_MAX)
        if name is None:
            self._left_out = weakref.ref(tensor)
            return
        tap = Tap("activation", name, path, _shape_of(tensor), tensor.dtype.name, _activation_of(layer, tensor))
        self._add(tap, tensor)
        if len(self._outputs) < OUTPUTS_MAX:
            self._outputs.append(_Output(tap, weakref.ref(tensor), self._n_applied))
            if tf.executing_eagerly() and self._is_due_eagerly("backprop"):
                self._held.append(tensor)  # nobody else may need it until the tape is asked for gradients

    def _add(self, tap: Tap, tensor: Tensor, owners: frozenset[int] = frozenset(), *, place: int | None = None) -> None:
        if tap.kind not in self._kinds:
            return
        if not tf.executing_eagerly():
            self._taps.add_where(partial(self._is_due, tap.kind), tap, tensor, owners)
        elif self._is_due_eagerly(tap.kind):
            place = self._place() if place is None else place
            self._taps.add(tap, statistic.layer_row(tensor, tap.output), owners, place)

    def _is_due(self, kind: str) -> Tensor:
        """Whether rows of a kind are due; asked once in each graph."""

        def ask() -> Tensor:
            return self._cadence.is_due_around(self._clock.step.read_value()) & self._cadence.is_on(kind)

        return self._due.get(kind, lambda: [ask()])[0]

    def _is_due_eagerly(self, kind: str) -> bool:
        return self._cadence.is_due_around_on_host(self._clock.read_on_host(), kind)


def _dependents(graph: Any, asked: Sequence[Any]) -> set[int] | None:
    """The ids of the operations of a graph that depend on variables; None where it reads none of them by itself."""
    handles = {int(one.handle._id) for one in asked if isinstance(one, tf.Variable)}
    pending = [inner for _, inner in graph.captures if inner.dtype == tf.resource and find_handle(inner) in handles]
    if not pending:
        return None
    found: set[int] = set()
    while pending:
        for op in pending.pop().consumers():
            if id(op) not in found:
                found.add(id(op))
                pending.extend(op.outputs)
    return found


_EAGERLY: Final = object()
_LOOP: Final = object()
"""In place of a graph: within a loop over time, whose steps are not looked at one by one, eagerly neither."""


def _graph() -> Any:
    return _EAGERLY if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def _graph_of(tensor: Tensor) -> Any:
    return tensor.graph if tf.is_symbolic_tensor(tensor) else _EAGERLY


def _shape_of(tensor: Tensor) -> tuple[int | None, ...]:
    return tuple(tensor.shape.as_list()) if tensor.shape.rank is not None else ()


def _activation_of(layer: Any, output: Tensor) -> str | None:
    """The name of the function that makes a layer's output, where it is known to; in a graph that tells."""
    if isinstance(layer, keras.layers.ReLU):
        return None if layer.negative_slope or layer.threshold < 0 else "relu"
    if hasattr(layer, "recurrent_activation"):  # the function within the loop, not of what comes out
        return None
    function = _made_by(output) if tf.is_symbolic_tensor(output) else None
    return function or getattr(getattr(layer, "activation", None), "__name__", None)


_ENDED: Final = frozenset({"sigmoid", "tanh"})
"""Functions whose ends are those of all that has the same numbers, in whatever shape."""


def _made_by(output: Tensor) -> str | None:
    """The function that an output is the result of; of one that was given another shape since, where that has ends."""
    before = FUNCTIONS.get(passed(output, SAME_NUMBERS).type)
    return FUNCTIONS.get(output.op.type) or (before if before in _ENDED else None)
