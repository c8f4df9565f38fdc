"""Writes the log: hellos, frames, states. Every function is a job for the `Writer`, safe to repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from gradwatch_server.errors import MessageError
from gradwatch_server.messages import Frame, HelloRun, StreamTable
from gradwatch_server.store.captures import note_captures
from gradwatch_server.store.columns import read_table
from gradwatch_server.store.schema import column_frames, deleted_runs, frames, runs, streams, workers
from gradwatch_server.store.sparkline import EMPTY, Point, add_points, state_of
from gradwatch_server.store.team import read_last_words, state_of_all

__all__ = [
    "Appended",
    "Greeting",
    "append_frames",
    "greet",
    "mark_lost",
    "mark_stale",
]


@dataclass(frozen=True)
class Greeting:
    """What a hook's ``hello`` met.

    Attributes:
        last_seq: the newest message of this worker that is stored, -1 if none.
        streams: the stream tables of this worker.
        is_changed: whether the run is new, or was lost and is back.
    """

    last_seq: int
    streams: dict[int, StreamTable]
    is_changed: bool


@dataclass(frozen=True)
class Appended:
    """What an append did.

    Attributes:
        last_seq: the newest stored message of the worker.
        is_changed: whether the run's state changed.
        last_step: the run's newest step.
        n_rows_lost: rows lost so far.
        cost: the hook's newest cost.
    """

    last_seq: int
    is_changed: bool
    last_step: int | None
    n_rows_lost: int
    cost: float | None


def greet(connection: Connection, run: HelloRun, worker: int) -> Greeting:
    """Notes that a hook speaks for a run; makes the run if it is new, and brings it back if contact was lost.

    What a user has changed on a known run (name, tags, project) is kept.

    Raises:
        MessageError: the run was deleted.
    """
    state = connection.scalar(select(runs.c.state).where(runs.c.id == run.run_id))
    if state is None:
        if connection.scalar(select(deleted_runs.c.id).where(deleted_runs.c.id == run.run_id)) is not None:
            raise _say_deleted(run.run_id)
        connection.execute(insert(runs).values(**_new_run(run)))
    elif state == "lost_contact":
        connection.execute(update(runs).where(runs.c.id == run.run_id).values(state="live", ended_at=None))
    last_seq = connection.scalar(
        select(workers.c.last_seq).where(workers.c.run_id == run.run_id, workers.c.worker == worker)
    )
    is_late = last_seq is None and state == "finished"  # one of several workers, come after another one's end
    if is_late:
        connection.execute(update(runs).where(runs.c.id == run.run_id).values(state="live", ended_at=None))
    if last_seq is None:
        last_seq = -1
        connection.execute(insert(workers).values(run_id=run.run_id, worker=worker, last_seq=last_seq))
    rows = connection.execute(select(streams).where(streams.c.run_id == run.run_id, streams.c.worker == worker))
    tables = {row.stream: read_table(row) for row in rows}
    return Greeting(last_seq, tables, is_late or state in {None, "lost_contact"})


def _say_deleted(run_id: str) -> MessageError:
    return MessageError("run_deleted", f"Run {run_id} was deleted; its data is no longer taken.", {"run_id": run_id})


def _new_run(run: HelloRun) -> dict[str, Any]:
    return {
        "id": run.run_id,
        "name": run.name,
        "project": run.project,
        "state": "live",
        "started_at": run.started_at,
        "tags": run.tags,
        "config": run.config,
        "environment": run.environment,
        "n_rows_lost": 0,
        "n_skipped": 0,
        "level": "healthy",
        "n_findings": 0,
        "n_open": 0,
        "sparkline": EMPTY,
    }


def append_frames(connection: Connection, run_id: str, worker: int, new: Sequence[Frame], now: float) -> Appended:
    """Stores frames and what a list of runs shows of them, in one transaction.

    Args:
        connection: inside a transaction.
        run_id: the run.
        worker: the worker.
        new: frames in order of ``seq``; those already stored are passed over.
        now: unix seconds, kept as the time of arrival.

    Returns:
        What was done.

    Raises:
        MessageError: the run was deleted meanwhile, or a message is missing in between.
    """
    run = connection.execute(select(runs).where(runs.c.id == run_id)).mappings().one_or_none()
    here = (workers.c.run_id == run_id, workers.c.worker == worker)
    last_seq = connection.scalar(select(workers.c.last_seq).where(*here))
    if run is None or last_seq is None:
        raise _say_deleted(run_id)
    fresh = [frame for frame in new if frame.seq > last_seq]
    if fresh and fresh[0].seq != last_seq + 1:
        raise MessageError(
            "sequence_gap",
            f"Message {fresh[0].seq} came after {last_seq}; expected {last_seq + 1}.",
            {"expected": last_seq + 1, "found": fresh[0].seq},
        )
    if not fresh:
        return Appended(last_seq, False, run["last_step"], run["n_rows_lost"], run["cost"])
    place = {"run_id": run_id, "worker": worker}
    connection.execute(
        insert(frames),
        [{**place, "seq": f.seq, "type": f.type, "received_at": now, "data": f.data} for f in fresh],
    )
    connection.execute(update(workers).where(*here).values(last_seq=fresh[-1].seq))
    _note_streams(connection, place, fresh)
    _note_columns(connection, place, fresh)
    note_captures(connection, place, fresh)
    values = _summarize(dict(run), fresh, now)
    if any(frame.type == "state" for frame in fresh):
        state, error = state_of_all(read_last_words(connection, run_id))
        values |= {"state": state, "error": error}
        values["ended_at"] = None if state == "live" else values["ended_at"]
    connection.execute(update(runs).where(runs.c.id == run_id).values(**values))
    return Appended(
        fresh[-1].seq, values["state"] != run["state"], values["last_step"], values["n_rows_lost"], values["cost"]
    )


def _note_streams(connection: Connection, place: dict[str, Any], fresh: Sequence[Frame]) -> None:
    newest: dict[int, int] = {}
    for frame in fresh:
        if frame.type == "tensors":
            here = [streams.c[name] == value for name, value in place.items()]
            known = connection.scalar(select(streams.c.stream).where(*here, streams.c.stream == frame.fields.stream))
            if known is None:
                names = {"stream", "optimizer", "tensors", "scalars", "operations", "statistics"}
                table = frame.fields.model_dump(include=names)
                connection.execute(insert(streams).values(**place, **table, last_step=-1))
        elif frame.type == "rows" and frame.fields.n_rows:
            newest[frame.fields.stream] = int(frame.arrays["steps"][-1])
    for stream, last_step in newest.items():
        here = [streams.c[name] == value for name, value in {**place, "stream": stream}.items()]
        connection.execute(update(streams).where(*here).values(last_step=last_step))


def _note_columns(connection: Connection, place: dict[str, Any], fresh: Sequence[Frame]) -> None:
    found = [
        {
            **place,
            "seq": frame.seq,
            "tensor": frame.fields.tensor,
            "first_step": int(frame.arrays["steps"][0]),
            "last_step": int(frame.arrays["steps"][-1]),
        }
        for frame in fresh
        if frame.type == "columns" and frame.fields.n_rows
    ]
    if found:
        connection.execute(insert(column_frames), found)


_SUMMARIZED = ("state", "error", "ended_at", "last_step", "last_time", "n_rows_lost", "n_skipped", "cost")


def _summarize(run: dict[str, Any], fresh: Sequence[Frame], now: float) -> dict[str, Any]:
    """The columns of ``runs`` after these frames."""
    values = {name: run[name] for name in _SUMMARIZED}
    points: list[Point] = []
    for frame in fresh:
        steps = frame.arrays.get("steps")
        if steps is not None and len(steps):
            values["last_step"] = max(int(steps.max()), -1 if values["last_step"] is None else values["last_step"])
            values["last_time"] = float(frame.arrays["times"].max())
        if frame.type == "rows":
            values["n_rows_lost"] += frame.fields.n_lost
            values["n_skipped"] += frame.fields.n_skipped
            values["cost"] = values["cost"] if frame.fields.cost is None else frame.fields.cost
            points += _points_of_rows(frame)
        elif frame.type == "scalars" and frame.fields.name in {"loss", "gradient_norm"}:
            points += _points_of_scalars(frame)
        elif frame.type == "state":
            values["ended_at"] = values["last_time"] or now
    # A run that goes on after it was thought lost (a spool delivered later) is live again.
    if values["state"] == "lost_contact":
        values |= {"state": "live", "ended_at": None}
    return {**values, "sparkline": add_points(run["sparkline"], points)}


def _points_of_rows(frame: Frame) -> list[Point]:
    present, scalars = frame.arrays["scalars_present"], frame.arrays["scalars"]
    points: list[Point] = []
    for index, name in enumerate(frame.scalar_names):
        if name not in {"loss", "gradient_norm"}:
            continue
        kept = present[:, index]
        points += [
            _point(name, int(step), float(value))
            for step, value in zip(frame.arrays["steps"][kept], scalars[kept, index], strict=True)
        ]
    return points


def _points_of_scalars(frame: Frame) -> list[Point]:
    pairs = zip(frame.arrays["steps"], frame.arrays["values"], strict=True)
    return [_point(frame.fields.name, int(step), float(value)) for step, value in pairs]


def _point(name: str, step: int, value: float) -> Point:
    state = state_of(value)
    finite = value if state is None else None
    return (step, finite, state, None) if name == "loss" else (step, None, None, finite)


def mark_lost(connection: Connection, run_id: str, now: float) -> bool:
    """Marks a live run as out of contact; tells whether it was live."""
    result = connection.execute(
        update(runs).where(runs.c.id == run_id, runs.c.state == "live").values(state="lost_contact", ended_at=now)
    )
    return bool(result.rowcount)


def mark_stale(connection: Connection, now: float) -> list[str]:
    """At the server's start nobody is in contact: every live run is out of contact until its hook returns.

    Returns:
        The runs that were live, whose findings may lag behind their frames.
    """
    stale = list(connection.scalars(select(runs.c.id).where(runs.c.state == "live")))
    # How long ago that was, only the newest row can tell.
    ended_at = func.coalesce(runs.c.last_time, now)
    connection.execute(update(runs).where(runs.c.state == "live").values(state="lost_contact", ended_at=ended_at))
    return stale
