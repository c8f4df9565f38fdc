"""The tables. Owns their shape and nothing else; ``migrations/`` brings a database to this shape.

Times are unix seconds in float64, as on the wire. ``frames`` holds each message as it arrived, so that whatever is
derived from it (columns, findings) can be derived again.
"""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

from gradwatch.protocol import FIRST_STATISTICS

__all__ = [
    "RUN_STATES",
    "alert_rules",
    "alerts",
    "captures",
    "column_frames",
    "deleted_runs",
    "findings",
    "frames",
    "metadata",
    "reviews",
    "runs",
    "streams",
    "workers",
]

RUN_STATES = ("live", "finished", "crashed", "lost_contact")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _of_run() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE")


def _key(name: str, kind: Any = Text) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


runs = Table(
    "runs",
    metadata,
    _key("id"),
    Column("name", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("error", Text),
    Column("started_at", Float(53), nullable=False),
    Column("ended_at", Float(53)),
    Column("last_step", BigInteger),
    Column("last_time", Float(53)),
    Column("tags", JSON, nullable=False),
    Column("config", JSON, nullable=False),
    Column("environment", JSON, nullable=False),
    Column("n_rows_lost", BigInteger, nullable=False),
    Column("n_skipped", BigInteger, nullable=False),
    Column("cost", Float(53)),
    Column("level", Text, nullable=False),
    Column("n_findings", Integer, nullable=False),
    Column("n_open", Integer, nullable=False, server_default="0"),
    Column("title", Text),
    Column("sparkline", JSON, nullable=False),
    Index("ix_runs_started_at", "started_at"),
    Index("ix_runs_project", "project"),
)

deleted_runs = Table(
    "deleted_runs",
    metadata,
    _key("id"),
    Column("deleted_at", Float(53), nullable=False),
)
"""A hook that comes back for one of them is told so: what its process left must not bring a part of the run back."""

workers = Table(
    "workers",
    metadata,
    _key("run_id"),
    _key("worker", Integer),
    Column("last_seq", BigInteger, nullable=False),
    _of_run(),
)

streams = Table(
    "streams",
    metadata,
    _key("run_id"),
    _key("worker", Integer),
    _key("stream", Integer),
    Column("optimizer", Text, nullable=False),
    Column("tensors", JSON, nullable=False),
    Column("scalars", JSON, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("operations", JSON, nullable=False, server_default="[]"),
    Column("statistics", JSON, nullable=False, server_default=orjson.dumps(FIRST_STATISTICS).decode()),
    _of_run(),
)

frames = Table(
    "frames",
    metadata,
    _key("run_id"),
    _key("worker", Integer),
    _key("seq", BigInteger),
    Column("type", Text, nullable=False),
    Column("received_at", Float(53), nullable=False),
    Column("data", LargeBinary, nullable=False),
    _of_run(),
)

column_frames = Table(
    "column_frames",
    metadata,
    _key("run_id"),
    _key("worker", Integer),
    _key("seq", BigInteger),
    Column("tensor", Text, nullable=False),
    Column("first_step", BigInteger, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    _of_run(),
    Index("ix_column_frames_tensor", "run_id", "tensor", "first_step"),
)
"""Where in the log the ``columns`` messages are, so that a question about one input does not read the rest."""

captures = Table(
    "captures",
    metadata,
    _key("run_id"),
    _key("worker", Integer),
    _key("seq", BigInteger),
    Column("body", JSON, nullable=False),
    _of_run(),
)
"""The ``capture`` messages: few beside all others, and asked for whenever a page is open."""

findings = Table(
    "findings",
    metadata,
    _key("run_id"),
    _key("worker", Integer),
    _key("position", Integer),
    Column("body", JSON, nullable=False),
    _of_run(),
)

reviews = Table(
    "reviews",
    metadata,
    _key("run_id"),
    _key("finding_id"),
    Column("state", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("at", Float(53), nullable=False),
    _of_run(),
)
"""What a person said of a finding, and how severe it was then."""

alert_rules = Table(
    "alert_rules",
    metadata,
    _key("id"),
    Column("name", Text, nullable=False),
    Column("project", Text),
    Column("channel", Text, nullable=False),
    Column("target", JSON, nullable=False),
    Column("severity", Text, nullable=False),
    Column("kinds", JSON, nullable=False),
    Column("debounce_s", Float(53), nullable=False),
    Column("created_at", Float(53), nullable=False),
)
"""Who is told of what. ``target`` is a webhook's address, which is a secret, or a list of e-mail addresses."""

alerts = Table(
    "alerts",
    metadata,
    _key("rule_id"),
    _key("run_id"),
    _key("finding_id"),
    _key("severity"),
    Column("state", Text, nullable=False),
    Column("due_at", Float(53), nullable=False),
    Column("n_tries", Integer, nullable=False),
    Column("error", Text),
    Column("changed_at", Float(53), nullable=False),
    ForeignKeyConstraint(["rule_id"], ["alert_rules.id"], ondelete="CASCADE"),
    _of_run(),
    Index("ix_alerts_state", "state", "due_at"),
)
"""What is to be told, or was: one row for each rule, finding and severity, so that nothing is told twice."""
