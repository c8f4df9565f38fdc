"""Finds the operation that a bad step of an eager training began with, from what its tape differentiated.

An eager step leaves no graph to compute it again from. But a tape that is asked for gradients hands every operation's
inputs, outputs and gradients to one function of TensorFlow's, in Python: these are kept until the next step (up to
`BYTES_MAX`), and looked at only if the gradients or the loss were not finite. The user's line of each operation is
known from the first step, which is heard (see `gradwatch.heard`).

Stands in place of that function while something is watched; owns the records of a step.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, context, execute
from tensorflow.python.framework import op_def_registry, ops

from gradwatch.operation import Operation, measure
from gradwatch.origin import GRADIENT_SCOPE, layer_of
from gradwatch.protocol import OPERATION_STATISTICS
from gradwatch.replay import CHAIN_MAX, STEPS_BETWEEN

if TYPE_CHECKING:
    from gradwatch.heard import Whole

__all__ = ["Backward", "Call", "EagerReplay", "Lines", "install", "is_differentiating", "listen_backward", "restore"]

BYTES_MAX: Final = 32 << 20
"""Of a step's tensors that are kept to its end, at most: the loss comes first, and is hardly ever so large."""
RECORDS_MAX: Final = 20_000
_WITHOUT_NUMBERS: Final = frozenset({tf.resource, tf.variant, tf.string})
Tensor = Any  # tensorflow ships no types

_INVERSES: Final = {
    "Sqrt": tf.square,
    "Rsqrt": lambda y: 1 / tf.square(y),
    "Exp": tf.math.log,
    "Acosh": tf.math.cosh,
    "Reciprocal": lambda y: 1 / y,
    "Inv": lambda y: 1 / y,
}
"""Operations of which a tape keeps the output alone, and their input by it."""


class Record(NamedTuple):
    """One operation that a tape differentiated; None stands for a tensor that the tape needs not or without numbers.

    Attributes:
        type: TensorFlow's type of it.
        attributes: names and values in turn.
        inputs: of the forward operation.
        outputs: of the forward operation.
        above: the gradients with respect to its outputs.
        below: those with respect to its inputs, which it gave.
    """

    type: str
    attributes: tuple[Any, ...]
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor | None, ...]
    above: tuple[Tensor | None, ...]
    below: tuple[Tensor | None, ...]


class Backward:
    """What one call of a tape's ``gradient`` differentiated, in the order in which it did: from the loss back.

    Attributes:
        records: the operations, as far as there was room.
        is_whole: whether there was room for all.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.is_whole = True
        self._n_bytes = 0

    def add(self, op_type: str, attributes: Any, *groups: Any) -> None:
        """Adds an operation with its inputs, outputs, and gradients above and below."""
        if not self.is_whole:
            return
        record = Record(op_type, tuple(attributes or ()), *map(self._take, groups))
        self.is_whole = self._n_bytes <= BYTES_MAX and len(self.records) < RECORDS_MAX
        if self.is_whole:
            self.records.append(record)

    def _take(self, group: Any) -> tuple[Tensor | None, ...]:
        if not isinstance(group, (list, tuple)):
            group = (group,)
        return tuple(map(self._take_one, group))

    def _take_one(self, tensor: Any) -> Tensor | None:
        if isinstance(tensor, tf.IndexedSlices):
            tensor = tensor.values
        if not isinstance(tensor, ops.EagerTensor) or tensor.dtype in _WITHOUT_NUMBERS:
            return None
        self._n_bytes += tensor._num_elements() * tensor.dtype.size
        return tensor


_thread: Final = threading.local()
_original: Any = getattr(backprop, "_gradient_function", None)


def install() -> None:
    """Puts the hook in place of the function that differentiates an operation; where TensorFlow has none, nothing."""
    if _original is not None:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(_differentiate)


def restore() -> None:
    """Undoes `install`."""
    if _original is not None:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(_original)


def _differentiate(*args: Any) -> Any:
    """In place of TensorFlow's ``_gradient_function``."""
    below = _original(*args)
    backward: Backward | None = getattr(_thread, "backward", None)
    if backward is not None and tf.executing_eagerly():
        try:
            op_type, attributes, _, inputs, outputs, above, *_ = args
            backward.add(op_type, attributes, inputs, outputs, above, below)
        except Exception:  # the boundary: the hook must not harm training, and a step without this is seen as well
            _thread.backward = None
    return below


