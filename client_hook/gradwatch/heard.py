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
from gradwatch.origin import source_here
from gradwatch.sketch import Place, Sketch, scope_of
from gradwatch.tap import Tap

__all__ = ["Drawn", "Ear", "Pattern", "Picked", "Whole"]

HEARD_MAX: Final = 8
"""Steps that are heard whole, at most: more than one where several optimizers take turns."""
OWN_SCOPE: Final = "gradwatch"
Tensor = Any  # tensorflow ships no types
Key = TypeVar("Key")


class Pattern(NamedTuple):
    """What is wanted of each step of an optimizer.

    Attributes:
        types: of the operations of a step up to the last that is wanted: a step that runs others is not like it.
        operations: the risky ones, by their number in the step; None for one that was not heard.
        targets: names and places of what the outputs are held to.
        outputs: of some of these, by name, the place of the output.
        functions: the places of what the user's own code takes functions of, by their tap.
    """

    types: Sequence[str]
    operations: Sequence[int | None]
    targets: Mapping[str, Place]
    outputs: Mapping[str, Place]
    functions: Mapping[Tap, Place]

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
        return some._replace(types=self.types[: max(some.numbers, default=-1) + 1])


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
        types: of its operations, in their order.
    """

    def __init__(self, types: list[str]) -> None:
        self.sketch = Sketch()
        self.types = types
        self._by_output: dict[int, Call] = {}
        self._by_input: dict[tuple[str, int], list[Call]] = defaultdict(list)

    def add(self, op_type: str, inputs: Sequence[Any], attributes: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Adds an operation that has run, the last of `types`."""
        scope, is_backward = _scope(), is_differentiating()
        ids = frozenset(one._id for one in inputs if isinstance(one, ops.EagerTensor))
        call = Call(op_type, ids, source_here(), scope, is_backward)
        for output in outputs:
            self._by_output[output._id] = call
        for one in call.inputs:
            self._by_input[op_type, one].append(call)
        with suppress(Exception):  # what an operation gives that cannot be drawn is as if from outside
            scope, number = scope_of(scope, is_backward=is_backward), len(self.types) - 1
            self.sketch.draw(op_type, inputs, attributes, outputs, scope=scope, number=number)

    def draw(self, gradients: Sequence[Any], loss: Any) -> Drawn | None:
        """The step that ends in these gradients of this loss; None where not all of it was drawn."""
        drawn = self.sketch.find(loss)
        if drawn is None or not self.sketch.is_whole:
            return None
        values = (one.values if isinstance(one, tf.IndexedSlices) else one for one in gradients)
        return Drawn(self.sketch, list(map(self.sketch.find, values)), drawn)

    def _find_places(self, some: Mapping[Key, Tensor]) -> dict[Key, Place]:
        places = {key: self.sketch.find_place(tensor) for key, tensor in some.items()}
        return {key: place for key, place in places.items() if place is not None}

    def find_lines(self, records: Sequence[Record]) -> Lines:
        """The calls of what the step's tapes differentiated."""
        return Lines([one.type for one in records], [self._find(one) for one in records])

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
    ) -> Pattern:
        """What is wanted of the steps that follow.

        Args:
            operations: of the sketch.
            targets: names and tensors of the sketch.
            outputs: likewise.
            functions: taps and tensors of the sketch.
        """
        heard = [self.sketch.find_place(op.outputs[0]) if op.outputs else None for op in operations]
        numbers = [None if one is None else one.number for one in heard]
        find = self._find_places
        found = Pattern(list(self.types), numbers, find(targets), find(outputs), find(functions))
        return found.narrow(lambda _: True)


