"""Finds the operation that a bad step began with where XLA compiles the step: afterwards, beside it.

XLA compiles a branch whether it is ever taken or not, and a copy of the step, of which each operation's output is
counted, takes it several times as long as the step. So a bad step keeps what it was computed from: its weights as they
were, in the variables that are there for the statistics of updates, and the batch in one vector. A thread of the
hook's own then repeats it, uncompiled, and compiled if nothing breaks that way. Owns what was kept until it is taken.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.replay import N_COUNTS, READS, STEPS_BETWEEN, TRACES_MAX, Copy, Replay, is_repeatable
from gradwatch.ring import create_untraced
from gradwatch.tap import find_handle, find_outer
from gradwatch.weight import create_copies
from gradwatch.xla import cond

__all__ = ["DeferredReplay", "Kept"]

BATCH_MAX: Final = 1024
"""What an unknown dimension counts as, where memory is set aside for a batch."""
UNKNOWN_BYTES_MAX: Final = 32 * 1024 * 1024
"""Memory set aside for a batch whose size is unknown when it is traced. A larger one is not repeated."""
KNOWN_BYTES_MAX: Final = 256 * 1024 * 1024
"""Likewise of one whose size is known: a step that is given more is not repeated."""
SETTLED_S: Final = 0.1
"""From when a step is seen to have kept something until all of it is there: XLA stores a step's variables one after
the other."""
LAST_WAIT_S: Final = 60.0
"""How long the end of a run waits for what is being repeated."""
Tensor = Any  # tensorflow ships no types


class Kept:
    """The weights of one stream's bad step, which wait to be taken. Those of one step at a time.

    Args:
        variables: `tf.Variable`; what the stream trains.

    Attributes:
        variables: those whose values are kept, in the order of ``copies``.
        copies: variables that hold them.
    """

    def __init__(self, variables: Sequence[Any]) -> None:
        self.variables: list[Any] = []
        self.copies: list[Any] = []
        self._places: dict[int, int] = {}
        self._n_traces = 0
        # The first is written by the step alone and the second by the reader alone: a step stores what it changes.
        self._label = create_untraced(lambda: tf.Variable([0, -STEPS_BETWEEN, -1], dtype=tf.int64, trainable=False))
        self._n_taken = create_untraced(lambda: tf.Variable(0, dtype=tf.int64, trainable=False))
        self.add(variables)

    def add(self, variables: Sequence[Any]) -> None:
        """Keeps the values of these too."""
        new = [one for one in variables if _number_of(one) not in self._places]
        self._places |= {_number_of(one): len(self.variables) + place for place, one in enumerate(new)}
        self.variables += new
        self.copies += create_copies(new)

    def copy_of(self, number: int | None) -> Any | None:
        """The copy of the variable whose eager handle has this number."""
        place = None if number is None else self._places.get(number)
        return None if place is None else self.copies[place]

    def next_trace(self) -> int:
        """A number for one more trace of the stream's step; what the trace `TRACES_MAX` before it kept nobody takes."""
        self._n_traces += 1
        return self._n_traces

    def is_free(self) -> Tensor:
        """Whether nothing waits to be taken, bool; in the step."""
        return self._label.read_value()[0] == self._n_taken.read_value()

    def may_keep(self, step: Tensor) -> Tensor:
        """Whether this step may keep what it was computed from: not so soon after another; bool."""
        return self.is_free() & (step >= self._label.read_value()[1] + STEPS_BETWEEN)

    def note(self, step: Tensor, trace: int) -> None:
        """The step of a trace keeps what it was computed from; in a branch of the step."""
        self._label.assign(tf.stack([self._label.read_value()[0] + 1, step, trace]))

    def waiting(self, trace: int) -> tuple[int, int] | None:
        """Its number and step, if something of a trace waits; from the reader's thread."""
        number, step, by = self._label.numpy().tolist()
        if number == int(self._n_taken.numpy()):
            return None
        if by <= self._n_traces - TRACES_MAX:
            self.release(number)
        return (number, step) if by == trace else None

    def release(self, number: int) -> None:
        """What waited has been taken."""
        self._n_taken.assign(number)


class _Taken(NamedTuple):
    step: int
    values: list[npt.NDArray[Any]]