def is_differentiating() -> bool:
    """Whether what runs in this thread is a tape's."""
    return getattr(_thread, "backward", None) is not None


@contextmanager
def listen_backward(*, is_heard: bool = True) -> Iterator[Backward | None]:
    """While it lasts, what this thread's tapes differentiate eagerly is kept; None in a graph, or for nobody."""
    if not is_heard or not tf.executing_eagerly():
        yield None
        return
    outer, _thread.backward = getattr(_thread, "backward", None), Backward()
    try:
        yield _thread.backward
    finally:
        _thread.backward = outer


class Call(NamedTuple):
    """An operation that was heard: who called it, and between which tensors."""

    type: str
    inputs: frozenset[int]
    source: dict[str, Any] | None
    scope: str
    is_backward: bool


class Lines:
    """Where the operations of a loop's step come from, by the forward pass of one step that was heard.

    A step's tape differentiates the same operations in the same order as the one before, as long as the step has no
    branches of Python; where it has, an operation is known by its type and shapes, if only one line has such.

    Args:
        types: of what the tapes of that step differentiated.
        calls: of each of these, if that was heard.
        before: of each, for each input, the operation with a singular point, if there is but one, that made it of data
            alone: what no variable goes into no tape differentiates.
    """

    def __init__(
        self, types: Sequence[str], calls: Sequence[Call | None], before: Sequence[Sequence[Call | None]] = ()
    ) -> None:
        self._types = list(types)
        self._calls = list(calls)
        self._before = list(before)

    def find_before(self, records: Sequence[Record], place: int) -> Call | None:
        """The call that made bad what one of a step's operations was given, as far as can be known."""
        if not self._before or [record.type for record in records] != self._types:
            return None
        given = zip(records[place].inputs, self._before[place], strict=False)
        return next((call for tensor, call in given if _count(tensor)), None)

    def find(self, records: Sequence[Record], place: int) -> Call | None:
        """The call of one of a step's operations."""
        if [record.type for record in records] == self._types:
            return self._calls[place]
        of_type = [call for kind, call in zip(self._types, self._calls, strict=True) if kind == records[place].type]
        calls = [call for call in of_type if call is not None]
        lines = {(call.source or {}).get("line") for call in calls}
        return calls[0] if len(lines) == 1 and len(calls) == len(of_type) else None


class _Pending(NamedTuple):
    step: Tensor
    is_finite: Tensor
    loss: Tensor | None
    records: list[Record]
    is_whole: bool