class _Listening:
    """Listens to a step in its thread until it is stopped there.

    Attributes:
        tape: the outermost one that was entered last; while it records, what runs unrecorded makes the model's weights.
        whole: the step, if it is heard whole.
        is_applied: whether an ``apply`` has ended it.
        is_paused: whether nothing is heard for now.
    """

    def __init__(self, tape: Any, patterns: Sequence[Pattern], *, is_whole: bool, is_over: Callable[[], bool]) -> None:
        self.tape = tape
        self._is_over = is_over
        self.types: list[str] = []
        self.whole = Whole(self.types) if is_whole else None
        self.is_applied = self.is_paused = False
        self._wanted = set[int]().union(*(pattern.numbers for pattern in patterns))
        self._kept: dict[int, tuple[Sequence[Any], Sequence[Any]]] = {}
        op_callbacks.add_op_callback(self._note)

    def stop(self) -> None:
        """Listens no more; only in the thread that began can it be told so."""
        self.is_paused = True
        with suppress(KeyError):
            op_callbacks.remove_op_callback(self._note)

    def pick(self, pattern: Pattern) -> Picked | None:
        """What a pattern wants of the step; None where the step is not like it."""
        if list(pattern.types) != self.types[: len(pattern.types)] or not pattern.numbers <= self._kept.keys():
            return None
        kept = [None if number is None else self._kept[number] for number in pattern.operations]
        return Picked(
            [None if one is None else (_floating(one[0]), _floating(one[1])) for one in kept],
            self._find_all(pattern.targets),
            self._find_all(pattern.outputs),
            self._find_all(pattern.functions),
        )

    def _find_all(self, places: Mapping[Key, Place]) -> dict[Key, Tensor]:
        kept = {key: self._kept[place.number][place.is_output] for key, place in places.items()}
        return {key: kept[key][place.position] for key, place in places.items()}

    def _note(self, *args: Any, **where: Any) -> None:
        """Takes an operation: type, inputs, attributes, outputs; one of a graph that is made names the graph."""
        if self._is_over():
            self.stop()
        if self.is_paused or where.get("graph") is not None:
            return
        try:
            self._take(*args[:4])
        except Exception:  # the boundary: the hook must not harm training
            self.stop()
            self.whole = None

    def _take(self, op_type: Any, inputs: Sequence[Any], attributes: Sequence[Any], outputs: Sequence[Any]) -> None:
        is_unrecorded = getattr(self.tape, "_recording", False) and not record.could_possibly_record()
        if (is_unrecorded and not is_differentiating()) or OWN_SCOPE in _scope().split("/"):
            return
        number = len(self.types)
        self.types.append(op_type.decode() if isinstance(op_type, bytes) else str(op_type))
        if number in self._wanted:
            self._kept[number] = inputs, outputs
        if self.whole is not None:
            self.whole.add(self.types[-1], inputs, attributes, outputs)
        if number >= (RECORDS_MAX if self.whole is not None else max(self._wanted)):
            self.stop()


class Ear:
    """What is heard of the eager steps of a watch, in each thread."""

    def __init__(self) -> None:
        self._thread = threading.local()
        self._n_heard = 0
        self._is_closed = False

    def enter(self, tape: Any, wants_whole: Callable[[], bool], find: Callable[[], Sequence[Pattern]]) -> None:
        """A tape is about to record.

        Args:
            tape: that tape.
            wants_whole: tells whether a step is to be heard whole that may begin now.
            find: gives what is wanted of it otherwise.
        """
        if not tf.executing_eagerly() or record.could_possibly_record() or tf.distribute.has_strategy():
            return
        now = self._now
        if now is not None and not now.is_applied:
            now.tape = tape
            return
        self.stop()
        is_whole, patterns = self._n_heard < HEARD_MAX and wants_whole(), find()
        if is_whole or patterns:
            self._n_heard += is_whole
            self._thread.now = _Listening(tape, patterns, is_whole=is_whole, is_over=lambda: self._is_closed)

    @property
    def n_operations(self) -> int:
        """Of the step that is heard, so far."""
        return 0 if self._now is None else len(self._now.types)

    @property
    def whole(self) -> Whole | None:
        """The step that is heard whole in this thread."""
        return None if self._now is None else self._now.whole

    def pick(self, pattern: Pattern | None) -> Picked | None:
        """What a pattern wants of the step that is heard; None where that was not wanted, or it is another step."""
        return None if self._now is None or pattern is None else self._now.pick(pattern)

    @contextmanager
    def applying(self, wants_more: Callable[[], bool]) -> Iterator[None]:
        """While a step is applied nothing is heard, and afterwards only if another may be a part of it."""
        now = self._now
        if now is None:
            yield
            return
        was_paused, now.is_paused = now.is_paused, True
        try:
            yield
        finally:
            now.is_applied = True
            if now.whole is not None and not wants_more():
                self.stop()
            elif not was_paused:
                now.is_paused = False

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


def _scope() -> str:
    return str(context.context().scope_name or "").strip("/")


def _floating(tensors: Iterable[Any]) -> list[Tensor]:
    return [one for one in tensors if one.dtype.is_floating]
