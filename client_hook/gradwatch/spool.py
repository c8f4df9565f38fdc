"""What waits until the server has acknowledged it: the newest in memory, the rest in a bounded file.

Owns the numbering of a run's log, what is kept where, and what is dropped when there is no more room (the columns of
inputs first, then rows, then logged scalars, the oldest first; never a tensor table, never the end of the run). What is
dropped is counted, and its place in the log is kept. Owns no thread and no socket: `gradwatch.sender` decides when to
write to disk.
"""

from __future__ import annotations

import collections
import itertools
import os
import sqlite3
import threading
import time
import weakref
from pathlib import Path
from typing import Any, Final

from gradwatch._gaps import Gap, Gaps
from gradwatch._spool_file import Kept, SpoolFile
from gradwatch.errors import ProtocolError, SpoolError
from gradwatch.protocol import MESSAGE_SIZE_LIMIT_BYTES, encode

__all__ = ["Spool", "spool_path", "spools"]

MIB: Final = 1024 * 1024
RANK: Final = {"columns": 0, "rows": 1, "scalars": 2}
"""Who is dropped first when room is short; a type that is not here is never dropped."""
MESSAGE_OVERHEAD_BYTES: Final = 200
GAP_OVERHEAD_BYTES: Final = 450
"""What Python spends on keeping a message beside its payload, and on a gap (both measured with tracemalloc)."""
LOCK_AT_FORK_TIMEOUT_S: Final = 1.0


def spool_path(directory: Path, run_id: str, worker: int = 0) -> Path:
    """Gives the file in which a run's messages wait, under ``GRADWATCH_DIR``."""
    return directory / "spool" / (f"{run_id}.{worker}.db" if worker else f"{run_id}.db")


def spools(directory: Path) -> list[Path]:
    """Gives the files of waiting messages under ``GRADWATCH_DIR``, the oldest first."""
    found = [(path.stat().st_mtime, path) for path in (directory / "spool").glob("*.db")]
    return [path for _, path in sorted(found)]


