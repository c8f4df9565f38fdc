"""The run after a run: which one it is, and what became there of each finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, select

from gradwatch_server.evidence import is_slow
from gradwatch_server.store.catalogue import read_run, summarize
from gradwatch_server.store.findings import is_dismissed, read_findings
from gradwatch_server.store.schema import runs

__all__ = ["CANDIDATES_LIMIT", "is_alike", "pick_alike", "read_sequel"]

Json = dict[str, Any]
UNNAMED_PROJECT: Final = "default"
"""The hook's, where the user names none: its runs may have nothing in common."""
CANDIDATES_LIMIT: Final = 200
SLOW_STEPS: Final = 200
"""What creeps in is not known to be gone before so many steps beyond the step at which it began last time."""
NONFINITE: Final = frozenset(
    {
        "nonfinite_input",
        "nonfinite_activation",
        "nonfinite_loss",
        "nonfinite_gradient",
        "nonfinite_weight",
        "singular_gradient",
    }
)
"""The first NaN is told by where it is seen first, which a change elsewhere may move."""


def read_sequel(connection: Connection, run_id: str) -> Json:
    """The contract's ``next`` of a run.

    Raises:
        NotFoundError: there is no such run.
    """
    run = read_run(connection, run_id)
    after = _find_next(connection, run)
    if after is None:
        return {"run": None, "findings": []}
    later = [one for one in read_findings(connection, after["id"]) if not is_dismissed(one)]
    n_steps, n_before = (0 if one["last_step"] is None else one["last_step"] + 1 for one in (after, run))
    found = []
    for finding in read_findings(connection, run_id):
        again = next((one for one in later if _family(one) == _family(finding)), None)
        slow_end = min(finding["first_step"] + SLOW_STEPS, n_before)
        needed = slow_end if is_slow(finding) else finding["first_step"] + 1
        outcome = "came_back" if again else "not_seen" if n_steps >= needed else "too_short"
        told = None if again is None else {name: again[name] for name in ("id", "kind", "first_step", "title")}
        found.append({"id": finding["id"], "outcome": outcome, "n_steps": n_steps, "again": told})
    return {"run": after, "findings": found}


def _family(finding: Json) -> str:
    return "nonfinite" if finding["kind"] in NONFINITE else str(finding["kind"])


def _find_next(connection: Connection, run: Json) -> Json | None:
    """The next run with steps by the same script or name in the project; else of its model in a named project."""
    started_at = select(runs.c.started_at).where(runs.c.id == run["id"]).scalar_subquery()
    query = (
        select(runs)
        .where(runs.c.project == run["project"], runs.c.started_at > started_at, runs.c.last_step.is_not(None))
        .order_by(runs.c.started_at, runs.c.id)
        .limit(CANDIDATES_LIMIT)
    )
    later = [summarize(dict(row)) for row in connection.execute(query).mappings()]
    return pick_alike(run, later)


def pick_alike(run: Json, others: Sequence[Json]) -> Json | None:
    """The first other run of the project by the same name or script; else of its model in a named project."""
    alike = (one for one in others if is_alike(run, one))
    is_named = run["project"] != UNNAMED_PROJECT
    named = (one for one in others if is_named and one["config"].get("model") == run["config"].get("model"))
    return next(alike, None) or next(named, None)


def is_alike(run: Json, other: Json) -> bool:
    """Whether two runs have the same name or script."""
    script = _script(run)
    return bool(other["name"] == run["name"]) or (script is not None and _script(other) == script)


def _script(run: Json) -> str | None:
    """The script without its arguments, which are what one changes."""
    words = str(run["environment"].get("script") or "").split(" ")
    return words[0] or None
