"""The changes of a run's cadence, as its hooks told them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from gradwatch_server.messages import Frame
from gradwatch_server.store.schema import captures

__all__ = ["note_captures", "read_captures"]

_FIELDS = {"step", "period", "every", "kinds", "until_step", "cost", "reason"}


def note_captures(connection: Connection, place: Mapping[str, Any], fresh: Sequence[Frame]) -> None:
    """Keeps the ``capture`` messages among new frames; ``place`` is their run and worker."""
    found = [
        {**place, "seq": frame.seq, "body": frame.fields.model_dump(include=_FIELDS)}
        for frame in fresh
        if frame.type == "capture"
    ]
    if found:
        connection.execute(insert(captures), found)


def read_captures(connection: Connection, run_id: str) -> list[dict[str, Any]]:
    """The changes of all workers with their ``worker``, each worker's oldest first."""
    query = select(captures.c.worker, captures.c.body).where(captures.c.run_id == run_id)
    rows = connection.execute(query.order_by(captures.c.worker, captures.c.seq))
    return [{**body, "worker": worker} for worker, body in rows]
