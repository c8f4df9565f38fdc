"""Delivers what the hook records: one daemon thread with an event loop of its own.

Owns the thread, the retries and what the user is told about them. What is said on a connection is `_connection`'s,
what waits is `spool`'s. Nothing here may harm the training: `Sender.put` never waits and never raises.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.client import backoff

from gradwatch._connection import Conversation, Endpoint, Failure, Timing, as_error, explain
from gradwatch.errors import GradwatchError, ProtocolError, ServerError, ServerTimeoutError
from gradwatch.protocol import PROTOCOL_VERSION, encode
from gradwatch.spool import Spool, spools

__all__ = ["Sender", "deliver", "spools"]

DEFAULT_TIMING = Timing()
STEADY_S = 10.0
"""A connection that held this long is a good one: the next failure begins again with a short wait."""


class Sender:
    """Delivers one worker's messages to the server, in order, each once, as long as the process lives.

    Args:
        url: the server's address, e.g. ``http://127.0.0.1:8470``.
        token: the server's token, if it has one.
        run: how the run presents itself, the ``run`` of ``hello``.
        worker: which of the run's processes this is, from 0.
        spool: where messages wait; the sender closes it.
        on_findings: called in the sender's thread with the run's findings whenever the server sends them.
        on_notice: called in the sender's thread with a line for the user, each said once.
        on_control: called in the sender's thread with what a person asks for, a ``control`` message.
        timing: how long to wait for what.

    Attributes:
        busy_s: processor time that the thread has used, in seconds, as of its last message.

    Raises:
        ConfigurationError: ``url`` or ``token`` cannot be used.
        ProtocolError: ``run`` holds values that cannot be sent.
    """

    def __init__(
        self,
        *,
        url: str,
        token: str | None,
        run: dict[str, Any],
        worker: int,
        spool: Spool,
        on_findings: Callable[[list[dict[str, Any]]], None],
        on_notice: Callable[[str], None],
        on_control: Callable[[dict[str, Any]], None] = lambda _control: None,
        timing: Timing = DEFAULT_TIMING,
    ) -> None:
        spool.hello = {"type": "hello", "protocol": PROTOCOL_VERSION, "run": run, "worker": worker}
        encode(spool.hello)
        self._endpoint = Endpoint(url, token)
        self._spool, self._timing = spool, timing
        self._on_findings, self._on_notice, self._on_control = on_findings, on_notice, on_control
        self._said: set[str] = set()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="gradwatch-sender", daemon=True)
        self._news = threading.Condition()
        self._findings: list[dict[str, Any]] = []
        self._findings_through = -1
        self._refusal: GradwatchError | None = None
        self._is_connected = self._was_connected = self._is_away = self._has_failed = False
        self._is_delivered: bool | None = None
        self.busy_s = 0.0
        # Of the thread's event loop:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_woken = False
        self._closing_at: float | None = None

    @property
    def is_connected(self) -> bool:
        """The server has accepted the run on a connection that stands."""
        return self._is_connected

    @property
    def ever_connected(self) -> bool:
        """The server has accepted the run at least once."""
        return self._was_connected

    @property
    def n_lost(self) -> int:
        """Rows dropped for want of room."""
        return self._spool.n_dropped

    def start(self) -> None:
        """Starts to deliver."""
        self._thread.start()

    def put(self, message: dict[str, Any]) -> None:
        """Takes a logged message for delivery; its ``seq`` is given here. Never waits, never raises.

        In a forked process it does nothing: the parent delivers.
        """
        if os.getpid() != self._pid:
            return
        try:
            self._spool.put(message)
        except ProtocolError as error:
            self._say("message", f"a message cannot be sent and is left out: {error}")
            return
        self._wake()

    def wait_for_findings(self, timeout_s: float) -> list[dict[str, Any]]:
        """Waits until the server has judged everything that was put before the call.

        Args:
            timeout_s: how long to wait, in seconds.

        Returns:
            The run's findings, the leading one first.

        Raises:
            ServerTimeoutError: the server's word did not come in time.
            ServerError: the server refused the run.
        """
        if os.getpid() != self._pid:
            raise ServerTimeoutError("this process was forked from the one that is watched: ask there")
        wanted = self._spool.newest_seq
        with self._news:
            self._news.wait_for(lambda: self._findings_through >= wanted or self._refusal is not None, timeout_s)
            if self._findings_through >= wanted:
                return list(self._findings)
            if self._refusal is not None:
                raise self._refusal
        state = "has not answered" if self._is_connected else "cannot be reached"
        raise ServerTimeoutError(f"the server at {self._endpoint.address} {state} within {timeout_s:g} s")

    def close(self, timeout_s: float) -> bool:
        """Tries to deliver what waits, and leaves the rest on disk for `deliver`. Idempotent.

        A server that is not there and never was is asked once more, and not waited for.

        Args:
            timeout_s: how long to try, in seconds.

        Returns:
            The server has everything.
        """
        if os.getpid() != self._pid:
            return True
        if self._is_delivered is None:
            self._closing_at = time.monotonic() + timeout_s
            self._wake()
            if self._thread.is_alive():
                self._thread.join(timeout_s + 2 * self._timing.close_s)
            # The thread may still hang in a name look-up: the spool's locks keep it and us apart.
            self._is_delivered = self._spool.close()
            self._say_what_is_left()
        return self._is_delivered

    def _say_what_is_left(self) -> None:
        spool = self._spool
        if spool.n_rows_waiting:
            self._say("left", f"{spool.n_rows_waiting} rows wait in {spool.path}; `gradwatch sync` delivers them")
        if spool.n_dropped:
            why = f"{spool.path}: {spool.disk_error}" if spool.disk_error else "no room was left"
            self._say("dropped in all", f"{spool.n_dropped} rows were dropped: {why}")

    def _say(self, key: str, text: str) -> None:
        """Tells the user something once."""
        if key not in self._said:
            self._said.add(key)
            with contextlib.suppress(Exception):  # the boundary: a closed stdout must not end the thread
                self._on_notice(text)

    # From here on, but for `_wake`, everything runs in the sender's thread.

    def _wake(self) -> None:
        loop = self._loop
        if loop is None or self._is_woken:
            return
        self._is_woken = True
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(self._look)

    def _run(self) -> None:
        loop = _EventLoop()
        try:
            loop.run_until_complete(self._deliver())
        except Exception as error:  # the boundary: the hook must not harm training
            self._say("stopped", f"delivery stopped: {type(error).__name__}: {error}")
        finally:
            self._loop = None
            self._is_connected = False
            loop.run_until_complete(asyncio.sleep(0))  # an aborted connection takes one more turn to let go
            loop.close()

    async def _deliver(self) -> None:
        self._attention = asyncio.Event()
        self._closing = asyncio.Event()
        self._conversation = Conversation(
            spool=self._spool,
            timing=self._timing,
            on_welcome=self._take_welcome,
            on_progress=self._take_progress,
            on_findings=self._take_findings,
            on_control=self._take_control,
            on_error=lambda error: self._say(f"error {error.code}", explain(error, self._endpoint).text),
            on_forgotten=self._take_loss,
        )
        self._loop = asyncio.get_running_loop()
        tasks = [asyncio.ensure_future(one) for one in (self._keep_trying(), self._keep_memory_small(), self._expire())]
        self._look()
        try:
            # Trying ends when all is delivered; the other two when there is no time left.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    def _look(self) -> None:
        """Passes on that there is something new: a message, or the wish to close."""
        self._is_woken = False
        self.busy_s = time.thread_time()
        self._attention.set()
        self._conversation.changed.set()
        if self._closing_at is not None:
            self._conversation.is_draining = True
            self._closing.set()

    async def _expire(self) -> None:
        await self._closing.wait()
        await asyncio.sleep(max(0.0, (self._closing_at or 0.0) - time.monotonic()))

    async def _keep_memory_small(self) -> None:
        while True:
            await self._attention.wait()
            self._attention.clear()
            if self._is_away or self._spool.is_crowded:
                self._spool.to_disk()
            if self._spool.disk_error is not None:
                self._say(
                    "disk",
                    f"rows cannot wait on disk in {self._spool.path} ({self._spool.disk_error}); "
                    "they wait in memory, and the oldest are dropped when there are too many",
                )
            if self._spool.n_dropped:
                self._say("dropped", "too much waits for the server: the oldest rows are dropped, and counted")

    async def _keep_trying(self) -> None:
        delays: Generator[float, None, None] | None = None
        while True:
            began = time.monotonic()
            self._conversation.made_progress = False
            try:
                websocket = await self._endpoint.connect(self._timing)
                try:
                    await self._conversation.hold(websocket)
                    return
                finally:
                    await _hang_up(websocket)
            except Exception as error:  # the boundary: whatever it is, it is said, and the training goes on
                failure = explain(error, self._endpoint)
                self._take_failure(failure, error)
            finally:
                self._is_connected = False
            if self._closing.is_set() and (failure.is_fatal or not self._was_connected):
                return
            if failure.is_fatal:
                await self._closing.wait()
                return
            # Not the library's own loop of retries: that one comes back at once to a server that accepts and hangs up.
            if delays is None or self._conversation.made_progress or time.monotonic() - began > STEADY_S:
                delays = backoff(self._timing.retry_first_s, self._timing.retry_least_s, self._timing.retry_most_s, 1.5)
            await self._rest(next(delays) * random.uniform(0.7, 1.0))  # noqa: S311 - jitter, no secret

    async def _rest(self, delay_s: float) -> None:
        """Waits, but not through the wish to close: then one more attempt is made at once."""
        if self._closing.is_set():
            await asyncio.sleep(delay_s)
            return
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            await asyncio.wait_for(self._closing.wait(), delay_s)

    def _take_failure(self, failure: Failure, error: BaseException) -> None:
        self._is_away = self._has_failed = True
        self._attention.set()
        if failure.is_unwanted:
            self._spool.discard()
            self._say(failure.key, f"{failure.text}; training goes on, and is no longer recorded")
        else:
            put_right = "; `gradwatch sync` delivers it when that is put right"
            then = put_right if failure.is_fatal else " and is delivered when the server answers"
            waiting = f"what is recorded waits in {self._spool.path}{then}"
            self._say(failure.key, f"{failure.text}; training goes on, {waiting}")
        if failure.is_fatal:
            with self._news:
                self._refusal = as_error(failure, error)
                self._news.notify_all()

    def _take_welcome(self) -> None:
        self._is_connected = self._was_connected = True
        self._is_away = False

    def _take_progress(self) -> None:
        if self._has_failed:
            self._has_failed = False
            self._say("back", f"the server at {self._endpoint.address} answers; what waited is delivered")

    def _take_loss(self, n_messages: int) -> None:
        """The server forgot the run, and with it what it had judged."""
        with self._news:
            self._findings, self._findings_through = [], -1
        self._say(
            "forgotten",
            f"the server at {self._endpoint.address} no longer has {n_messages} messages of this run that it had taken "
            "(another database?); the run goes on there from now",
        )

    def _take_findings(self, through_seq: int, findings: list[dict[str, Any]]) -> None:
        with self._news:
            self._findings, self._findings_through = findings, through_seq
            self._news.notify_all()
        try:
            self._on_findings(findings)
        except Exception as error:  # the boundary: what the findings are used for must not end the delivery
            self._say("findings", f"the findings could not be used: {type(error).__name__}: {error}")

    def _take_control(self, control: dict[str, Any]) -> None:
        try:
            self._on_control(control)
        except Exception as error:  # the boundary: what cannot be done must not end the delivery
            self._say("control", f"what was asked for could not be done: {type(error).__name__}: {error}")


async def _hang_up(websocket: ClientConnection) -> None:
    """Says goodbye, and lets go of the socket even when the time runs out in the middle of it."""
    try:
        await websocket.close()
    finally:
        websocket.transport.abort()


class _EventLoop(asyncio.SelectorEventLoop):
    """An event loop that finds hosts even while the interpreter exits."""

    async def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:
        """Looks a host up in an executor, or right here when executors take no more work."""
        try:
            return await super().getaddrinfo(*args, **kwargs)
        except RuntimeError:
            return socket.getaddrinfo(*args, **kwargs)


def deliver(path: Path, url: str, token: str | None, *, timeout_s: float, keeps_deleted: bool = False) -> int:
    """Delivers what an earlier process left in a spool, and removes the file.

    Args:
        path: one of `spools`.
        url: the server's address.
        token: the server's token, if it has one.
        timeout_s: how long to wait for the server at each turn, in seconds; a long backlog may take longer in all.
        keeps_deleted: leave the file where the server says that the run was deleted; it is removed otherwise.

    Returns:
        The number of messages delivered.

    Raises:
        SpoolError: no such file, not a spool, or its run is still going.
        ServerError: there is no server, or it refused; ``run_deleted`` where the run was deleted there.
        ServerTimeoutError: it stopped answering.
        ProtocolError: what answers is no gradwatch server.
    """
    endpoint = Endpoint(url, token)
    spool = Spool.open_left_over(path)
    try:
        n_waiting = spool.n_waiting
        asyncio.run(_deliver_once(spool, endpoint, timeout_s))
        return n_waiting - spool.n_waiting
    except ServerError as error:
        if error.code != "run_deleted":
            raise
        n_rows, fate = spool.n_rows_waiting, "kept" if keeps_deleted else "dropped"
        if not keeps_deleted:
            spool.discard()
        words = f"the run was deleted on the server at {endpoint.address}; {n_rows} rows that waited for it are {fate}"
        raise ServerError(error.code, words) from error
    finally:
        spool.close()


async def _deliver_once(spool: Spool, endpoint: Endpoint, timeout_s: float) -> None:
    timing = Timing(open_s=timeout_s, welcome_s=timeout_s, ack_s=timeout_s)
    problems: list[ServerError] = []
    conversation = Conversation(spool=spool, timing=timing, may_be_ahead=True, on_error=problems.append)
    conversation.is_draining = True
    try:
        async with endpoint.connect(timing) as websocket:
            await conversation.hold(websocket)
    except Exception as error:
        cause = problems[0] if problems else error  # the server's own words tell more than the silence after them
        raise as_error(explain(cause, endpoint), cause) from error
