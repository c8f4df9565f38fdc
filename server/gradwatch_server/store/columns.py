"""Runs as columns in memory, decoded from their frames, bounded in bytes. Owns no judgement on what they mean.

A *plane* is one statistic of one stream over its steps, ``[n_steps, n_tensors]`` float32. Planes are decoded when first
asked for and grow with the log. They are a cache: whatever is dropped is decoded again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Engine, Row, select

from gradwatch import protocol
from gradwatch_server.messages import StreamTable
from gradwatch_server.store.schema import frames, streams, workers

__all__ = ["NONFINITE", "ColumnsCache", "RunColumns", "ScalarColumns", "StreamColumns", "read_table"]

NONFINITE = "n_nonfinite"
"""The plane that is not on the wire: NaN, +Inf and -Inf elements together."""
_NONFINITE_PARTS = [protocol.STATISTICS.index(name) for name in ("n_nan", "n_pos_inf", "n_neg_inf")]
PAGE_FRAMES = 64
"""Frames read at a time, so that a long run is never in memory twice."""

Array = npt.NDArray[Any]


class Growing:
    """An array that grows along its first axis.

    A view of it stays valid and unaltered when it grows, so readers need no lock.
    """

    def __init__(self, dtype: Any, width: tuple[int, ...] = ()) -> None:
        self._data: Array = np.empty((64, *width), dtype)
        self._n = 0

    @property
    def view(self) -> Array:
        """What is there now."""
        return self._data[: self._n]

    @property
    def size_bytes(self) -> int:
        """What it occupies."""
        return self._data.nbytes

    def extend(self, rows: Array) -> None:
        """Appends rows."""
        needed = self._n + len(rows)
        if needed > len(self._data):
            grown = np.empty((max(needed, 2 * len(self._data)), *self._data.shape[1:]), self._data.dtype)
            grown[: self._n] = self.view
            self._data = grown
        self._data[self._n : needed] = rows
        self._n = needed


@dataclass
class StreamColumns:
    """One worker's stream, as far as it was read.

    Attributes:
        worker: the worker.
        stream: the stream's number.
        table: its tensors and scalars.
        steps: ``[n]`` int64, ascending.
        times: ``[n]`` float64, unix seconds.
        scalars: ``[n, n_scalars]`` float32.
        present: ``[n, n_scalars]`` bool.
        planes: statistic to ``[n, n_tensors]`` float32.
    """

    worker: int
    stream: int
    table: StreamTable
    steps: Array
    times: Array
    scalars: Array
    present: Array
    planes: dict[str, Array]


@dataclass
class ScalarColumns:
    """What `watch.log` added under one name in one worker: ``[n]`` steps, times and values, in order of arrival."""

    worker: int
    steps: Array
    times: Array
    values: Array


@dataclass
class RunColumns:
    """A run at one moment: its streams in order of worker and number, and its logged scalars."""

    streams: list[StreamColumns]
    scalars: dict[str, list[ScalarColumns]]


@dataclass
class _Stream:
    table: StreamTable
    steps: Growing = field(default_factory=lambda: Growing(np.int64))
    times: Growing = field(default_factory=lambda: Growing(np.float64))
    scalars: Growing = field(init=False)
    present: Growing = field(init=False)
    planes: dict[str, Growing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scalars = Growing(np.float32, (len(self.table.scalars),))
        self.present = Growing(np.bool_, (len(self.table.scalars),))

    def decode(self, data: bytes) -> dict[str, Any]:
        return self.table.decode(protocol.decode(data))

    def add(self, rows: dict[str, Any], planes: Iterable[str]) -> None:
        for name in ("steps", "times", "scalars"):
            getattr(self, name).extend(rows[name])
        self.present.extend(rows["scalars_present"])
        self.add_planes(rows, planes)

    def open_planes(self, planes: Iterable[str]) -> None:
        for name in planes:
            self.planes[name] = Growing(np.float32, (len(self.table.tensors),))

    def add_planes(self, rows: dict[str, Any], planes: Iterable[str]) -> None:
        for name in planes:
            self.planes[name].extend(plane_of(rows["statistics"], name))


def read_table(row: Row[Any]) -> StreamTable:
    """The stream table in a row of ``streams``."""
    return StreamTable(row.tensors, row.scalars, row.optimizer, row.last_step, row.operations, row.statistics)


def plane_of(statistics: Array, name: str) -> Array:
    """Takes one plane ``[n, n_tensors]`` out of ``[n, n_tensors, 12]`` statistics."""
    if name == NONFINITE:
        return np.asarray(statistics[:, :, _NONFINITE_PARTS].sum(axis=2))
    return np.asarray(statistics[:, :, protocol.STATISTICS.index(name)])


class _Run:
    """One run's columns and how far they were read; its lock is held while they are read further."""

    def __init__(self, run_id: str, engine: Engine) -> None:
        self.run_id = run_id
        self.lock = threading.Lock()
        self._engine = engine
        self._streams: dict[tuple[int, int], _Stream] = {}
        self._scalars: dict[tuple[str, int], tuple[Growing, Growing, Growing]] = {}
        self._through: dict[int, int] = {}
        self._planes: set[str] = set()

    def read(self, planes: set[str]) -> RunColumns:
        missing = planes - self._planes
        if missing:
            for stream in self._streams.values():
                stream.open_planes(missing)
            for worker, seq in self._through.items():
                self._read_again(worker, seq, missing)
        self._planes |= planes
        self._read_on()
        return self._snapshot()

    def keep_only(self, planes: set[str]) -> None:
        self._planes &= planes
        for stream in self._streams.values():
            stream.planes = {name: plane for name, plane in stream.planes.items() if name in planes}

    @property
    def size_bytes(self) -> int:
        grown = [array for scalar in self._scalars.values() for array in scalar]
        for stream in self._streams.values():
            grown += [stream.steps, stream.times, stream.scalars, stream.present, *stream.planes.values()]
        return sum(array.size_bytes for array in grown)

    def _read_again(self, worker: int, through: int, planes: set[str]) -> None:
        for _, kind, data in self._frames(worker, -1, through):
            if kind == "rows":
                stream = self._streams[worker, protocol.decode(data)["stream"]]
                stream.add_planes(stream.decode(data), planes)

    def _read_on(self) -> None:
        with self._engine.connect() as connection:
            newest = connection.execute(
                select(workers.c.worker, workers.c.last_seq).where(workers.c.run_id == self.run_id)
            ).all()
            places = connection.execute(
                select(streams.c.worker, streams.c.stream).where(streams.c.run_id == self.run_id)
            ).all()
            # The tables are long: read only when there is a new one.
            is_new = len(places) > len(self._streams)
            query = select(streams).where(streams.c.run_id == self.run_id)
            tables = connection.execute(query).all() if is_new else []
        for row in tables:
            if (row.worker, row.stream) not in self._streams:
                stream = _Stream(read_table(row))
                stream.open_planes(self._planes)
                self._streams[row.worker, row.stream] = stream
        for worker, last_seq in newest:
            for seq, kind, data in self._frames(worker, self._through.get(worker, -1), last_seq):
                self._take(worker, kind, data)
                self._through[worker] = seq

    def _take(self, worker: int, kind: str, data: bytes) -> None:
        if kind == "rows":
            stream = self._streams[worker, protocol.decode(data)["stream"]]
            stream.add(stream.decode(data), self._planes)
        elif kind == "scalars":
            message = protocol.decode_scalars(protocol.decode(data))
            key = (message["name"], worker)
            if key not in self._scalars:
                self._scalars[key] = (Growing(np.int64), Growing(np.float64), Growing(np.float32))
            for array, name in zip(self._scalars[key], ("steps", "times", "values"), strict=True):
                array.extend(message[name])

    def _frames(self, worker: int, after: int, through: int) -> Iterator[tuple[int, str, bytes]]:
        place = (frames.c.run_id == self.run_id, frames.c.worker == worker)
        query = select(frames.c.seq, frames.c.type, frames.c.data).where(*place).order_by(frames.c.seq)
        while after < through:
            with self._engine.connect() as connection:
                page = connection.execute(
                    query.where(frames.c.seq > after, frames.c.seq <= through).limit(PAGE_FRAMES)
                ).all()
            if not page:  # deleted meanwhile
                return
            yield from ((seq, kind, data) for seq, kind, data in page)
            after = page[-1].seq

    def _snapshot(self) -> RunColumns:
        scalars: dict[str, list[ScalarColumns]] = {}
        for (name, worker), (steps, times, values) in sorted(self._scalars.items()):
            scalars.setdefault(name, []).append(ScalarColumns(worker, steps.view, times.view, values.view))
        columns = [
            StreamColumns(
                worker=worker,
                stream=number,
                table=stream.table,
                steps=stream.steps.view,
                times=stream.times.view,
                scalars=stream.scalars.view,
                present=stream.present.view,
                planes={name: plane.view for name, plane in stream.planes.items()},
            )
            for (worker, number), stream in sorted(self._streams.items())
        ]
        return RunColumns(columns, scalars)