class DeferredReplay(Replay):
    """The repetition of one step that was traced for XLA.

    Args:
        gradients: likewise `Replay`'s.
        loss: likewise.
        layer_paths: likewise.
        kept: what the stream's bad steps keep.
        trained: the watched models' variables that are trained, `tf.Variable`.
        on_error: called with what went wrong, if a step cannot be repeated.
    """

    knows_order = False

    def __init__(
        self,
        gradients: Sequence[Any],
        loss: Tensor | None,
        layer_paths: Sequence[str],
        *,
        kept: Kept,
        trained: Sequence[Any],
        on_error: Callable[[Exception], None],
    ) -> None:
        super().__init__(gradients, loss, layer_paths)
        self._kept, self._on_error = kept, on_error
        self._trace = -1
        self._thread: threading.Thread | None = None
        self._found: list[dict[str, Any]] = []
        self._seen: tuple[int, float] | None = None
        if not self.is_possible:
            return
        graph = self._ops[0].graph
        self._changed = _numbers_of(op for op in graph.get_operations() if op.type.startswith("Assign"))
        read = _numbers_of(op for op in self._ops if op.type in READS) - self._changed
        kept.add([one for one in trained if _number_of(one) in read])
        self._given = self._find_given()
        self._sources = [self._source_of(one) for one in self._given]
        kept_here = [one for one, source in zip(self._given, self._sources, strict=True) if source is None]
        self._pack = _Pack(kept_here)
        self.is_possible = self._pack.is_possible

    def record(self, step: Tensor, is_bad: Tensor) -> Tensor:
        """Adds the branch that keeps the batch of a bad step; whether the weights are to be kept, a bool scalar."""
        self._trace = self._kept.next_trace()
        is_kept = is_bad & self._kept.may_keep(step)

        def keep() -> Tensor:
            self._kept.note(step, self._trace)
            self._pack.write()
            return tf.constant(0)

        cond(is_kept, keep, lambda: tf.constant(0))
        return is_kept

    def read(self, *, is_last: bool = False) -> list[dict[str, Any]]:
        """The origins found since the last reading; ``is_last``: nothing more is kept, and what is, is waited for."""
        waiting = self._kept.waiting(self._trace) if self._thread is None else None
        if waiting is not None:
            number, step = waiting
            if self._seen is None or self._seen[0] != number:
                self._seen = number, time.monotonic()
            if is_last or time.monotonic() - self._seen[1] >= SETTLED_S:
                try:
                    self._start(step)
                except Exception as error:  # the boundary: the rest can be read
                    self._on_error(error)
                self._kept.release(number)
        if self._thread is None:
            return []
        self._thread.join(LAST_WAIT_S if is_last else 0)
        if self._thread.is_alive():
            return []
        self._thread = None
        found, self._found = self._found, []
        return found

    def _start(self, step: int) -> None:
        batch = self._pack.read()
        if batch is None:
            return
        taken = iter(batch)
        values = [next(taken) if source is None else source() for source in self._sources]
        self._thread = threading.Thread(
            target=self._repeat, args=(_Taken(step, values),), name="gradwatch-replay", daemon=True
        )
        self._thread.start()

    def _repeat(self, taken: _Taken) -> None:
        try:
            counts = self._count_again(taken, is_compiled=False)
            if not self._is_bad(counts):
                with suppress(Exception):  # there are steps that XLA compiles only as they were written
                    counts = self._count_again(taken, is_compiled=True)
            origin = self._origin(taken.step, counts)
            if origin is not None:
                self._found.append(origin)
        except Exception as error:  # the boundary: nobody waits for this thread
            self._on_error(error)

    def _count_again(self, taken: _Taken, *, is_compiled: bool) -> npt.NDArray[np.float32]:
        repeat = tf.function(self._count_given, jit_compile=is_compiled, autograph=False)
        counts: npt.NDArray[np.float32] = repeat([tf.constant(value) for value in taken.values]).numpy()
        return counts

    def _is_bad(self, counts: npt.NDArray[np.float32]) -> bool:
        """Whether the step is bad this time too."""
        n_bad = counts.reshape(N_COUNTS, -1)[:-1].sum(axis=0)
        return bool(n_bad[[*self._roots, *self._losses]].any())

    def _count_given(self, values: Sequence[Tensor]) -> Tensor:
        given = {id(one): value for one, value in zip(self._given, values, strict=True)}
        return self._count(Copy(self._ops, lambda one: given[id(one)], _is_repeated))

    def _find_given(self) -> list[Tensor]:
        """The tensors that what is repeated is computed from."""
        repeated = {id(op) for op in self._ops if _is_repeated(op)}
        found: dict[int, Tensor] = {}
        for op in self._ops:
            wanted = op.inputs if id(op) in repeated else [one for one in op.outputs if one.dtype.is_floating]
            for one in wanted:
                if id(one.op) not in repeated:
                    found[id(one)] = one
        return list(found.values())

    def _source_of(self, tensor: Tensor) -> Callable[[], npt.NDArray[Any]] | None:
        """What gives the value of a constant or a variable as the step read it; None for what the step must keep."""
        if tensor.op.type == "ReadVariableOp":
            handle = find_outer(tensor.op.inputs[0])
            if handle is None or handle._id in self._changed:
                return None
            copy = self._kept.copy_of(handle._id)
            if copy is not None:
                return lambda: np.asarray(copy.numpy())
            return lambda: np.asarray(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tensor.dtype).numpy())
        constant = find_outer(tensor)
        return None if constant is None else lambda: np.asarray(constant.numpy())


