"""Opens the database and hands out what works on it. Knows nothing of sockets, requests or health."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from gradwatch_server.errors import DatabaseError
from gradwatch_server.settings import Settings
from gradwatch_server.store.columns import ColumnsCache
from gradwatch_server.store.database import open_engine
from gradwatch_server.store.migrate import migrate
from gradwatch_server.store.numbers import Numbers
from gradwatch_server.store.writer import Writer

__all__ = ["Store"]


class Store:
    """The open database.

    Args:
        settings: which database, and how much may be cached.

    Attributes:
        writer: takes what is to be written.
        columns: the cache of decoded runs.
        numbers: what the page draws.

    Raises:
        SettingsError: the database's URL cannot be used.
        NewerDatabaseError: it was written by a newer gradwatch.
        DatabaseError: it cannot be opened.
    """

    def __init__(self, settings: Settings) -> None:
        url = settings.database_url
        self._write_engine = open_engine(url, writes=True)
        self._read_engine = open_engine(url, writes=False)
        try:
            migrate(self._write_engine)
        except SQLAlchemyError as error:
            self._dispose()
            raise DatabaseError(
                "database_unavailable",
                f"Cannot open the database {self._write_engine.url.render_as_string(hide_password=True)}: "
                f"{getattr(error, 'orig', None) or error}. Check the path and its permissions, or choose another "
                "with --database or GRADWATCH_DATABASE.",
            ) from error
        except DatabaseError:
            self._dispose()
            raise
        self.writer = Writer(self._write_engine)
        self.columns = ColumnsCache(self._read_engine, settings.cache_limit_bytes)
        self.numbers = Numbers(self.columns)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lends a connection for reading; each caller has its own."""
        with self._read_engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Commits what was submitted and lets go of the database. Idempotent."""
        self.writer.close()
        self._dispose()

    def _dispose(self) -> None:
        self._read_engine.dispose()
        self._write_engine.dispose()
