"""The statistics of what enters a step, and the rings in which its columns and bad rows wait for the reader.

Every step pays one read of each floating tensor, which tells whether all of it is finite. Where full statistics are
due, or something is not finite, the columns are measured too, and a row of them is kept. Integers wait for that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch import statistic
from gradwatch.batch import Measured, count_columns, measure, read_measured, row_width
from gradwatch.cadence import Cadence
from gradwatch.intake import Entry
from gradwatch.probe import Stream
from gradwatch.protocol import Message, columns_message
from gradwatch.ring import Ring
from gradwatch.tap import Tapped, keys_of
from gradwatch.xla import math_here

__all__ = ["Batch", "ColumnLog"]

RING_SIZE_BYTES: Final = 256 * 1024
"""Small beside the ring of a stream's rows: most steps write nothing here."""
ROWS_MIN: Final = 16
ROWS_MAX: Final = 128
DELIVERY_S: Final = 1.0
"""Healthy columns are told together so often: they answer no hurried question."""
Tensor = Any  # tensorflow ships no types


class ColumnLog:
    """The columns of all inputs of one watch.

    Args:
        cadence: when full statistics are due.
    """

    def __init__(self, cadence: Cadence) -> None:
        self._cadence = cadence
        self._lock = threading.Lock()
        self._columns: dict[tuple[int, str], _Columns] = {}
        self._run_eagerly: dict[tuple[int, tuple[tuple[str, bool], ...]], Any] = {}

    def enter(self, stream: Stream, entries: Sequence[Entry]) -> Batch | None:
        """What enters the stream's next step in the graph being traced, of what is in its table; None for nothing."""
        known = self._known(stream, entries)
        if not known:
            return None
        keys, columns = self._layout(stream, known)
        return Batch(keys, [entry.values for entry in known], columns, self._cadence)

    def record(self, stream: Stream, entries: Sequence[Entry]) -> list[Tapped]:
        """Takes the statistics of what enters the stream's next step, which runs eagerly, and keeps its columns.

        Args:
            stream: the stream that the step belongs to; its table has what it knew of the entries when it was made.
            entries: what enters.

        Returns:
            The rows of those in the stream's table.
        """
        known = self._known(stream, entries)
        if not known or (known[0].values.dtype.is_integer and not bool(self._is_due(stream.read_next_step()))):
            return []
        key = (stream.index, tuple((entry.tap.tensor, entry.has_rows) for entry in known))
        if key not in self._run_eagerly:
            # Traced once: what it closes over does not change, and the tensors come as arguments.
            keys, columns = self._layout(stream, known)

            def measure(values: Sequence[Tensor]) -> Tensor:
                batch = Batch(keys, values, columns, self._cadence)
                step, squares = stream.read_next_step(), statistic.half_squares(batch.floating)
                return batch.block(step, squares, self._cadence.is_due(step))

            self._run_eagerly[key] = tf.function(measure, reduce_retracing=True, autograph=False)
        with statistic.apart(), self._cadence.eagerly():
            block = self._run_eagerly[key]([entry.values for entry in known])
        return [Tapped(keys_of(entry.tap for entry in known), block)]

    def _known(self, stream: Stream, entries: Sequence[Entry]) -> list[Entry]:
        """Those in the stream's table, floating ones first."""
        known = [entry for entry in entries if stream.find_tap(entry.tap) is not None]
        return sorted(known, key=lambda entry: entry.values.dtype.is_integer)

    def _layout(self, stream: Stream, known: Sequence[Entry]) -> tuple[list[tuple[str, str]], list[_Columns | None]]:
        """What a `Batch` of them is made of, beside their values."""
        columns = [self._columns_of(stream, entry) if entry.has_rows else None for entry in known]
        return keys_of(entry.tap for entry in known), columns

    def take(self, now: float, n_streams: int, *, is_last: bool) -> list[Message]:
        """The ``columns`` messages (``seq`` 0) that are ripe.

        Args:
            now: unix seconds.
            n_streams: streams whose tensor tables were sent; what belongs to later ones waits.
            is_last: whether nothing may wait any longer.
        """
        with self._lock:
            columns = [one for (stream, _), one in self._columns.items() if stream < n_streams]
        messages = (one.take(now, is_last=is_last) for one in columns)
        return [message for message in messages if message is not None]

    @property
    def fill(self) -> float:
        """How full the fullest ring was when it was last read, 0 to 1."""
        with self._lock:
            return max((one.fill for one in self._columns.values()), default=0.0)

    def _columns_of(self, stream: Stream, entry: Entry) -> _Columns:
        tap = stream.find_tap(entry.tap)
        key = (stream.index, entry.tap.tensor if tap is None else tap.tensor)
        with self._lock:
            if key not in self._columns:
                self._columns[key] = _Columns(*key, count_columns(entry.values))
            return self._columns[key]

    def _is_due(self, step: Tensor) -> Tensor:
        return self._cadence.is_due(step) & self._cadence.is_on("input")


