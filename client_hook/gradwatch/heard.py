"""What an eager step runs, heard operation by operation from the entry of its outermost tape to its ``apply``.

The first step of a loop is heard whole: it is drawn as a graph, and each operation's line is noted. Of a later one
where full statistics are due only the tensors are kept that stand at places which the first one told. Owns what each
thread listens to.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, TypeVar

import tensorflow as tf
from tensorflow.python.eager import context, record
from tensorflow.python.framework import op_callbacks, ops

from gradwatch.eager import RECORDS_MAX, Call, Lines, Record, is_differentiating
from gradwatch.operation import is_risky
from gradwatch.origin import source_here, source_of
from gradwatch.sketch import Place, Sketch, scope_of
from gradwatch.tap import Tap
from gradwatch.walk import SHAPES

__all__ = ["Drawn", "Ear", "Pattern", "Picked", "Whole"]

HEARD_MAX: Final = 8
"""Steps that are heard whole, at most: more than one where several optimizers take turns."""
WASTED_MAX: Final = 24
"""And so many more that turned out to be none of this training's."""
TAPES_MAX: Final = 4
"""Outermost tapes of one step, asked one after the other before anything is applied."""
OWN_SCOPE: Final = "gradwatch"
Tensor = Any  # tensorflow ships no types
Key = TypeVar("Key")


class Pattern(NamedTuple):
    """What is wanted of each step of an optimizer.

    Attributes:
        prefix: the operations of a step up to the last that is wanted, and what each is made of: a step that runs
            others is not like it.
        operations: the risky ones, by their number in the step; None for one that was not heard.
        targets: names and places of what the outputs are held to.
        outputs: of some of these, by name, the place of the output.
        functions: the places of what the user's own code takes functions of, by their tap.
        n_tapes: how many outermost tapes a step enters.
    """

    prefix: Sequence[tuple[Any, ...]]
    operations: Sequence[int | None]
    targets: Mapping[str, Place]
    outputs: Mapping[str, Place]
    functions: Mapping[Tap, Place]
    n_tapes: int = 1

    @property
    def numbers(self) -> set[int]:
        """Of all operations that something is wanted of."""
        wanted = (*self.targets.values(), *self.outputs.values(), *self.functions.values())
        places = (place.number for place in wanted)
        return {*places, *(number for number in self.operations if number is not None)}

    def narrow(self, wants: Callable[[str], bool]) -> Pattern:
        """The same of some kinds alone."""
        some = self._replace(
            operations=self.operations if wants("operation") else [None] * len(self.operations),
            targets=self.targets if wants("input") else {},
            outputs=self.outputs if wants("input") else {},
            functions=self.functions if wants("activation") else {},
        )
        return some._replace(prefix=self.prefix[: max(some.numbers, default=-1) + 1])


class Picked(NamedTuple):
    """What was wanted of a step, in the order of its `Pattern`.

    Attributes:
        operations: the floating inputs and the floating outputs of each; None for one that is not there.
        targets: as there, the tensors.
        outputs: likewise.
        functions: likewise.
    """

    operations: Sequence[tuple[Sequence[Tensor], Sequence[Tensor]] | None]
    targets: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    functions: Mapping[Tap, Tensor]


class _Origin(NamedTuple):
    """What a result is made of.

    Attributes:
        is_learned: whether a variable is among it.
        risky: its risky operations but roots, or two of them.
        roots: likewise, roots alone.
    """

    is_learned: bool = False
    risky: Sequence[Any] = ()
    roots: Sequence[Any] = ()


class Drawn(NamedTuple):
    """A step that was drawn as a graph, as far as its ``apply``.

    Attributes:
        sketch: with the graph.
        gradients: those of the step in it; None where there is none.
        loss: what they are of.
    """

    sketch: Sketch
    gradients: Sequence[Tensor | None]
    loss: Tensor


