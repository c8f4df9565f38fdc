"""The rules of alerts, and what is due by them. Owns no delivery; every function that writes is a job for the `Writer`.

A finding that is new, or has become critical, is noted for every rule that wants it by the transaction that stores it:
what is stored is told, whatever dies in between, and what was told is not told again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from gradwatch_server.errors import NotFoundError
from gradwatch_server.store.schema import alert_rules, alerts, runs

__all__ = [
    "DROPPED",
    "FAILED",
    "SENT",
    "WAITING",
    "Batch",
    "add_rule",
    "claim",
    "note_news",
    "read_next_due",
    "read_rule",
    "read_rules",
    "remove_rule",
    "settle",
    "wants_alerts",
]

Json = dict[str, Any]
WAITING, SENT, FAILED, DROPPED = "waiting", "sent", "failed", "dropped"
"""Due or soon due; taken by its receiver; given up; no longer worth telling when it was due."""
RANKS = {"warning": 0, "critical": 1}


@dataclass(frozen=True)
class Batch:
    """What one rule is to tell of one run, claimed for one try.

    Attributes:
        rule: the rule's row.
        run_id: the run.
        keys: (finding, severity) of each alert.
        n_tries: which try this is, from 1.
    """

    rule: Json
    run_id: str
    keys: tuple[tuple[str, str], ...]
    n_tries: int

    @property
    def id(self) -> str:
        """The same at each try of the same alerts."""
        text = "\n".join(
            [self.rule["id"], self.run_id, *(f"{name} {severity}" for name, severity in sorted(self.keys))]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def add_rule(connection: Connection, rule: Mapping[str, Any]) -> None:
    """Adds a rule; it holds for what is found from now on."""
    connection.execute(insert(alert_rules).values(**rule))


def remove_rule(connection: Connection, rule_id: str) -> None:
    """Removes a rule and what is due by it.

    Raises:
        NotFoundError: there is no such rule.
    """
    read_rule(connection, rule_id)
    connection.execute(delete(alert_rules).where(alert_rules.c.id == rule_id))


def read_rules(connection: Connection) -> list[Json]:
    """All rules, the oldest first, each with ``n_waiting`` and how the newest alert that was decided went, ``last``."""
    rules = connection.execute(select(alert_rules).order_by(alert_rules.c.created_at)).mappings()
    count = select(alerts.c.rule_id, func.count()).where(alerts.c.state == WAITING).group_by(alerts.c.rule_id)
    waiting: dict[str, int] = {row[0]: row[1] for row in connection.execute(count)}
    return [
        {**rule, "n_waiting": waiting.get(rule["id"], 0), "last": _read_last(connection, rule["id"])} for rule in rules
    ]


def _read_last(connection: Connection, rule_id: str) -> Json | None:
    """How the newest alert of a rule went that has been tried: ``state``, ``error`` and ``at``."""
    is_tried = or_(alerts.c.state.in_([SENT, FAILED]), and_(alerts.c.state == WAITING, alerts.c.error.is_not(None)))
    query = select(alerts.c.state, alerts.c.error, alerts.c.changed_at.label("at"))
    rows = connection.execute(
        query.where(alerts.c.rule_id == rule_id, is_tried).order_by(alerts.c.changed_at.desc()).limit(1)
    )
    found = rows.mappings().one_or_none()
    return None if found is None else dict(found)


def read_rule(connection: Connection, rule_id: str) -> Json:
    """One rule.

    Raises:
        NotFoundError: there is no such rule.
    """
    row = connection.execute(select(alert_rules).where(alert_rules.c.id == rule_id)).mappings().one_or_none()
    if row is None:
        raise NotFoundError(
            "unknown_alert",
            f'There is no alert rule {rule_id!r}; GET /api/alerts or "gradwatch alerts list" has them.',
            {"alert_id": rule_id},
        )
    return dict(row)


def wants_alerts(connection: Connection, run_id: str) -> list[Json]:
    """The rules that may want to hear of a run."""
    project = select(runs.c.project).where(runs.c.id == run_id).scalar_subquery()
    query = select(alert_rules).where(or_(alert_rules.c.project.is_(None), alert_rules.c.project == project))
    return [dict(row) for row in connection.execute(query).mappings()]


def note_news(
    connection: Connection,
    run_id: str,
    rules: Sequence[Json],
    *,
    before: Sequence[Json],
    after: Sequence[Json],
    now: float,
) -> None:
    """Notes what is to be told: findings that are new, or have become more severe, and that nobody reviewed.

    Args:
        connection: inside the transaction that stores the findings.
        run_id: the run.
        rules: of `wants_alerts`.
        before: the run's findings as they were.
        after: as they are.
        now: unix seconds.
    """
    known = {one["id"]: RANKS[one["severity"]] for one in before}
    news = [one for one in after if one["review"] is None and RANKS[one["severity"]] > known.get(one["id"], -1)]
    for rule in rules:
        for finding in news:
            if _is_wanted(rule, finding):
                _note(
                    connection, (rule["id"], run_id, finding["id"], finding["severity"]), now + rule["debounce_s"], now
                )


def _is_wanted(rule: Json, finding: Json) -> bool:
    is_severe = RANKS[finding["severity"]] >= RANKS[rule["severity"]]
    return is_severe and (not rule["kinds"] or finding["kind"] in rule["kinds"])


def _note(connection: Connection, key: tuple[str, str, str, str], due_at: float, now: float) -> None:
    here = and_(*(alerts.c[name] == value for name, value in zip(_KEY, key, strict=True)))
    state = connection.scalar(select(alerts.c.state).where(here))
    fresh = {"state": WAITING, "due_at": due_at, "n_tries": 0, "error": None, "changed_at": now}
    if state is None:
        connection.execute(insert(alerts).values(**dict(zip(_KEY, key, strict=True)), **fresh))
    elif state == DROPPED:  # it was gone for a while, and is back
        connection.execute(update(alerts).where(here).values(**fresh))


_KEY = ("rule_id", "run_id", "finding_id", "severity")


def read_next_due(connection: Connection, without: Collection[str] = ()) -> float | None:
    """When the next alert is due, in unix seconds, None if none waits; rules in ``without`` aside."""
    query = select(func.min(alerts.c.due_at)).where(alerts.c.state == WAITING, alerts.c.rule_id.not_in(without))
    due_at = connection.scalar(query)
    return None if due_at is None else float(due_at)


def claim(
    connection: Connection, now: float, lease_s: float, *, limit: int, without: Collection[str] = ()
) -> list[Batch]:
    """Takes what is due for one try: of each rule and run all that waits, once any of it is due.

    Nobody else takes it for ``lease_s``; if the server dies meanwhile, it is due again then.

    Args:
        connection: inside a transaction.
        now: unix seconds.
        lease_s: how long a try may take at most, in seconds.
        limit: at most so many batches; of one rule never two.
        without: rules that are being tried just now.
    """
    due = (
        select(alerts.c.rule_id, alerts.c.run_id)
        .where(alerts.c.state == WAITING, alerts.c.due_at <= now, alerts.c.rule_id.not_in(without))
        .group_by(alerts.c.rule_id, alerts.c.run_id)
        .order_by(func.min(alerts.c.due_at))
    )
    batches: dict[str, Batch] = {}
    for rule_id, run_id in connection.execute(due).all():
        if rule_id not in batches and len(batches) < limit:
            batch = _take(connection, rule_id, run_id, now + lease_s)
            if batch is not None:
                batches[rule_id] = batch
    return list(batches.values())


def _take(connection: Connection, rule_id: str, run_id: str, until: float) -> Batch | None:
    here = and_(alerts.c.rule_id == rule_id, alerts.c.run_id == run_id, alerts.c.state == WAITING)
    # Of several servers on one database, one gets it.
    query = select(alerts.c.finding_id, alerts.c.severity, alerts.c.n_tries).where(here)
    rows = connection.execute(query.with_for_update(skip_locked=True)).all()
    if not rows:
        return None
    keys = tuple((row.finding_id, row.severity) for row in rows)
    chosen = and_(here, or_(*(and_(alerts.c.finding_id == one, alerts.c.severity == two) for one, two in keys)))
    connection.execute(update(alerts).where(chosen).values(due_at=until, n_tries=alerts.c.n_tries + 1))
    return Batch(read_rule(connection, rule_id), run_id, keys, 1 + max(row.n_tries for row in rows))


def settle(
    connection: Connection,
    batch: Batch,
    keys: Collection[tuple[str, str]],
    *,
    state: str,
    now: float,
    error: str | None = None,
    due_at: float | None = None,
) -> None:
    """Notes how a try went, for some alerts of a batch.

    Args:
        connection: inside a transaction.
        batch: what was tried.
        keys: of which of its alerts this is said.
        state: `SENT`, `FAILED`, `DROPPED`, or `WAITING` for another try at ``due_at``.
        now: unix seconds.
        error: why it was not taken.
        due_at: when it is tried again, in unix seconds.
    """
    values: Json = {"state": state, "error": error, "changed_at": now}
    values |= {} if due_at is None else {"due_at": due_at}
    for finding_id, severity in keys:
        key = (batch.rule["id"], batch.run_id, finding_id, severity)
        here = and_(*(alerts.c[name] == value for name, value in zip(_KEY, key, strict=True)))
        connection.execute(update(alerts).where(here).values(**values))