class _Pack:
    """The values of tensors of known types, end to end in one vector of float32, and their shapes.

    Args:
        tensors: symbolic; those of a type that cannot be kept make it impossible.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = list(tensors)
        self.is_possible = all(one.dtype in _WIDTHS and one.shape.rank is not None for one in tensors)
        if not self.is_possible:
            return
        n_numbers = sum(_WIDTHS[one.dtype] * math.prod(n or BATCH_MAX for n in one.shape) for one in tensors)
        is_known = all(one.shape.is_fully_defined() for one in tensors)
        most = KNOWN_BYTES_MAX if is_known else UNKNOWN_BYTES_MAX
        self.is_possible = 4 * n_numbers <= most or not is_known
        n_kept = min(n_numbers, most // 4) if self.is_possible else 0
        n_shapes = sum(one.shape.rank for one in tensors)
        self._values = create_untraced(lambda: tf.Variable(tf.zeros([n_kept]), trainable=False))
        self._shapes = create_untraced(lambda: tf.Variable(tf.zeros([n_shapes], tf.int64), trainable=False))

    def write(self) -> None:
        """Keeps the values; in a branch of the step."""
        n = self._values.shape[0]
        flat = [tf.reshape(_as_float32(one), [-1]) for one in self._tensors]
        self._values.assign(tf.concat([*flat, tf.zeros([n])], 0)[:n])
        shapes = [tf.shape(one, tf.int64) for one in self._tensors]
        self._shapes.assign(tf.concat([*shapes, tf.zeros([0], tf.int64)], 0))

    def read(self) -> list[npt.NDArray[Any]] | None:
        """The values; None if they were more than there was room for."""
        values, shapes = self._values.numpy(), self._shapes.numpy().tolist()
        found = []
        for tensor in self._tensors:
            shape, shapes = shapes[: tensor.shape.rank], shapes[tensor.shape.rank :]
            n = _WIDTHS[tensor.dtype] * math.prod(shape)
            if n > len(values):
                return None
            own, values = values[:n], values[n:]
            dtype = tensor.dtype.as_numpy_dtype
            found.append((own.view(dtype) if tensor.dtype in _BITS else own.astype(dtype)).reshape(shape))
        return found


_BITS: Final = frozenset({tf.int32, tf.uint32, tf.int64, tf.uint64, tf.float64, tf.float32})
"""Types whose bits are kept as those of one or two numbers of float32; all values of the others are float32's too."""
_WIDTHS: Final[Mapping[Any, int]] = {
    **dict.fromkeys((tf.float16, tf.bfloat16, tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16), 1),
    **{dtype: dtype.size // 4 for dtype in _BITS},
}


def _as_float32(tensor: Tensor) -> Tensor:
    if tensor.dtype == tf.float32:
        return tensor
    return tf.bitcast(tensor, tf.float32) if tensor.dtype in _BITS else tf.cast(tensor, tf.float32)


def _is_repeated(op: Any) -> bool:
    return is_repeatable(op) and op.type not in READS


def _number_of(variable: Any) -> int:
    return int(variable.handle._id)


def _numbers_of(ops: Iterable[Any]) -> set[int]:
    """The numbers of the variables that operations read or write."""
    found = (find_handle(op.inputs[0]) for op in ops)
    return {number for number in found if number is not None}