class Spool:
    """The messages of one worker of one run that the server has not acknowledged. Thread-safe.

    `put` never touches the disk. Trouble with the disk is never raised: it is told by `disk_error`, messages then
    stay in memory, and beyond ``memory_limit_bytes`` they are dropped.

    Args:
        path: the file to use when something must go to disk; it must not exist.
        memory_limit_bytes: never held in memory more than this, beside one newest message.
        disk_limit_bytes: never more than this in the file.

    Attributes:
        path: the file.
        hello: how the run presents itself; kept in the file, so that another process can deliver it.
        newest_seq: the seq of the newest message, -1 before the first.
        acknowledged_seq: the server has everything up to and with this.
        n_dropped: rows dropped for want of room.
        n_rows_waiting: rows kept, in memory and on disk.
        newest_payload: the newest message, encoded; kept when it is acknowledged, to ask for findings with it again.
        disk_error: why the file could not be used when it was last tried, None while all is well.
    """

    def __init__(self, path: Path, *, memory_limit_bytes: int = 32 * MIB, disk_limit_bytes: int = 1024 * MIB) -> None:
        self.path = path
        self.hello: dict[str, Any] | None = None
        self.newest_seq = -1
        self.acknowledged_seq = -1
        self.n_dropped = 0
        self.n_rows_waiting = 0
        self.newest_payload: bytes | None = None
        self.disk_error: str | None = None
        self.disk_limit_bytes = disk_limit_bytes
        self._memory_limit_bytes = memory_limit_bytes
        self._memory: dict[int, Kept] = {}  # in the order of the log
        self._memory_bytes = 0
        self._expendable: tuple[collections.deque[int], ...] = tuple(collections.deque() for _ in RANK)
        self._lasting: dict[int, Kept] = {}  # for a server that forgot the run; small, and few
        self._first_scalar = ""
        self._gaps = Gaps()
        self._file: SpoolFile | None = None
        self._is_closed = self._is_discarded = False
        # `_disk_lock` is held while the file is used, `_lock` only while memory is; never taken in the other order.
        self._disk_lock, self._lock = threading.Lock(), threading.Lock()
        _alive.add(self)

    @classmethod
    def open_left_over(cls, path: Path) -> Spool:
        """Opens what an earlier process left, and keeps every other process from it.

        Raises:
            SpoolError: no such file, not a spool, or the process that writes it is alive.
        """
        spool = cls(path)
        file = SpoolFile.open_left_over(path)
        try:
            meta = file.read_meta()
            spool.hello, spool._gaps = meta["hello"], Gaps(meta.get("gaps"))
            spool._lasting = {fields[0]: Kept(*fields) for fields in meta.get("lasting", [])}
            ranges = [one for one in (file.seq_range(), spool._gaps.seq_range()) if one[1] >= 0]
            spool.n_rows_waiting = file.n_rows()
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            file.close()
            raise SpoolError(path, f"not readable ({error})", "a spool that gradwatch wrote") from error
        spool._file = file
        spool.newest_seq = max((last for _, last in ranges), default=-1)
        spool.acknowledged_seq = min((first for first, _ in ranges), default=0) - 1
        return spool

    @property
    def n_waiting(self) -> int:
        """The messages that the server has not acknowledged."""
        return self.newest_seq - self.acknowledged_seq

    @property
    def memory_bytes(self) -> int:
        """What is held in memory."""
        return self._memory_bytes + GAP_OVERHEAD_BYTES * len(self._gaps)

    @property
    def is_crowded(self) -> bool:
        """Memory is half full: time to write to disk."""
        return self.memory_bytes > self._memory_limit_bytes // 2

    def put(self, message: dict[str, Any]) -> int:
        """Gives a logged message its place, and keeps it. Does not wait for the disk.

        Args:
            message: a message of the contract; a ``seq`` in it is replaced.

        Returns:
            Its seq.

        Raises:
            ProtocolError: it cannot be encoded, or is too large and cannot be dropped.
        """
        kind = message["type"]
        with self._lock:
            if self._is_discarded:
                return self.newest_seq
            seq = self.newest_seq + 1
            payload = encode({**message, "seq": seq})
            rank = RANK.get(kind)
            is_too_large = len(payload) > MESSAGE_SIZE_LIMIT_BYTES
            if is_too_large and rank is None:
                raise ProtocolError(f"a {kind!r} message of {len(payload)} bytes is too large to send")
            self.newest_seq = seq
            # A step that is lost is one without its row; the columns only say more of an input in it.
            n_rows = 0 if kind == "columns" else int(message.get("n_rows", 0))
            kept = Kept(seq, rank, message.get("stream"), n_rows, payload)
            self.n_rows_waiting += kept.n_rows
            if kind == "scalars" and not self._first_scalar:
                self._first_scalar = message["name"]
            if is_too_large or self._is_closed:
                self._lose(kept)
                return seq
            if rank is None:
                self._lasting[seq] = kept
            self.newest_payload = payload
            self._memory[seq] = kept
            self._memory_bytes += len(payload) + MESSAGE_OVERHEAD_BYTES
            if rank is not None:
                self._expendable[rank].append(seq)
            self._shrink_memory()
        return seq

    def read_after(self, seq: int, *, limit_bytes: int, limit_messages: int) -> list[tuple[int, bytes]]:
        """Gives what follows ``seq`` in the log, without a hole, from disk and memory.

        Args:
            seq: not before what was acknowledged (see `rewind`).
            limit_bytes: stop when the payloads reach this; at least one message is given.
            limit_messages: stop after so many.

        Returns:
            Pairs of seq and encoded message.
        """
        found: list[tuple[int, bytes]] = []
        while len(found) < limit_messages and limit_bytes > 0 and seq < self.newest_seq:
            payload = self._find_in_memory(seq + 1)
            more = (
                [(seq + 1, payload)]
                if payload is not None
                else self._find_on_disk(seq + 1, limit_bytes=limit_bytes, limit_messages=limit_messages - len(found))
            )
            found += more
            limit_bytes -= sum(len(payload) for _, payload in more)
            seq += len(more)
        return found

    def acknowledge(self, seq: int) -> None:
        """Lets go of everything up to and with ``seq``."""
        with self._lock:
            if seq <= self.acknowledged_seq:
                return
            self.acknowledged_seq = seq
            self._gaps.discard_through(seq)
            done = list(itertools.takewhile(lambda one: one <= seq, self._memory))
            for one in done:
                self.n_rows_waiting -= self._forget(one).n_rows
        with self._disk_lock:
            if self._file is None:
                return
            try:
                n_rows = self._file.delete_through(seq)
            except sqlite3.Error as error:
                self.disk_error = str(error)
                return
            with self._lock:
                self.n_rows_waiting -= n_rows
                is_over = not self._file.n_messages and not len(self._gaps)
            if is_over:
                self._file.remove()
                self._file = None

    def rewind(self, seq: int) -> int:
        """Prepares for a server that no longer has what it acknowledged (its database was replaced).

        The tensor tables come again; all rows after ``seq`` that were acknowledged leave a gap.

        Returns:
            How many messages the server will not see.
        """
        with self._lock:
            lost = 0
            filler: int | str = self._first_scalar or "loss"
            for one in range(seq + 1, self.acknowledged_seq + 1):
                if one in self._lasting:
                    self._bring_back(self._lasting[one])
                    stream = self._lasting[one].stream
                    filler = filler if stream is None else stream
                else:
                    self._gaps.add(Gap(one, one, filler, {}))
                    lost += 1
            self.acknowledged_seq = min(seq, self.acknowledged_seq)
            return lost

    def to_disk(self) -> None:
        """Moves what is in memory to the file. Never raises for disk trouble: see `disk_error`."""
        with self._disk_lock:
            with self._lock:
                batch = dict(self._memory)
            if self._is_closed or (not batch and self._file is None):
                return
            try:
                file = self._file = self._file or self._create_file()
                self._make_room(file, batch)
                with self._lock:
                    gaps = self._gaps.to_list()
                file.write(sorted(batch.values()), {"gaps": gaps})
                with self._lock:
                    dropped_meanwhile = [seq for seq in batch if self._gaps.find(seq) is not None]
                file.delete(dropped_meanwhile)
            except (sqlite3.Error, OSError) as error:
                self.disk_error = str(error)
                return
            self.disk_error = None
            with self._lock:
                for seq in batch.keys() & self._memory.keys():
                    self._forget(seq)

    def close(self) -> bool:
        """Leaves what waits on disk, and lets go of the file. Idempotent.

        What the disk does not take is dropped, and counted.

        Returns:
            Nothing waits: the server has everything.
        """
        self.to_disk()
        with self._disk_lock:
            self._is_closed = True
            with self._lock:
                for seq in list(self._memory):
                    self._lose(self._forget(seq))
            if self._file is not None:
                if self.n_waiting:
                    self._file.close()
                else:
                    self._file.remove()
                self._file = None
        return self.n_waiting == 0

    def discard(self) -> None:
        """Forgets what waits, and keeps nothing from now on: nobody wants it any more."""
        with self._disk_lock, self._lock:
            if self._file is not None:
                self._file.remove()
            self._empty()

    def disown(self) -> None:
        """Makes this a copy that keeps nothing, in a forked process; the parent delivers."""
        self._empty()

    def _empty(self) -> None:
        self._is_closed = self._is_discarded = True
        self._memory, self._file, self._gaps = {}, None, Gaps()
        self._memory_bytes = self.n_rows_waiting = 0
        self.acknowledged_seq = self.newest_seq

    def _create_file(self) -> SpoolFile:
        file = SpoolFile(self.path, create=True)
        try:
            file.write([], {"hello": self.hello, "lasting": [list(kept) for kept in self._lasting.values()]})
        except (sqlite3.Error, OSError):
            file.remove()
            raise
        return file

    def _forget(self, seq: int) -> Kept:
        kept = self._memory.pop(seq)
        self._memory_bytes -= len(kept.payload) + MESSAGE_OVERHEAD_BYTES
        return kept

    def _bring_back(self, kept: Kept) -> None:
        self._memory = dict(sorted([*self._memory.items(), (kept.seq, kept)]))
        self._memory_bytes += len(kept.payload) + MESSAGE_OVERHEAD_BYTES

    def _lose(self, kept: Kept) -> None:
        """Counts a message as dropped, and keeps its place."""
        self.n_dropped += kept.n_rows
        self.n_rows_waiting -= kept.n_rows
        has_stream = kept.stream is not None
        filler: int | str = kept.stream if kept.stream is not None else (self._first_scalar or "loss")
        self._gaps.add(Gap(kept.seq, kept.seq, filler, {int(filler): kept.n_rows} if has_stream else {}))

    def _shrink_memory(self) -> None:
        """Drops the oldest that may go while memory is over its bound; never the newest message."""
        for seqs in self._expendable:
            while seqs and (self.memory_bytes > self._memory_limit_bytes or seqs[0] not in self._memory):
                if seqs[0] == self.newest_seq:
                    break
                seq = seqs.popleft()
                if seq in self._memory:
                    self._lose(self._forget(seq))

    def _make_room(self, file: SpoolFile, batch: dict[int, Kept]) -> None:
        """Drops the oldest that may go, from the file and then from what comes to it, until all fits."""
        excess = file.size_bytes + sum(len(kept.payload) for kept in batch.values()) - self.disk_limit_bytes
        for rank in RANK.values():
            while excess > 0 and (victims := file.read_expendable(rank, limit=64)):
                enough = []
                for kept, size in victims:
                    enough.append(kept)
                    excess -= size
                    if excess <= 0:
                        break
                file.delete(kept.seq for kept in enough)
                with self._lock:
                    for kept in enough:
                        self._lose(kept)
            for kept in [kept for _, kept in sorted(batch.items()) if kept.rank == rank]:
                if excess <= 0:
                    return
                excess -= len(batch.pop(kept.seq).payload)
                with self._lock:
                    if kept.seq in self._memory:
                        self._lose(self._forget(kept.seq))

    def _find_in_memory(self, seq: int) -> bytes | None:
        with self._lock:
            if seq in self._memory:
                return self._memory[seq].payload
            gap = self._gaps.find(seq)
            return encode(gap.stand_in(seq)) if gap is not None else None

    def _find_on_disk(self, seq: int, *, limit_bytes: int, limit_messages: int) -> list[tuple[int, bytes]]:
        with self._disk_lock:
            found: list[Kept] = []
            n_rows_on_disk = 0
            if self._file is not None:
                try:
                    found = self._file.read_from(seq, limit_bytes=limit_bytes, limit_messages=limit_messages)
                    if not found or found[0].seq != seq:
                        n_rows_on_disk = self._file.n_rows()
                except sqlite3.Error as error:
                    self.disk_error = str(error)
        whole = [kept for place, kept in enumerate(found) if kept.seq == seq + place]
        if not whole:
            self._give_up_hole(seq, found[0].seq if found else None, n_rows_on_disk)
        return [(kept.seq, kept.payload) for kept in whole]

    def _give_up_hole(self, seq: int, end: int | None, n_rows_on_disk: int) -> None:
        """Makes a gap of messages that the file should hold and does not: it was damaged, or its process killed."""
        with self._lock:
            ends = [
                one for one in (end, min((one for one in self._memory if one > seq), default=None)) if one is not None
            ]
            end = min(ends, default=self.newest_seq + 1)
            n_rows = self.n_rows_waiting - sum(kept.n_rows for kept in self._memory.values()) - n_rows_on_disk
            for one in range(seq, end):
                if one in self._lasting:
                    self._bring_back(self._lasting[one])
                elif self._gaps.find(one) is None:
                    self._lose(Kept(one, 0, max(self._streams_before(one), default=None), n_rows, b""))
                    n_rows = 0

    def _streams_before(self, seq: int) -> list[int]:
        return [kept.stream for kept in self._lasting.values() if kept.seq < seq and kept.stream is not None]


_alive: weakref.WeakSet[Spool] = weakref.WeakSet()
_locked_for_fork: list[threading.Lock] = []


def _before_fork() -> None:
    """Keeps a child from being born in the middle of a transaction: closing its copy would roll the parent's back."""
    deadline = time.monotonic() + LOCK_AT_FORK_TIMEOUT_S
    locks = [lock for spool in list(_alive) for lock in (spool._disk_lock, spool._lock)]
    _locked_for_fork.extend(lock for lock in locks if lock.acquire(timeout=max(0.0, deadline - time.monotonic())))


def _after_fork_in_parent() -> None:
    while _locked_for_fork:
        _locked_for_fork.pop().release()


def _after_fork_in_child() -> None:
    _after_fork_in_parent()
    for spool in list(_alive):
        spool.disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
