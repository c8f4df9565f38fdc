"""``gradwatch analyze``: a run's findings anew from what is stored, beside those that are stored.

They differ where another version of the health engine wrote the stored ones. Owns the comparison; the judgement is
`gradwatch_server.health`'s, and how an engine is fed is `gradwatch_server.verdict`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection

from gradwatch_server.errors import ConflictError
from gradwatch_server.store import Store
from gradwatch_server.store.catalogue import read_run, read_workers
from gradwatch_server.store.findings import present_findings, read_bodies, replace_findings
from gradwatch_server.verdict import replay

__all__ = ["Analysis", "Difference", "analyze_run", "compare_bodies", "save_analysis"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """One finding in which the engine and the store differ.

    Attributes:
        id: the finding's.
        title: the engine's, or the stored one where the engine has none.
        change: ``new`` (not stored), ``gone`` (stored only) or ``changed``.
        fields: of a changed finding, the fields that differ; of the evidence, ``evidence.NAME``.
    """

    id: str
    title: str
    change: str
    fields: tuple[str, ...] = ()

    def to_json(self) -> Json:
        """The difference as plain JSON values."""
        return {"id": self.id, "title": self.title, "change": self.change, "fields": list(self.fields)}


@dataclass(frozen=True)
class Analysis:
    """What the engine says of a run now.

    Attributes:
        run_id: the run.
        bodies: each worker's findings as its engine gave them.
        findings: the whole run's, as the contract has them.
        differences: how the stored findings differ from them.
    """

    run_id: str
    bodies: Mapping[int, list[Json]]
    findings: list[Json]
    differences: list[Difference]


def analyze_run(store: Store, run_id: str) -> Analysis:
    """Feeds new engines with all that is stored of a run. Writes nothing.

    Raises:
        NotFoundError: there is no such run.
    """
    with store.read() as connection:
        read_run(connection, run_id)
        workers = sorted(read_workers(connection, run_id))
    bodies = {worker: replay(store, run_id, worker) for worker in workers}
    bodies = {worker: found for worker, found in bodies.items() if found}
    with store.read() as connection:
        stored = read_bodies(connection, run_id)
        findings = present_findings(connection, run_id, bodies)
    differences = [
        difference
        for worker in sorted({*bodies, *stored})
        for difference in compare_bodies(stored.get(worker, []), bodies.get(worker, []))
    ]
    return Analysis(run_id, bodies, findings, differences)


def compare_bodies(stored: Sequence[Json], fresh: Sequence[Json]) -> list[Difference]:
    """How one worker's stored findings differ from the engine's, those of the engine first."""
    known, now = ({body["id"]: body for body in bodies} for bodies in (stored, fresh))
    differences = [Difference(key, body["title"], "new") for key, body in now.items() if key not in known]
    for key, body in now.items():
        fields = tuple(_find_changes(known[key], body)) if key in known else ()
        if fields:
            differences.append(Difference(key, body["title"], "changed", fields))
    return differences + [Difference(key, body["title"], "gone") for key, body in known.items() if key not in now]


def _find_changes(before: Json, after: Json, prefix: str = "") -> list[str]:
    changes = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old == new and (name in before) == (name in after):
            continue
        if name == "evidence" and old and new:
            changes += _find_changes(old, new, "evidence.")
        else:
            changes.append(f"{prefix}{name}")
    return changes


def save_analysis(store: Store, analysis: Analysis) -> None:
    """Puts the engine's findings in the place of the stored ones.

    Raises:
        ConflictError: the run is live; the server that takes it keeps its findings itself.
    """
    with store.read() as connection:
        run = read_run(connection, analysis.run_id)
        stored = read_bodies(connection, analysis.run_id)
    if run["state"] == "live":
        text = f"Run {analysis.run_id} is live: its server keeps its findings. Save them when it has ended."
        raise ConflictError("run_is_live", text, {"run_id": analysis.run_id})
    everything = {**{worker: [] for worker in stored}, **analysis.bodies}
    store.writer.submit(partial(_replace, run_id=analysis.run_id, bodies=everything)).result()


def _replace(connection: Connection, run_id: str, bodies: Mapping[int, list[Json]]) -> None:
    for worker, found in bodies.items():
        replace_findings(connection, run_id, worker, found)