class EagerReplay:
    """The origins of one stream's bad steps, where they run eagerly.

    Args:
        layer_paths: the Keras paths of the watched models' layers.
    """

    def __init__(self, layer_paths: Sequence[str]) -> None:
        self._layer_paths = list(layer_paths)
        self._lines: Lines | None = None
        self._last: _Pending | None = None
        self._bad: deque[_Pending] = deque(maxlen=1)
        self._not_before = -1

    def record(
        self,
        step: Tensor,
        is_finite: Tensor,
        loss: Tensor | None,
        backwards: Sequence[Backward],
        heard: Whole | None = None,
    ) -> None:
        """Takes a step, before its weights change; nothing of it is computed or waited for here.

        Args:
            step: int64 scalar.
            is_finite: bool scalar, whether all its gradients are.
            loss: what they are of, where that is known.
            backwards: what each tape of the step differentiated.
            heard: the step, if it was heard whole: it tells the lines of all that follow.
        """
        records = [record for backward in backwards for record in backward.records]
        is_whole = all(backward.is_whole for backward in backwards)
        last, self._last = self._last, _Pending(step, is_finite, loss, records, is_whole)
        if last is not None and not self._bad and _is_bad(last):
            self._bad.append(last)
        if self._lines is None and heard is not None:
            self._lines = heard.find_lines(records)

    def read(self, *, is_last: bool = False) -> list[dict[str, Any]]:
        """The origins found since the last reading, as in the protocol's ``origins``."""
        last = self._last
        if is_last and last is not None:  # no step comes any more that would have it looked at
            self._last = None
            if not self._bad and _is_bad(last):
                self._bad.append(last)
        found = []
        while self._bad:
            one = self._bad.popleft()
            step = int(one.step)
            if step >= self._not_before:
                self._not_before = step + STEPS_BETWEEN
                origin = find_origin(one.records, is_whole=one.is_whole, is_loss_finite=_is_loss_finite(one))
                told = self._describe_before(one.records) if origin is None else self._describe(one.records, *origin)
                if told is not None:
                    found.append({"step": step} | told)
        return found

    def _describe_before(self, records: Sequence[Record]) -> dict[str, Any] | None:
        """The operation on data alone behind the first that was given something bad; None where it is not known."""
        given = (place for place in reversed(range(len(records))) if any(map(_count, records[place].inputs)))
        place = next(given, None)
        call = None if place is None or self._lines is None else self._lines.find_before(records, place)
        if place is None or call is None:
            return None
        name = "/".join(part for part in (call.scope, f"{call.type}_before_{place}") if part)
        made = Operation(call.type, name, layer_of(name, self._layer_paths), False, None, call.source)
        bad = [one for one in records[place].inputs if _count(one)]
        n = sum(map(_count, bad))
        links = [(made, n), (self._operation(records, place, False), sum(map(_count, _outputs_of(records[place]))))]
        n_elements = sum(int(one._num_elements()) for one in _floating(bad))
        return self._link(made, links, n_nonfinite=n, n_nonfinite_in=0, n_elements=n_elements, numbers={})

    def _describe(self, records: Sequence[Record], place: int, is_gradient: bool) -> dict[str, Any]:
        record = records[place]
        made = record.below if is_gradient else _outputs_of(record)
        given = record.inputs + (record.outputs + record.above if is_gradient else ())
        operation = self._operation(records, place, is_gradient)
        n_nonfinite = sum(map(_count, made))
        chain = [(place, is_gradient, n_nonfinite)]
        if is_gradient:
            chain += [(other, True, sum(map(_count, records[other].below))) for other in _way(records, place)]
        links = [(self._operation(records, at, is_back), n) for at, is_back, n in chain]
        return self._link(
            operation,
            links,
            n_nonfinite=n_nonfinite,
            n_nonfinite_in=sum(map(_count, given)),
            n_elements=sum(int(one._num_elements()) for one in _floating(made)),
            numbers=_numbers(record),
        )

    def _link(self, operation: Operation, links: Sequence[tuple[Operation, int]], **known: Any) -> dict[str, Any]:
        return {
            "operation": operation._asdict(),
            **known,
            "chain": [
                {name: getattr(one, name) for name in ("type", "name", "layer", "is_gradient")} | {"n_nonfinite": n}
                for one, n in links
            ],
        }

    def _operation(self, records: Sequence[Record], place: int, is_gradient: bool) -> Operation:
        record = records[place]
        call = None if self._lines is None else self._lines.find(records, place)
        scope = "" if call is None else call.scope
        # A graph's names are unique: the place among a step's operations makes these so.
        name = "/".join(part for part in (scope, f"{record.type}_{place}") if part)
        made = next((one for one in (*record.outputs, *record.above) if one is not None), None)
        return Operation(
            type=f"{record.type}Grad" if is_gradient else record.type,
            name=GRADIENT_SCOPE + name if is_gradient else name,
            layer=layer_of(name, self._layer_paths),
            is_gradient=is_gradient,
            forward={"type": record.type, "name": name} if is_gradient else None,
            source=None if call is None else call.source,
            dtype=None if made is None else made.dtype.name,
        )


