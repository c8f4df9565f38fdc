"""The last healthy run before a run: what was set otherwise there, and what its numbers were at the same step."""

from __future__ import annotations

from statistics import median
from typing import Any, Final

from sqlalchemy import Connection, select

from gradwatch_server.config import compare_configs
from gradwatch_server.store.catalogue import read_run, summarize
from gradwatch_server.store.findings import is_dismissed, read_findings
from gradwatch_server.store.numbers import SCALAR, Numbers, StepRange
from gradwatch_server.store.schema import runs
from gradwatch_server.store.sequel import CANDIDATES_LIMIT, pick_alike
from gradwatch_server.store.store import Store

__all__ = ["find_healthy_before", "list_differences", "read_baseline"]

Json = dict[str, Any]
COMPARED: Final = ("loss", "gradient_norm", "learning_rate")
WINDOW: Final = 20
"""Steps whose median stands for a number at a step."""


def read_baseline(store: Store, run_id: str) -> Json:
    """The contract's ``baseline`` of a run.

    Raises:
        NotFoundError: there is no such run.
    """
    with store.read() as connection:
        run = read_run(connection, run_id)
        before = pick_alike(run, find_healthy_before(connection, run))
        findings = read_findings(connection, run_id)
    if before is None:
        return {"run": None, "config": [], "step": None, "values": []}
    onsets = [finding["first_step"] for finding in findings if not is_dismissed(finding)]  # the leading one's first
    steps = [*onsets[:1], *(one["last_step"] for one in (run, before) if one["last_step"] is not None)]
    step = min(steps, default=None)
    differences = list_differences(before, run)
    return {
        "run": before,
        "config": [{"key": key, "there": there, "here": here} for key, there, here in differences],
        "step": step,
        "values": [] if step is None else _compare(store.numbers, before["id"], run_id, step),
    }


def list_differences(there: Json, here: Json) -> list[tuple[str, Any, Any]]:
    """The settings that are not the same in two runs: the key, the value there, the value here."""
    rows = compare_configs([there["config"], here["config"]])
    return [(row["key"], *row["values"]) for row in rows if row["differs"]]


def _compare(numbers: Numbers, there: str, here: str, step: int) -> list[Json]:
    values = [
        {"name": name, "there": _usual(numbers, there, name, step), "here": _usual(numbers, here, name, step)}
        for name in COMPARED
    ]
    return [value for value in values if value["there"] is not None and value["here"] is not None]


def _usual(numbers: Numbers, run_id: str, name: str, step: int) -> float | None:
    """The median of a scalar over the last steps before one, None where nothing finite is known of it."""
    if name not in numbers.scalar_names(run_id):
        return None
    window = StepRange(max(0, step - WINDOW), max(step, 1))
    series = numbers.series(run_id, kind=SCALAR, tensor=name, statistic="", steps=window, points=WINDOW)
    finite = [value for value in series["mean"] if value is not None]
    return median(finite) if finite else None


def find_healthy_before(connection: Connection, run: Json) -> list[Json]:
    """The healthy runs of its project before a run, the newest first."""
    started_at = select(runs.c.started_at).where(runs.c.id == run["id"]).scalar_subquery()
    query = (
        select(runs)
        .where(
            runs.c.project == run["project"],
            runs.c.started_at < started_at,
            runs.c.last_step.is_not(None),
            runs.c.level == "healthy",
        )
        .order_by(runs.c.started_at.desc(), runs.c.id)
        .limit(CANDIDATES_LIMIT)
    )
    return [summarize(dict(row)) for row in connection.execute(query).mappings()]
