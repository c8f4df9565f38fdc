"""The buffer on the device that the training step writes and the reader takes from. Owns its two variables.

A row carries its own sequence number, for row and counter are not stored at once (under XLA a step's variables are
stored one after the other), and nobody holds a lock while a row is copied in or out. So the reader believes only rows
that name themselves and that no writer can have touched meanwhile: the ring holds one row less than it has places.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

__all__ = ["Ring", "Rows", "create_untraced"]

SIZE_LIMIT_BYTES: Final = 4 * 1024 * 1024
"""Under XLA a ring may be copied at each step, so it must stay small beside any model that is slow enough to matter."""
ROWS_MIN: Final = 16
ROWS_MAX: Final = 1024
_HEADER: Final = 4
"""The row's sequence number, from 1, and its step: two int64 whose bits stand in four places of float32."""
Tensor = Any  # tensorflow ships no types


@dataclass(frozen=True)
class Rows:
    """One reading of a ring: ``steps`` int64 ``[n]``, ``values`` float32 ``[n, width]``, rows lost before them."""

    steps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    n_lost: int


def create_untraced(create: Callable[[], Any]) -> Any:
    """Runs ``create`` outside every trace and returns its result.

    A `tf.function` refuses new variables after its first call, even under `tf.init_scope`. A fresh thread knows of no
    trace, device scope or distribution strategy.
    """
    results: list[Any] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(create())
        except BaseException as error:  # carried over to the caller's thread
            errors.append(error)

    thread = threading.Thread(target=body, name="gradwatch-create")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class Ring:
    """A ring of rows ``[n_rows, 4 + width]`` float32 on the device.

    Args:
        width: numbers in a row.
        n_rows: how many rows it holds; by default as many as fit into `SIZE_LIMIT_BYTES`, 16 to 1,024.
    """

    def __init__(self, width: int, n_rows: int | None = None) -> None:
        row_bytes = 4 * (width + _HEADER)
        self.width = width
        self.n_rows = n_rows or max(ROWS_MIN, min(ROWS_MAX, SIZE_LIMIT_BYTES // row_bytes))
        self.size_bytes = self.n_rows * row_bytes
        self._n_read = 0
        self._rows, self._next = create_untraced(self._create)

    @property
    def n_read(self) -> int:
        """Rows that were read or found lost so far."""
        return self._n_read

    def _create(self) -> tuple[Any, Any]:
        rows = tf.Variable(tf.zeros([self.n_rows, _HEADER + self.width]), trainable=False, name="gradwatch_ring")
        return rows, tf.Variable(1, dtype=tf.int64, trainable=False, name="gradwatch_next_row")

    def write(self, step: Tensor, *values: Tensor) -> None:
        """Adds one row, in the graph or eagerly: ``step`` int64 scalar, ``values`` vectors, ``width`` in all."""
        number = self._next.read_value()
        header = [tf.bitcast(one, tf.float32) for one in (number, step)]
        row = tf.concat([*header, *values], 0)
        # The raw op: `Variable.scatter_update` would add a read of the whole ring to the user's graph.
        store = tf.raw_ops.ResourceScatterUpdate(resource=self._rows.handle, indices=number % self.n_rows, updates=row)
        # A step may end in the middle (the data set's end does it); a row that never came must not be counted.
        with tf.control_dependencies([] if store is None else [store]):
            self._next.assign_add(1)

    def read(self) -> Rows:
        """Takes all new rows, oldest first. Called by one thread at a time, never by the training thread."""
        n_written = self._count()
        first = max(self._n_read, n_written - self.n_rows)
        n_lost = first - self._n_read
        if n_written == first:
            self._n_read = first
            return Rows(np.zeros(0, np.int64), np.zeros((0, self.width), np.float32), n_lost)
        sequence = np.arange(first, n_written)
        taken = tf.raw_ops.ResourceGather(
            resource=self._rows.handle, indices=(sequence + 1) % self.n_rows, dtype=tf.float32
        ).numpy()
        header = taken[:, :_HEADER].copy().view(np.int64)
        found = header[:, 0] - 1
        is_late = found < sequence  # counted but not yet stored: the next reading takes it
        end = int(np.argmax(is_late)) if is_late.any() else len(sequence)
        # A larger number: overwritten before we came. A row whose successor in the same place may have been under
        # way while we copied can be torn, new numbers under its old name: it is lost too.
        n_written = self._count()
        is_whole = (found[:end] == sequence[:end]) & (sequence[:end] > n_written - self.n_rows)
        self._n_read = first + end
        steps = header[:end, 1]
        return Rows(steps[is_whole], taken[:end, _HEADER:][is_whole], n_lost + int((~is_whole).sum()))

    def _count(self) -> int:
        # The raw op, here and above: a method of the variable takes several times as long.
        return int(tf.raw_ops.ReadVariableOp(resource=self._next.handle, dtype=tf.int64).numpy()) - 1