class ColumnsCache:
    """Columns of the runs that were looked at last.

    Args:
        engine: the engine that reads.
        limit_bytes: kept at most; the run in use may go beyond it by what is being asked for.
    """

    def __init__(self, engine: Engine, limit_bytes: int) -> None:
        self._engine, self._limit_bytes = engine, limit_bytes
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0

    def read(self, run_id: str, planes: Iterable[str] = ()) -> RunColumns:
        """Reads a run up to its newest committed frame.

        Args:
            run_id: a run that exists.
            planes: the statistics wanted, or `NONFINITE`.

        Returns:
            Views that later reads do not alter.
        """
        wanted = set(planes)
        with self._lock:
            run = self._runs.setdefault(run_id, _Run(run_id, self._engine))
            self._runs.move_to_end(run_id)
        with run.lock:
            columns = run.read(wanted)
            self._shrink(run, wanted)
        return columns

    def forget(self, run_id: str) -> None:
        """Drops a run that was deleted."""
        with self._lock:
            self._runs.pop(run_id, None)

    def _shrink(self, newest: _Run, wanted: set[str]) -> None:
        with self._lock:
            self.size_bytes = sum(run.size_bytes for run in self._runs.values())
            while self.size_bytes > self._limit_bytes and len(self._runs) > 1:
                oldest = next(run for key, run in self._runs.items() if key != newest.run_id)
                self.size_bytes -= self._runs.pop(oldest.run_id).size_bytes
            if self.size_bytes > self._limit_bytes:
                newest.keep_only(wanted)
                self.size_bytes = newest.size_bytes