class Batch:
    """What enters one step: its statistics, and the columns of it where they are wanted.

    Args:
        keys: kind and name of each tensor's tap.
        values: the tensors, floating ones first.
        columns: where the columns of each are kept; None where it has none.
        cadence: when full statistics are due.
    """

    def __init__(
        self,
        keys: Sequence[tuple[str, str]],
        values: Sequence[Tensor],
        columns: Sequence[_Columns | None],
        cadence: Cadence,
    ) -> None:
        self.keys = list(keys)
        self._values = list(values)
        self._columns = list(columns)
        self._cadence = cadence
        self.floating = [tensor for tensor in self._values if tensor.dtype.is_floating]

    def _glance(self, squares: Tensor) -> Tensor:
        """The rows, float32 ``[n, 12]``, of tensors without a non-finite element, of which no more is wanted."""
        rows = statistic.light_rows(squares, self.sizes()[: len(self.floating)])
        n_others = len(self._values) - len(self.floating)
        return rows if n_others == 0 else tf.concat([rows, np.tile(statistic.NOTHING, (n_others, 1))], 0)

    def block(self, step: Tensor, squares: Tensor, is_due: Tensor) -> Tensor:
        """The rows; full where that is due or an element is not finite, and the columns are then kept."""

        def look_closely() -> Tensor:
            for one, tensor in zip(self._columns, self._values, strict=True):
                if one is not None:
                    one.ring.write(step, measure(tensor, one.n_columns))
            return statistic.full_block(self._values, self.sizes())

        is_full = (is_due & self._cadence.is_on("input")) | ~tf.reduce_all(math_here().is_finite(squares))
        return statistic.where(is_full, look_closely, lambda: self._glance(squares))

    def sizes(self) -> list[Any]:
        """The elements of each: numbers, or if one is not known scalar tensors."""
        static_sizes = [tensor.shape.num_elements() for tensor in self._values]
        return [tf.size(tensor) for tensor in self._values] if None in static_sizes else static_sizes


class _Columns:
    """One input's ring, and what was read from it and waits for company."""

    def __init__(self, stream: int, tensor: str, n_columns: int) -> None:
        self.n_columns = n_columns
        width = row_width(n_columns)
        self.ring = Ring(width, max(ROWS_MIN, min(ROWS_MAX, RING_SIZE_BYTES // (4 * width))))
        self.fill = 0.0
        self._stream, self._tensor = stream, tensor
        self._steps: list[npt.NDArray[np.int64]] = []
        self._times: list[npt.NDArray[np.float64]] = []
        self._rows: list[npt.NDArray[np.float32]] = []
        self._n_lost = 0
        self._since: float | None = None

    def take(self, now: float, *, is_last: bool) -> Message | None:
        rows = self.ring.read()
        n = len(rows.steps)
        self.fill = (n + rows.n_lost) / self.ring.n_rows
        self._n_lost += rows.n_lost
        if n:
            self._steps.append(rows.steps)
            self._times.append(np.full(n, now))
            self._rows.append(rows.values)
            self._since = time.monotonic() if self._since is None else self._since
        if self._since is None:
            return None
        is_ripe = is_last or time.monotonic() - self._since >= DELIVERY_S
        if not is_ripe and not (n and read_measured(rows.values, self.n_columns).n_bad_rows.any()):
            return None
        return self._flush(read_measured(np.concatenate(self._rows), self.n_columns))

    def _flush(self, measured: Measured) -> Message:
        message = columns_message(
            seq=0,
            stream=self._stream,
            tensor=self._tensor,
            steps=np.concatenate(self._steps),
            times=np.concatenate(self._times),
            columns=measured.columns,
            bad_rows=measured.bad_rows,
            n_bad_rows=measured.n_bad_rows,
            n_lost=self._n_lost,
        )
        self._steps, self._times, self._rows = [], [], []
        self._n_lost, self._since = 0, None
        return message
