"""Opens the database: one engine that writes, one that reads. Owns the dialects' peculiarities."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from gradwatch_server.errors import DatabaseError, SettingsError

__all__ = ["open_engine"]

BUSY_TIMEOUT_S = 10.0
"""How long a SQLite connection waits for another process (``gradwatch delete``, a second server) to commit."""


def open_engine(url: str, *, writes: bool) -> Engine:
    """Builds an engine; connects nothing yet.

    Args:
        url: a SQLAlchemy URL.
        writes: whether it is the writer's engine, which has one connection and takes SQLite's write lock at once.

    Returns:
        The engine.

    Raises:
        SettingsError: the URL is none, or its driver is not installed.
        DatabaseError: SQLite's directory cannot be made.
    """
    options: dict[str, Any] = {"pool_size": 1, "max_overflow": 0} if writes else {"pool_size": 8, "max_overflow": 32}
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            if parsed.database in {None, "", ":memory:"}:
                raise SettingsError("invalid_setting", "database: an in-memory SQLite cannot be shared; name a file.")
            Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
            options["connect_args"] = {"timeout": BUSY_TIMEOUT_S, "check_same_thread": False}
        else:
            options["pool_pre_ping"] = True
        engine = create_engine(parsed, json_serializer=_dumps, json_deserializer=orjson.loads, **options)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise SettingsError(
            "invalid_setting",
            f"database: found {url!r}, expected a file's path, sqlite:///PATH or postgresql+psycopg://... ({error}). "
            "For PostgreSQL: pip install 'gradwatch[postgres]'.",
        ) from error
    except OSError as error:
        raise DatabaseError("database_unavailable", f"Cannot make the database's directory: {error}") from error
    if engine.dialect.name == "sqlite":
        _prepare_sqlite(engine, begin="BEGIN IMMEDIATE" if writes else "BEGIN")
    return engine


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


def _prepare_sqlite(engine: Engine, begin: str) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _: object) -> None:
        # The driver's own idea of when a transaction begins leaves reads outside of it.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        # An acknowledged message survives the machine's power cut, not only the server's death; grouping pays for it.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def take(connection: Connection) -> None:
        connection.exec_driver_sql(begin)