def find_origin(records: Sequence[Record], *, is_whole: bool, is_loss_finite: bool) -> tuple[int, bool] | None:
    """The operation of a bad step that made the first non-finite values, of those whose tensors were kept.

    Args:
        records: what the tape differentiated, from the loss back.
        is_whole: whether that is all; else what an operation was given may have been bad where it is not known.
        is_loss_finite: whether the forward pass came to a finite loss.

    Returns:
        Its place and whether it broke in the gradient; None if what is bad came from outside.
    """
    forward = _find_forward(records, is_whole)
    if not is_loss_finite:
        return None if forward is None else (forward, False)
    for place, record in enumerate(records):
        if any(map(_count, record.below)) and not any(map(_count, record.above)):
            is_fed = any(map(_count, record.inputs + _outputs_of(record)))
            return (forward, False) if is_fed and forward is not None else (place, True)
    return None if forward is None else (forward, False)


def _find_forward(records: Sequence[Record], is_whole: bool) -> int | None:
    """The first operation of the forward pass whose output is bad though its input is not."""
    is_clean = is_whole  # as far as was seen: what is bad was made by nobody yet
    for place in reversed(range(len(records))):
        record = records[place]
        if any(map(_count, record.inputs)):
            is_clean = False
        elif any(map(_count, _outputs_of(record))):
            if is_clean or all(one is not None for one in record.inputs):
                return place
            is_clean = False
    return None


def _outputs_of(record: Record) -> tuple[Tensor | None, ...]:
    """The outputs; where the tape kept none, computed anew from all inputs, if that has no other effect."""
    if any(one is not None for one in record.outputs) or any(one is None for one in record.inputs):
        return record.outputs
    definition = op_def_registry.get(record.type)
    if definition is None or definition.is_stateful or any(arg.number_attr for arg in definition.output_arg):
        return record.outputs
    try:
        n_outputs = len(definition.output_arg)
        found = execute.quick_execute(record.type, n_outputs, list(record.inputs), record.attributes, context.context())
    except Exception:  # an attribute that the tape leaves away
        return record.outputs
    return tuple(found)


def _way(records: Sequence[Record], origin: int) -> list[int]:
    """The operations whose gradient turned bad behind an origin, each fed by the one before as far as is seen."""
    way, current = [], records[origin].below
    for place in range(origin + 1, len(records)):
        above, below = records[place].above, records[place].below
        if any(one is other for one in above for other in current if one is not None) and any(map(_count, below)):
            way.append(place)
            current = below
    middle = CHAIN_MAX // 2
    return way if len(way) < CHAIN_MAX else way[: middle - 1] + way[-(CHAIN_MAX - middle) :]


def _numbers(record: Record) -> dict[str, float]:
    """How near the forward operation came to its singular point, as far as its input is known."""
    inputs, outputs = record.inputs, _floating(record.outputs)
    if record.type in _INVERSES and inputs[0] is None and outputs:
        inputs = (_INVERSES[record.type](outputs[0]),)
    known = _floating(inputs)
    if not known or len(known) < sum(one is None or _is_floating(one) for one in inputs):
        return {}
    if record.type == "Atan2":  # singular where both are 0; its slope is that of a division by their squares' sum
        known, kind = [known[0], tf.square(known[0]) + tf.square(known[1])], "RealDiv"
    else:
        kind = record.type
    found: Mapping[str, float] = measure(kind, known, outputs)
    return {name: found[name] for name in OPERATION_STATISTICS[2:] if found[name] == found[name]}


def _is_bad(one: _Pending) -> bool:
    return not bool(one.is_finite) or not _is_loss_finite(one)


def _is_loss_finite(one: _Pending) -> bool:
    return one.loss is None or bool(tf.reduce_all(tf.math.is_finite(one.loss)))


def _is_floating(tensor: Tensor | None) -> bool:
    return tensor is not None and bool(tensor.dtype.is_floating)


def _floating(tensors: Iterable[Tensor | None]) -> list[Tensor]:
    return [one for one in tensors if _is_floating(one)]


def _count(tensor: Tensor | None) -> int:
    """The non-finite elements of a tensor; 0 of one that is not known."""
    if not _is_floating(tensor):
        return 0
    return int(tf.math.count_nonzero(~tf.math.is_finite(tensor)))
