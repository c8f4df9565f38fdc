"""Reads what is known of runs beside their numbers: summaries, tensor tables, frames."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select, update

from gradwatch_server.errors import NotFoundError
from gradwatch_server.store.columns import read_table
from gradwatch_server.store.schema import deleted_runs, frames, runs, streams, workers
from gradwatch_server.store.sparkline import read_sparkline
from gradwatch_server.store.team import read_last_words

__all__ = [
    "RunFilter",
    "change_run",
    "check_run",
    "iso",
    "list_runs",
    "read_frames",
    "read_run",
    "read_streams",
    "read_tensors",
    "read_workers",
    "remove_run",
    "summarize",
]

Json = dict[str, Any]
PAGE_FRAMES = 64


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted.

    Attributes:
        project: only this project.
        state: only this state.
        search: only runs with this text in name, id, project or a tag, in any case.
        limit: at most so many.
        offset: after so many.
    """

    project: str | None = None
    state: str | None = None
    search: str | None = None
    limit: int = 100
    offset: int = 0


def list_runs(connection: Connection, wanted: RunFilter) -> tuple[list[Json], int]:
    """Lists runs, newest first, with their sparkline; and counts how many there are without the limit."""
    conditions: list[ColumnElement[bool]] = []
    if wanted.project is not None:
        conditions.append(runs.c.project == wanted.project)
    if wanted.state is not None:
        conditions.append(runs.c.state == wanted.state)
    if wanted.search:
        columns = (runs.c.name, runs.c.id, runs.c.project, func.cast(runs.c.tags, runs.c.name.type))
        conditions.append(or_(*(column.icontains(wanted.search, autoescape=True) for column in columns)))
    query = select(runs).where(*conditions).order_by(runs.c.started_at.desc(), runs.c.id)
    rows = connection.execute(query.limit(wanted.limit).offset(wanted.offset)).mappings()
    found = [{**summarize(dict(row)), "sparkline": read_sparkline(row["sparkline"])} for row in rows]
    total = connection.scalar(select(func.count()).select_from(runs).where(*conditions))
    return found, int(total or 0)


def check_run(connection: Connection, run_id: str) -> None:
    """Lets pass only a run that exists.

    Raises:
        NotFoundError: there is no such run.
    """
    if connection.scalar(select(runs.c.id).where(runs.c.id == run_id)) is None:
        raise NotFoundError(
            "unknown_run",
            f'There is no run {run_id!r}; it may have been deleted. GET /api/runs or "gradwatch runs" lists them.',
            {"run_id": run_id},
        )


def read_run(connection: Connection, run_id: str) -> Json:
    """Reads one run with its error, streams and workers.

    Raises:
        NotFoundError: there is no such run.
    """
    check_run(connection, run_id)
    row = connection.execute(select(runs).where(runs.c.id == run_id)).mappings().one()
    tables = read_streams(connection, run_id)
    shown = [
        {
            "stream": table["stream"],
            "optimizer": table["optimizer"],
            "n_tensors": len(table["tensors"]),
            "worker": table["worker"],
            "replica": table["replica"],
        }
        for table in tables
    ]
    newest: dict[int, int] = {}
    for table in tables:
        newest[table["worker"]] = max(newest.get(table["worker"], -1), table["last_step"])
    team = [
        {"worker": worker, "state": last.state, "last_step": newest[worker] if newest.get(worker, -1) >= 0 else None}
        for worker, last in read_last_words(connection, run_id).items()
    ]
    return {**summarize(dict(row)), "error": row["error"], "streams": shown, "workers": team}


def summarize(row: Json) -> Json:
    """The contract's RunSummary of a row of ``runs``, without the sparkline."""
    same = ("id", "name", "project", "state", "last_step", "tags", "config", "environment", "n_rows_lost", "n_skipped")
    return {
        **{name: row[name] for name in same},
        "started_at": iso(row["started_at"]),
        "ended_at": iso(row["ended_at"]),
        "cost": row["cost"],
        "url": f"/runs/{row['id']}",
        "health": {name: row[name] for name in ("level", "n_findings", "n_open", "title")},
    }


def iso(seconds: float | None) -> str | None:
    """A moment as the contract writes it: ISO 8601, UTC, milliseconds."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_streams(connection: Connection, run_id: str) -> list[Json]:
    """The streams of a run with their ``replica``, those of what is applied first, worker by worker."""
    query = select(streams).where(streams.c.run_id == run_id).order_by(streams.c.worker, streams.c.stream)
    rows = [{**row._mapping, "replica": read_table(row).replica} for row in connection.execute(query)]
    return sorted(rows, key=lambda row: row["replica"] is not None)


def read_tensors(connection: Connection, run_id: str) -> list[Json]:
    """One entry a variable: its kinds, its layer's place counted from the input, and the optimizer that is given it."""
    entries: dict[str, Json] = {}
    given: dict[str, str] = {}
    depths: dict[str, int] = {}
    for stream in read_streams(connection, run_id):
        for tensor in stream["tensors"]:
            depth = depths.setdefault(tensor["layer"], len(depths))
            entry = entries.setdefault(
                tensor["tensor"],
                {
                    "tensor": tensor["tensor"],
                    "layer": tensor["layer"],
                    "variable": tensor.get("variable") or tensor["tensor"],
                    "kinds": [],
                    "shape": tensor["shape"],
                    "dtype": tensor["dtype"],
                    "n_elements": tensor["n_elements"],
                    "optimizer": stream["optimizer"],
                    "depth": depth,
                },
            )
            if tensor["kind"] not in entry["kinds"]:
                entry["kinds"].append(tensor["kind"])
            if not tensor.get("left_out"):
                given.setdefault(tensor["tensor"], stream["optimizer"])
    return [entry | {"optimizer": given.get(name, entry["optimizer"])} for name, entry in entries.items()]


def read_frames(connection: Connection, run_id: str, worker: int, after: int) -> Iterator[tuple[int, bytes]]:
    """A worker's messages after a ``seq``, in order, a page at a time."""
    place = (frames.c.run_id == run_id, frames.c.worker == worker)
    query = select(frames.c.seq, frames.c.data).where(*place).order_by(frames.c.seq).limit(PAGE_FRAMES)
    while page := connection.execute(query.where(frames.c.seq > after)).all():
        yield from ((seq, data) for seq, data in page)
        after = page[-1].seq


def read_workers(connection: Connection, run_id: str) -> list[int]:
    """The workers that spoke for a run."""
    return list(connection.scalars(select(workers.c.worker).where(workers.c.run_id == run_id)))


def change_run(connection: Connection, run_id: str, values: Json) -> None:
    """Changes name, project or tags of a run, if there is one."""
    connection.execute(update(runs).where(runs.c.id == run_id).values(**values))


def remove_run(connection: Connection, run_id: str) -> bool:
    """Removes a run and all that hangs on it, and notes that it was deleted; tells whether there was one."""
    is_there = bool(connection.execute(delete(runs).where(runs.c.id == run_id)).rowcount)
    if is_there:
        connection.execute(insert(deleted_runs).values(id=run_id, deleted_at=time.time()))
    return is_there
