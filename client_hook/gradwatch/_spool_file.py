"""The file in which a spool's messages wait: one SQLite database. Owns its schema, its lock and its size.

Owns neither the choice of what goes to disk nor what is dropped for want of room (`gradwatch.spool`).
The whole file is locked by the process that opened it, so that nothing is delivered twice at once;
the operating system releases the lock when that process dies, however it dies.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgpack

from gradwatch.errors import SpoolError

__all__ = ["Kept", "SpoolFile"]

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE messages (
    seq INTEGER PRIMARY KEY, rank INTEGER, stream INTEGER, n_rows INTEGER NOT NULL, payload BLOB NOT NULL
);
CREATE INDEX by_rank ON messages (rank, seq);
"""


class Kept(NamedTuple):
    """One encoded message that waits for its acknowledgement.

    Attributes:
        seq: its place in the run's log.
        rank: who goes first when room is short, 0 first; None never goes.
        stream: the optimizer's stream, None where the message has none.
        n_rows: rows that would be lost with it.
        payload: the encoded message.
    """

    seq: int
    rank: int | None
    stream: int | None
    n_rows: int
    payload: bytes


class SpoolFile:
    """Messages in one SQLite file. Not thread-safe; every method may raise `sqlite3.Error`.

    Attributes:
        path: the file.
        size_bytes: the payloads in it (the file itself can be larger: SQLite reuses freed pages).
        n_messages: how many they are.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        """Creates the file, or opens one that was left over.

        Raises:
            sqlite3.Error: the file cannot be created, opened or locked.
            OSError: its folder cannot be created.
        """
        self.path = path
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        # A thread other than the sender's closes the file at exit; the spool's lock keeps them apart.
        self._connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            # The journal keeps the file whole when the process is killed; only a power cut could hurt it.
            for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=DELETE", "synchronous=OFF"):
                self._connection.execute(f"PRAGMA {pragma}").fetchall()
            with self._transaction():
                if create:
                    for statement in _SCHEMA.strip().split(";\n"):
                        self._connection.execute(statement)
                self.n_messages, self.size_bytes, _ = self._count("")
        except sqlite3.Error:
            self._connection.close()
            raise

    @classmethod
    def open_left_over(cls, path: Path) -> SpoolFile:
        """Opens a file that an earlier process left, and takes its lock.

        Raises:
            SpoolError: there is no such file, it is no spool, or a process that is alive holds it.
        """
        if not path.is_file():
            raise SpoolError(path, "no such file", "the path of a spool, as `gradwatch sync` lists them")
        try:
            return cls(path, create=False)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise SpoolError(
                    path, "a running process holds it", "a run that has ended; it delivers by itself"
                ) from error
            raise SpoolError(path, str(error), "a spool that gradwatch wrote") from error
        except sqlite3.Error as error:
            raise SpoolError(path, str(error), "a spool that gradwatch wrote") from error

    def write(self, kept: Iterable[Kept], meta: dict[str, Any]) -> None:
        """Adds messages, and puts ``meta`` in place of what was there, in one transaction."""
        kept = list(kept)
        with self._transaction():
            self._connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", kept)
            self._connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [(key, msgpack.packb(value)) for key, value in meta.items()],
            )
        self.n_messages += len(kept)
        self.size_bytes += sum(len(one.payload) for one in kept)

    def read_meta(self) -> dict[str, Any]:
        """Gives what `write` kept beside the messages."""
        rows = self._connection.execute("SELECT key, value FROM meta").fetchall()
        return {key: msgpack.unpackb(value, strict_map_key=False) for key, value in rows}

    def read_from(self, seq: int, *, limit_bytes: int, limit_messages: int) -> list[Kept]:
        """Gives messages from ``seq`` on, until their payloads reach ``limit_bytes``."""
        found: list[Kept] = []
        cursor = self._connection.execute("SELECT * FROM messages WHERE seq >= ? ORDER BY seq", (seq,))
        with contextlib.closing(cursor):
            for row in cursor:
                found.append(Kept(*row))
                limit_bytes -= len(found[-1].payload)
                if limit_bytes <= 0 or len(found) >= limit_messages:
                    break
        return found

    def read_expendable(self, rank: int, *, limit: int) -> list[tuple[Kept, int]]:
        """Gives the oldest messages of a rank, without payload, each with the size of its payload."""
        rows = self._connection.execute(
            "SELECT seq, rank, stream, n_rows, length(payload) FROM messages WHERE rank = ? ORDER BY seq LIMIT ?",
            (rank, limit),
        )
        return [(Kept(seq, rank, stream, n_rows, b""), size) for seq, rank, stream, n_rows, size in rows]

    def seq_range(self) -> tuple[int, int]:
        """Gives the oldest and the newest seq in the file; (0, -1) if it is empty."""
        first, last = self._connection.execute("SELECT min(seq), max(seq) FROM messages").fetchone()
        return (0, -1) if first is None else (first, last)

    def n_rows(self) -> int:
        """Gives the rows in all messages."""
        return self._count("")[2]

    def delete(self, seqs: Iterable[int]) -> int:
        """Removes the messages named; gives the number of rows in them."""
        return sum(self._delete(f"WHERE seq = {seq:d}") for seq in seqs)

    def delete_through(self, seq: int) -> int:
        """Removes all messages up to and with ``seq``; gives the number of rows in them."""
        return self._delete(f"WHERE seq <= {seq:d}")

    def close(self) -> None:
        """Releases the file and its lock."""
        self._connection.close()

    def remove(self) -> None:
        """Closes and deletes the file."""
        self.close()
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def _delete(self, where: str) -> int:
        with self._transaction():
            n_messages, size_bytes, n_rows = self._count(where)
            self._connection.execute(f"DELETE FROM messages {where}")  # noqa: S608 - only numbers come in
        self.n_messages -= n_messages
        self.size_bytes -= size_bytes
        return n_rows

    def _count(self, where: str) -> tuple[int, int, int]:
        query = f"SELECT count(*), coalesce(sum(length(payload)), 0), coalesce(sum(n_rows), 0) FROM messages {where}"  # noqa: S608 - only numbers come in
        n_messages, size_bytes, n_rows = self._connection.execute(query).fetchone()
        return n_messages, size_bytes, n_rows

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN EXCLUSIVE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # on a full disk SQLite has rolled back already
                self._connection.execute("ROLLBACK")
            raise
