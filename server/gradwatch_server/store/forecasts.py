"""The engine's record: every forecast that it made, of one run or of all, and what became of each. Writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Text, cast, select

from gradwatch_server.store.schema import findings, runs

__all__ = ["OUTCOMES", "read_forecasts"]

OUTCOMES: Final = ("came_true", "did_not", "pending")

Json = dict[str, Any]


def read_forecasts(
    connection: Connection, *, run_id: str | None = None, project: str | None = None
) -> tuple[list[Json], dict[str, int]]:
    """Every forecast, those of the newest run first and within a run the earliest first, and how many came true.

    Args:
        connection: for reading.
        run_id: of this run only.
        project: of this project only.
    """
    # Only what was forecast has an outcome; most findings hold none, and need not be decoded.
    query = (
        select(runs.c.id, runs.c.name, runs.c.project, findings.c.body)
        .join(findings, findings.c.run_id == runs.c.id)
        .where(cast(findings.c.body, Text).contains('"outcome_step"'))
        .order_by(runs.c.started_at.desc(), runs.c.id)
    )
    if run_id is not None:
        query = query.where(runs.c.id == run_id)
    if project is not None:
        query = query.where(runs.c.project == project)
    found: dict[tuple[str, str], Json] = {}
    for row in connection.execute(query):
        # Several workers of a run may have made the same one.
        if row.body["evidence"].get("forecast") is not None:
            found.setdefault((row.id, row.body["id"]), _entry(row))
    return _in_order(list(found.values())), _count(list(found.values()))


def _entry(row: Any) -> Json:
    body = row.body
    return {
        "run": {"id": row.id, "name": row.name, "project": row.project},
        "finding": {"id": body["id"], "kind": body["kind"], "title": body["title"], "source": body["source"]},
        **body["evidence"]["forecast"],
    }


def _in_order(entries: Sequence[Json]) -> list[Json]:
    places = {run_id: place for place, run_id in enumerate(dict.fromkeys(entry["run"]["id"] for entry in entries))}
    return sorted(entries, key=lambda entry: (places[entry["run"]["id"]], entry["known_step"], entry["finding"]["id"]))


def _count(entries: Sequence[Json]) -> dict[str, int]:
    counted = Counter(entry["outcome"] for entry in entries)
    return {outcome: counted[outcome] for outcome in OUTCOMES}
