"""A run's findings: the engine's word, and a person's on it. Every function that writes is a job for the `Writer`.

The engine's findings are replaced whenever they change; a review is kept beside them under the finding's id, which is
the same in every replay, so it outlives them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from gradwatch_server.errors import NotFoundError
from gradwatch_server.evidence import view_of
from gradwatch_server.store.alerts import note_news, wants_alerts
from gradwatch_server.store.catalogue import check_run, iso
from gradwatch_server.store.schema import findings, reviews, runs
from gradwatch_server.store.team import merge_findings

__all__ = [
    "ACKNOWLEDGED",
    "DISMISSED",
    "is_dismissed",
    "is_open",
    "present_findings",
    "read_bodies",
    "read_finding",
    "read_findings",
    "reopen_finding",
    "replace_findings",
    "review_finding",
]

Json = dict[str, Any]
ACKNOWLEDGED, DISMISSED = "acknowledged", "dismissed"
SEVERITIES = ("warning", "critical")
"""In rising order."""


def is_dismissed(finding: Json) -> bool:
    """Whether a person said that it is none."""
    return finding["review"] is not None and finding["review"]["state"] == DISMISSED


def is_open(finding: Json) -> bool:
    """Whether nobody has said anything of it yet."""
    return finding["review"] is None


def replace_findings(connection: Connection, run_id: str, worker: int, bodies: Sequence[Json]) -> None:
    """Puts a worker's findings in the place of its earlier ones, with the run's health and the alerts that are due."""
    if connection.scalar(select(runs.c.id).where(runs.c.id == run_id)) is None:
        return
    rules = wants_alerts(connection, run_id)
    before = read_findings(connection, run_id) if rules else []
    connection.execute(delete(findings).where(findings.c.run_id == run_id, findings.c.worker == worker))
    if bodies:
        place = {"run_id": run_id, "worker": worker}
        rows = [{**place, "position": index, "body": body} for index, body in enumerate(bodies)]
        connection.execute(insert(findings), rows)
    known = read_findings(connection, run_id)
    _note_health(connection, run_id, known)
    if rules:
        note_news(connection, run_id, rules, before=before, after=known, now=time.time())


def review_finding(connection: Connection, run_id: str, finding_id: str, *, state: str, note: str) -> None:
    """Keeps what a person says of a finding, in the place of what was said before.

    It is said of the finding as it is now: when a warning that was reviewed becomes critical, it is open again.

    Raises:
        NotFoundError: there is no such run, or no such finding.
    """
    found = read_finding(connection, run_id, finding_id)
    here = {"run_id": run_id, "finding_id": finding_id}
    _remove_review(connection, run_id, finding_id)
    said = {"state": state, "note": note, "severity": found["severity"], "at": time.time()}
    connection.execute(insert(reviews).values(**here, **said))
    _note_health(connection, run_id, read_findings(connection, run_id))


def reopen_finding(connection: Connection, run_id: str, finding_id: str) -> None:
    """Takes back what was said of a finding; nothing if nothing was.

    Raises:
        NotFoundError: there is no such run, or no such finding.
    """
    read_finding(connection, run_id, finding_id)
    _remove_review(connection, run_id, finding_id)
    _note_health(connection, run_id, read_findings(connection, run_id))


def read_findings(connection: Connection, run_id: str) -> list[Json]:
    """A run's findings as the contract has them: the leading one first, dismissed ones last."""
    return present_findings(connection, run_id, read_bodies(connection, run_id))


def read_bodies(connection: Connection, run_id: str) -> dict[int, list[Json]]:
    """Each worker's findings as its engine gave them, in its order; only workers that have some."""
    columns = (findings.c.worker, findings.c.position, findings.c.body)
    rows = connection.execute(select(*columns).where(findings.c.run_id == run_id)).all()
    by_worker: dict[int, list[Json]] = {}
    for worker, _, body in sorted(rows, key=lambda row: (row[0], row[1])):
        by_worker.setdefault(worker, []).append({**body, "worker": worker})
    return by_worker


def present_findings(connection: Connection, run_id: str, bodies: Mapping[int, Sequence[Json]]) -> list[Json]:
    """What engines found, as one list, each with what was said of it and with where to look.

    Of one worker in the order of its engine; of several by severity and step.
    """
    merged: Sequence[Json] = next(iter(bodies.values())) if len(bodies) == 1 else merge_findings(bodies)
    said = {row.finding_id: row for row in connection.execute(select(reviews).where(reviews.c.run_id == run_id))}
    told = ({**body, "review": _review(body, said.get(body["id"])), "view": view_of(body)} for body in merged)
    return sorted(told, key=is_dismissed)


def read_finding(connection: Connection, run_id: str, finding_id: str) -> Json:
    """One finding of a run.

    Raises:
        NotFoundError: there is no such run, or no such finding.
    """
    check_run(connection, run_id)
    known = read_findings(connection, run_id)
    found = next((one for one in known if one["id"] == finding_id), None)
    if found is None:
        listed = ", ".join(one["id"] for one in known[:5]) or "none"
        raise NotFoundError(
            "unknown_finding",
            f"Run {run_id!r} has no finding {finding_id!r}; it has {listed}. A finding goes when more of the run shows "
            "that it was none.",
            {"run_id": run_id, "finding_id": finding_id},
        )
    return found


def _review(body: Json, said: Any) -> Json | None:
    if said is None or SEVERITIES.index(body["severity"]) > SEVERITIES.index(said.severity):
        return None
    return {"state": said.state, "note": said.note, "at": iso(said.at)}


def _remove_review(connection: Connection, run_id: str, finding_id: str) -> None:
    connection.execute(delete(reviews).where(reviews.c.run_id == run_id, reviews.c.finding_id == finding_id))


def _note_health(connection: Connection, run_id: str, known: Sequence[Json]) -> None:
    counted = [one for one in known if not is_dismissed(one)]
    severities = {one["severity"] for one in counted}
    values = {
        "level": "critical" if "critical" in severities else "warning" if severities else "healthy",
        "n_findings": len(counted),
        "n_open": sum(is_open(one) for one in counted),
        "title": counted[0]["title"] if counted else None,
    }
    connection.execute(update(runs).where(runs.c.id == run_id).values(**values))
