"""What entered the steps: an input's feature columns and bad rows, summed up from the messages that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from gradwatch import protocol
from gradwatch_server.errors import NotFoundError, unknown
from gradwatch_server.store.numbers import StepRange
from gradwatch_server.store.schema import column_frames, frames, streams

__all__ = ["read_columns"]

BAD_STEPS_LIMIT = 20
PAGE_FRAMES = 256
N_NONFINITE, MIN, MAX = range(len(protocol.COLUMN_STATISTICS))

Array = npt.NDArray[Any]
Json = dict[str, Any]


def read_columns(
    connection: Connection, run_id: str, *, tensor: str, steps: StepRange, worker: int | None = None
) -> Json:
    """Sums up an input's columns over steps.

    Args:
        connection: for reading.
        run_id: a run that exists.
        tensor: the input's name.
        steps: the steps wanted.
        worker: this worker alone; None sums over all, each of which has a part of the batch.

    Returns:
        The contract's columns.

    Raises:
        NotFoundError: the run has no input of that name.
    """
    names = _input_names(connection, run_id)
    if tensor not in names:
        raise unknown("tensor", tensor, names, NotFoundError)
    total = _Sum()
    for message, its_worker in _messages(connection, run_id, tensor, steps, worker):
        total.add(message, its_worker, steps)
    return {"tensor": tensor, **total.to_json()}


@dataclass
class _Sum:
    """What has been added up, column by column; a step that two streams tell of counts once."""

    seen: set[tuple[int, int]] = field(default_factory=set)
    n_nonfinite: Array = field(default_factory=lambda: np.zeros(0))
    n_steps_nonfinite: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    low: Array = field(default_factory=lambda: np.zeros(0))
    high: Array = field(default_factory=lambda: np.zeros(0))
    bad: list[Json] = field(default_factory=list)
    n_lost: int = 0

    def add(self, message: protocol.Message, worker: int, steps: StepRange) -> None:
        cut = steps.of(message["steps"])
        at = message["steps"][cut].tolist()
        fresh = np.array([(worker, step) not in self.seen for step in at], bool)
        self.seen.update((worker, step) for step in at)
        self.n_lost += message["n_lost"]
        if fresh.any():
            self._add_columns(message["columns"][cut][fresh])
            self._add_rows(message, worker, np.arange(len(message["steps"]))[cut][fresh])

    def _add_columns(self, block: Array) -> None:
        if block.shape[1] == 0:
            return
        if block.shape[1] != len(self.low):  # a later training function took batches of another width
            n = block.shape[1]
            self.n_nonfinite, self.n_steps_nonfinite = np.zeros(n), np.zeros(n, np.int64)
            self.low, self.high = np.full(n, np.nan), np.full(n, np.nan)
        counts = np.nan_to_num(block[:, :, N_NONFINITE].astype(np.float64))
        self.n_nonfinite += counts.sum(axis=0)
        self.n_steps_nonfinite += (counts > 0).sum(axis=0)
        self.low = np.fmin(self.low, np.fmin.reduce(block[:, :, MIN], axis=0))
        self.high = np.fmax(self.high, np.fmax.reduce(block[:, :, MAX], axis=0))

    def _add_rows(self, message: protocol.Message, worker: int, places: Array) -> None:
        for place in places[message["n_bad_rows"][places] > 0].tolist():
            rows = message["bad_rows"][place]
            n_rows = int(message["n_bad_rows"][place])
            step = int(message["steps"][place])
            self.bad.append({"step": step, "worker": worker, "rows": rows[rows >= 0].tolist(), "n_rows": n_rows})
        self.bad = sorted(self.bad, key=lambda one: (-one["step"], one["worker"]))[:BAD_STEPS_LIMIT]

    def to_json(self) -> Json:
        at = {step for _, step in self.seen}
        return {
            "n_columns": len(self.low),
            "n_steps": len(at),
            "n_lost": self.n_lost,
            "first_step": min(at, default=None),
            "last_step": max(at, default=None),
            "n_nonfinite": self.n_nonfinite.astype(np.int64),
            "n_steps_nonfinite": self.n_steps_nonfinite,
            "min": self.low.astype(np.float32),
            "max": self.high.astype(np.float32),
            "rows": self.bad,
        }


def _input_names(connection: Connection, run_id: str) -> list[str]:
    tables = connection.scalars(select(streams.c.tensors).where(streams.c.run_id == run_id).order_by(streams.c.stream))
    names = [tensor["tensor"] for table in tables for tensor in table if tensor["kind"] == "input"]
    return list(dict.fromkeys(names))


def _messages(
    connection: Connection, run_id: str, tensor: str, steps: StepRange, worker: int | None
) -> Iterator[tuple[protocol.Message, int]]:
    """The decoded messages of one input that touch the steps, in order of their first step."""
    place = column_frames.c
    conditions = [place.run_id == run_id, place.tensor == tensor, place.last_step >= steps.start]
    if steps.stop is not None:
        conditions.append(place.first_step < steps.stop)
    if worker is not None:
        conditions.append(place.worker == worker)
    same = (frames.c.run_id == place.run_id) & (frames.c.worker == place.worker) & (frames.c.seq == place.seq)
    query = (
        select(frames.c.data, place.worker)
        .select_from(column_frames.join(frames, same))
        .where(*conditions)
        .order_by(place.first_step, place.worker, place.seq)
    )
    with connection.execute(query, execution_options={"yield_per": PAGE_FRAMES}) as found:
        for data, its_worker in found:
            yield protocol.decode_columns({"n_lost": 0, **protocol.decode(data)}), its_worker