class Whole:
    """A step that is heard whole.

    Attributes:
        sketch: its graph.
        operations: those, as far as they have run.
    """

    def __init__(self, operations: list[tuple[Any, ...]]) -> None:
        self.sketch = Sketch()
        self.operations = operations
        self._by_output: dict[int, Call] = {}
        self._by_input: dict[tuple[str, int], list[Call]] = defaultdict(list)

    def add(self, op_type: str, inputs: Sequence[Any], attributes: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Adds an operation that has run, the last of `operations`."""
        scope, is_backward = _scope(), is_differentiating()
        ids = frozenset(one._id for one in inputs if isinstance(one, ops.EagerTensor))
        call = Call(op_type, ids, source_here(), scope, is_backward)
        for output in outputs:
            self._by_output[output._id] = call
        for one in call.inputs:
            self._by_input[op_type, one].append(call)
        with suppress(Exception):  # what an operation gives that cannot be drawn is as if from outside
            scope, number = scope_of(scope, is_backward=is_backward), len(self.operations) - 1
            self.sketch.draw(op_type, inputs, attributes, outputs, scope=scope, number=number)

    def draw(self, gradients: Sequence[Any], loss: Any) -> Drawn | None:
        """The step that ends in these gradients of this loss; None where not all of it was drawn."""
        drawn = self.sketch.find(loss)
        place = None if drawn is None else self.sketch.find_place(drawn)
        if place is None or not place.is_output or not self.sketch.is_whole:
            return None
        values = (one.values if isinstance(one, tf.IndexedSlices) else one for one in gradients)
        return Drawn(self.sketch, list(map(self.sketch.find, values)), drawn)

    def _find_places(self, some: Mapping[Key, Tensor]) -> dict[Key, Place]:
        places = {key: self.sketch.find_place(tensor) for key, tensor in some.items()}
        return {key: place for key, place in places.items() if place is not None}

    def find_lines(self, records: Sequence[Record]) -> Lines:
        """The calls of what the step's tapes differentiated."""
        drawn = [[self.sketch.find(tensor) for tensor in one.inputs] for one in records]
        made = _origins(self.sketch.graph.get_operations())
        before = [[None if one is None else _call_of(made.get(id(one.op))) for one in inputs] for inputs in drawn]
        return Lines([one.type for one in records], [self._find(one) for one in records], before)

    def _find(self, one: Record) -> Call | None:
        for output in one.outputs:
            if output is not None and output._id in self._by_output:
                return self._by_output[output._id]
        known = {tensor._id for tensor in one.inputs if tensor is not None}
        for tensor_id in known:
            calls = [call for call in self._by_input[one.type, tensor_id] if known <= call.inputs]
            calls = [call for call in calls if not call.is_backward] or calls  # of a tape within a tape
            if len(calls) == 1:
                return calls[0]
        return None

    def describe(
        self,
        operations: Iterable[Any],
        targets: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
        functions: Mapping[Tap, Tensor],
        *,
        n_tapes: int,
    ) -> Pattern:
        """What is wanted of the steps that follow.

        Args:
            operations: of the sketch.
            targets: names and tensors of the sketch.
            outputs: likewise.
            functions: taps and tensors of the sketch.
            n_tapes: outermost tapes that the step entered.
        """
        heard = [self.sketch.find_place(op.outputs[0]) if op.outputs else None for op in operations]
        numbers = [None if one is None else one.number for one in heard]
        find = self._find_places
        found = Pattern(list(self.operations), numbers, find(targets), find(outputs), find(functions), n_tapes)
        return found.narrow(lambda _: True)


class _Listening:
    """Listens to a step in its thread until it is stopped there.

    Attributes:
        operations: what ran, each its type and, for each input, the number of the operation that made it; of a
            variable's handle its id, below -1, and -1 for what came from outside.
        whole: the step, if it is heard whole.
        n_tapes: how many outermost tapes were entered.
        building: the layers that are called for the first time, by id: what none of them records makes its weights.
        is_asked: whether the last of these tapes was asked for gradients of variables.
        is_applied: whether an ``apply`` has ended it; from then on only what tapes run is a part of it.
        is_paused: whether nothing is heard for now.
        is_stopped: whether nothing more is heard.
    """

    def __init__(self, patterns: Sequence[Pattern], *, is_whole: bool, is_over: Callable[[], bool]) -> None:
        self._is_over = is_over
        self.operations: list[tuple[Any, ...]] = []
        self.whole = Whole(self.operations) if is_whole else None
        self.n_tapes = 1
        self.building: list[int] = []
        self.is_asked = self.is_applied = self.is_paused = self.is_stopped = False
        self._wanted = set[int]().union(*(pattern.numbers for pattern in patterns))
        self._kept: dict[int, tuple[Sequence[Any], Sequence[Any]]] = {}
        self._made_by: dict[int, int] = {}
        op_callbacks.add_op_callback(self._note)

    def stop(self) -> None:
        """Listens no more, and keeps nothing; to be called in the thread that began."""
        self._mute()
        self._kept.clear()
        self.whole = None
        with suppress(KeyError), tf.init_scope():  # which TensorFlow asks for, to call no callback any more
            op_callbacks.remove_op_callback(self._note)

    def _mute(self) -> None:
        self.is_stopped = True
        self._made_by.clear()

    def pick(self, pattern: Pattern) -> Picked | None:
        """What a pattern wants of the step; None where the step is not like it."""
        is_like = pattern.n_tapes == self.n_tapes
        if not is_like or list(pattern.prefix) != self.operations[: len(pattern.prefix)]:
            return None
        if not pattern.numbers <= self._kept.keys():
            return None
        kept = [None if number is None else self._kept[number] for number in pattern.operations]
        return Picked(
            [None if one is None else (_floating(one[0]), _floating(one[1])) for one in kept],
            self._find_all(pattern.targets),
            self._find_all(pattern.outputs),
            self._find_all(pattern.functions),
        )

    def _find_all(self, places: Mapping[Key, Place]) -> dict[Key, Tensor]:
        return {key: self._kept[one.number][one.is_output][one.position] for key, one in places.items()}

    def _note(self, *args: Any, **where: Any) -> Any:
        """Takes an operation: type, inputs, attributes, outputs; one of a graph that is made names the graph."""
        is_alone = len(context.context().op_callbacks) == 1
        if where.get("graph") is not None:
            return None if is_alone else args[3]  # None would be what the next callback is given
        try:
            if self._is_over():
                self._mute()
            if not (self.is_paused or self.is_stopped):
                self._take(*args[:4])
        except Exception:  # the boundary: the hook must not harm training
            self._mute()
            self.whole = None
        if self.is_stopped and is_alone:  # TensorFlow walks through that very list
            with suppress(KeyError):
                op_callbacks.remove_op_callback(self._note)
        return None

    def _take(self, op_type: Any, inputs: Sequence[Any], attributes: Sequence[Any], outputs: Sequence[Any]) -> None:
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if self._is_left_out(name):
            return
        number = len(self.operations)
        self.operations.append((name, *map(self._find_source, inputs)))
        self._made_by.update((one._id, number) for one in outputs)
        if number in self._wanted:
            self._kept[number] = inputs, outputs
        if self.whole is not None:
            self.whole.add(name, inputs, attributes, outputs)
            if number >= RECORDS_MAX:
                self._mute()
                self.whole = None
        elif number >= max(self._wanted):
            self._mute()

    def _is_left_out(self, op_type: str) -> bool:
        """Whether an operation is no part of the step: the hook's own, what makes a layer's weights, what follows."""
        scopes = _scope().split("/")
        if OWN_SCOPE in scopes:
            return True
        if is_differentiating():
            return False
        is_making = bool(self.building) and op_type != "StopGradient" and not record.could_possibly_record()
        return self.is_applied or is_making

    def _find_source(self, tensor: Any) -> int:
        if tensor.dtype == tf.resource:
            return -2 - int(tensor._id)
        return self._made_by.get(tensor._id, -1)


class Ear:
    """What is heard of the eager steps of a watch, in each thread."""

    def __init__(self) -> None:
        self._thread = threading.local()
        self._n_heard = self._n_wasted = 0
        self._is_closed = False

    def enter(self, wants_whole: Callable[[], bool], find: Callable[[], Sequence[Pattern]]) -> None:
        """A tape is about to record.

        Args:
            wants_whole: tells whether a step is to be heard whole that may begin now.
            find: gives what is wanted of it otherwise.
        """
        if not tf.executing_eagerly() or record.could_possibly_record() or tf.distribute.has_strategy():
            return
        now = self._now
        if now is not None and now.is_asked and not now.is_applied and now.n_tapes < TAPES_MAX:
            now.is_asked, now.n_tapes = False, now.n_tapes + 1
            return
        if now is not None and not now.is_asked and not now.is_applied:
            self._give_back()
        self.stop()
        is_whole, patterns = self._n_heard < HEARD_MAX and wants_whole(), find()
        if is_whole or patterns:
            self._n_heard += is_whole
            self._thread.now = _Listening(patterns, is_whole=is_whole, is_over=lambda: self._is_closed)

    def note_asked(self) -> None:
        """A tape was asked for the gradients of variables."""
        if self._now is not None:
            self._now.is_asked = True

    def enter_layer(self, layer: Any) -> None:
        """A layer is about to be called."""
        if self._now is not None and not getattr(layer, "built", True):
            self._now.building.append(id(layer))

    def leave_layer(self, layer: Any) -> None:
        """A layer was called."""
        if self._now is not None and self._now.building[-1:] == [id(layer)]:
            self._now.building.pop()

    @property
    def n_operations(self) -> int:
        """Of the step that is heard, so far; 0 for none."""
        return 0 if self._now is None else len(self._now.operations)

    @property
    def whole(self) -> Whole | None:
        """The step that is heard whole in this thread; None for none."""
        return None if self._now is None else self._now.whole

    @property
    def n_tapes(self) -> int:
        """The outermost tapes of the step that is heard; 0 for none."""
        return 0 if self._now is None else self._now.n_tapes

    def pick(self, pattern: Pattern | None) -> Picked | None:
        """What a pattern wants of the step that is heard; None where that was not wanted, or it is another step."""
        return None if self._now is None or pattern is None else self._now.pick(pattern)

    def end(self) -> None:
        """A step of another training was applied."""
        if self._now is not None and not self._now.is_applied:
            self._give_back()
            self._now.is_applied = True

    def _give_back(self) -> None:
        """What was heard is no step of this training: that does not count, for a while."""
        if self.whole is not None and self._n_wasted < WASTED_MAX:
            self._n_heard, self._n_wasted = self._n_heard - 1, self._n_wasted + 1

    @contextmanager
    def applying(self, wants_more: Callable[[], bool]) -> Iterator[None]:
        """While a step is applied nothing is heard, and afterwards only if another may be a part of it."""
        now = self._now
        if now is None:
            yield
            return
        now.is_paused = True
        try:
            yield
        finally:
            now.is_applied, now.is_paused = True, False
            if now.is_stopped or (now.whole is not None and not wants_more()):
                self.stop()

    def close(self) -> None:
        """Hears nothing more: in this thread from now on, in another once anything runs there."""
        self._is_closed = True
        self.stop()

    def stop(self) -> None:
        """Hears nothing more of the step that this thread is in."""
        if self._now is not None:
            self._now.stop()
            self._thread.now = None

    @property
    def _now(self) -> _Listening | None:
        return getattr(self._thread, "now", None)


def _origins(operations: Sequence[Any]) -> dict[int, _Origin]:
    """What each operation's result is made of, by the operation's id; they come in the order in which they run."""
    found: dict[int, _Origin] = {}
    for op in operations:
        parts = [] if op.type in SHAPES else [found.get(id(one.op), _Origin()) for one in op.inputs]
        if op.type == "ReadVariableOp" or any(part.is_learned for part in parts):
            found[id(op)] = _Origin(is_learned=True)
            continue
        own = [op] if op.type not in SHAPES and is_risky(op) else []
        is_root = op.type == "Sqrt"
        risky = _two_of([*([] if is_root else own), *(one for part in parts for one in part.risky)])
        roots = _two_of([*(own if is_root else []), *(one for part in parts for one in part.roots)])
        found[id(op)] = _Origin(risky=risky, roots=roots)
    return found


def _two_of(operations: Sequence[Any]) -> Sequence[Any]:
    return list({id(one): one for one in operations}.values())[:2]


def _call_of(origin: _Origin | None) -> Call | None:
    """The only operation with a singular point that made a result of data; None for none, several, or of a variable."""
    if origin is None or origin.is_learned:
        return None
    # The root of a mean of squares is finite; what is divided by it need not be.
    risky = origin.risky or origin.roots
    if len(risky) != 1:
        return None
    (op,) = risky
    return Call(op.type, frozenset(), source_of(op), op.name.rpartition("/")[0], is_backward=False)


def _scope() -> str:
    return str(context.context().scope_name or "").strip("/")


def _floating(tensors: Iterable[Any]) -> list[Tensor]:
    return [one for one in tensors if one.dtype.is_floating]
