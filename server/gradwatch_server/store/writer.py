"""The one thread that owns the one write connection. Owns transactions and their grouping, not what they write.

Jobs are functions of a connection. What has arrived while the last transaction was committed is done in one
transaction, so a busy server commits few times. If a job fails, the whole group is rolled back and its jobs are done
again one by one, so that a bad job fails alone.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from gradwatch_server.errors import DatabaseError

__all__ = ["Writer"]

Result = TypeVar("Result")
Job = tuple[Callable[[Connection], Any], "Future[Any]"]
GROUP_LIMIT = 256
"""Jobs in one transaction at most, so that the first of a long queue does not wait for the last."""


class Writer:
    """Does jobs in order of arrival, in grouped transactions.

    Args:
        engine: the engine that writes; the writer's thread alone uses it from here on.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="gradwatch-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[Connection], Result]) -> Future[Result]:
        """Queues a job.

        Args:
            job: called with the connection inside a transaction; must be safe to call twice, since it is called
                again after the group was rolled back on another's account.

        Returns:
            A future that is done when the job's transaction is committed, or failed.

        Raises:
            DatabaseError: the writer is closed.
        """
        future: Future[Result] = Future()
        # From here on it cannot be cancelled: what was submitted is done, even if nobody waits for it any more.
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._is_closed:
                raise DatabaseError("server_stopping", "The server is stopping and takes no more data; try again soon.")
            self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Drains and stops: everything submitted before is committed (or failed) when this returns.

        Idempotent; jobs submitted after it are refused.
        """
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (group := self._take()) is not None:
            try:
                self._commit(group)
            # Whatever it is belongs to the one who waits for the job, and the thread goes on.
            except BaseException as error:  # noqa: PERF203 a group is worth its own
                self._fail(group, error)

    def _take(self) -> list[Job] | None:
        first = self._jobs.get()
        if first is None:
            return None
        group = [first]
        while len(group) < GROUP_LIMIT:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            group.append(job)
        return group

    def _commit(self, group: list[Job]) -> None:
        with self._engine.begin() as connection:
            results = [job(connection) for job, _ in group]
        for (_, future), result in zip(group, results, strict=True):
            future.set_result(result)

    def _fail(self, group: list[Job], error: BaseException) -> None:
        if len(group) == 1:
            group[0][1].set_exception(error)
            return
        for job in group:
            try:
                self._commit([job])
            except BaseException as own:  # noqa: PERF203 see _work
                job[1].set_exception(own)
