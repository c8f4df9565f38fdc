"""The way to the browsers: the newest state of each run, coalesced and bounded. Owns ``/ws/live`` after its handshake.

A browser that reads slowly gets the newest state, never a backlog: for each run and type of message one is kept, and
a newer one takes its place.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import orjson

from gradwatch_server.errors import MessageError

__all__ = ["Hub", "Pace", "Subscriber", "read_subscription"]

Json = dict[str, Any]
ORDER = ("run", "progress", "findings", "deleted")
SUBSCRIPTION_LIMIT = 1000
"""Runs in one subscription at most; beyond it a page wants "all"."""
PACE_WINDOW_S = 10.0


class Send(Protocol):
    """Sends one text message; returns when the connection can take more."""

    async def __call__(self, text: str, /) -> None:
        """Sends."""


class Pace:
    """Steps per second over the last ten seconds of the training's own clock."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def note(self, time_s: float, step: int) -> None:
        """Notes that ``step`` was done at ``time_s`` (unix seconds)."""
        if self._marks and time_s < self._marks[-1][0]:
            return
        self._marks.append((time_s, step))
        while len(self._marks) > 2 and self._marks[1][0] <= time_s - PACE_WINDOW_S:
            self._marks.popleft()

    @property
    def steps_per_s(self) -> float | None:
        """The pace, None before two moments are known."""
        if len(self._marks) < 2 or self._marks[-1][0] <= self._marks[0][0]:
            return None
        (start_s, first), (end_s, last) = self._marks[0], self._marks[-1]
        return round((last - first) / (end_s - start_s), 3)


class Subscriber:
    """One browser: what it wants, and what waits for it.

    Args:
        interval_s: shortest time between two bursts on one run.
        clock: monotonic seconds.
    """

    def __init__(self, interval_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval_s, self._clock = interval_s, clock
        self._runs: set[str] | None = set()
        self._pending: dict[str, dict[str, Json]] = {}
        self._not_before: dict[str, float] = {}
        self._wake = asyncio.Event()

    def subscribe(self, runs: set[str] | None) -> None:
        """Wants these runs from now on, None for all."""
        self._runs = runs
        self._pending = {run: waiting for run, waiting in self._pending.items() if self.wants(run)}

    def wants(self, run_id: str) -> bool:
        """Whether messages on a run are wanted."""
        return self._runs is None or run_id in self._runs

    def offer(self, run_id: str, message: Json) -> None:
        """Puts a message in the place of an older one of its type."""
        if not self.wants(run_id):
            return
        waiting = self._pending.setdefault(run_id, {})
        if message["type"] == "deleted":
            waiting.clear()
        waiting[message["type"]] = message
        self._wake.set()

    async def send_forever(self, send: Send) -> None:
        """Sends what waits, each run in its rhythm, until cancelled."""
        while True:
            now = self._clock()
            due = [run for run in self._pending if self._not_before.get(run, now) <= now]
            if not due:
                await self._rest(now)
                continue
            self._not_before = {run: until for run, until in self._not_before.items() if until > now}
            for run in due:
                waiting = self._pending.pop(run, {})  # a new subscription may have dropped it meanwhile
                self._not_before[run] = now + self._interval_s
                for kind in ORDER:
                    if kind in waiting:
                        await send(orjson.dumps(waiting[kind], option=orjson.OPT_SERIALIZE_NUMPY).decode())

    async def _rest(self, now: float) -> None:
        """Waits for something new, or for the first of what waits to come due."""
        self._wake.clear()
        earliest = min((self._not_before[run] for run in self._pending), default=None)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._wake.wait(), None if earliest is None else earliest - now)


class Hub:
    """All browsers, and each live run's pace. Used on the event loop only."""

    def __init__(self) -> None:
        self.subscribers: set[Subscriber] = set()
        self._paces: dict[str, Pace] = {}

    def publish_run(self, summary: Json) -> None:
        """A run appeared, or changed its state or health."""
        self._publish(summary["id"], {"type": "run", "run": summary})

    def publish_deleted(self, run_id: str) -> None:
        """A run was deleted."""
        self.forget(run_id)
        self._publish(run_id, {"type": "deleted", "run_id": run_id})

    def publish_findings(self, run_id: str, findings: list[Json]) -> None:
        """A run's findings changed."""
        self._publish(run_id, {"type": "findings", "run_id": run_id, "findings": findings})

    def publish_progress(
        self,
        run_id: str,
        *,
        last_step: int | None,
        marks: Sequence[tuple[float, int]],
        cost: float | None,
        n_rows_lost: int,
    ) -> None:
        """A run went on; ``marks`` are moments (unix seconds) and the steps done then, in order."""
        pace = self._paces.setdefault(run_id, Pace())
        for time_s, step in marks:
            pace.note(time_s, step)
        progress = {
            "type": "progress",
            "run_id": run_id,
            "last_step": last_step,
            "steps_per_s": pace.steps_per_s,
            "cost": cost,
            "n_rows_lost": n_rows_lost,
        }
        self._publish(run_id, progress)

    def forget(self, run_id: str) -> None:
        """Lets go of a run that nobody speaks for any more."""
        self._paces.pop(run_id, None)

    def _publish(self, run_id: str, message: Json) -> None:
        for subscriber in self.subscribers:
            subscriber.offer(run_id, message)


def read_subscription(text: str | None) -> set[str] | None:
    """Reads what a browser sent.

    Args:
        text: the message's text, None for a binary message.

    Returns:
        The runs wanted, None for all.

    Raises:
        MessageError: no JSON, or no subscription.
    """
    if text is None:
        raise MessageError("invalid_message", "Expected JSON text, got a binary message.", fatal=False)
    try:
        message = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MessageError("invalid_message", f"Expected JSON, got text that is none: {error}.", fatal=False) from error
    kind = message.get("type") if isinstance(message, dict) else None
    if kind != "subscribe":
        raise MessageError("unknown_type", f"Expected a message of type 'subscribe', got {kind!r}.", fatal=False)
    wanted = message.get("runs")
    if wanted == "all":
        return None
    if not isinstance(wanted, list) or not all(isinstance(run, str) for run in wanted):
        raise MessageError("invalid_message", 'subscribe: expected runs to be "all" or a list of ids.', fatal=False)
    if len(wanted) > SUBSCRIPTION_LIMIT:
        text = f'subscribe: {len(wanted)} runs, at most {SUBSCRIPTION_LIMIT}; use "all".'
        raise MessageError("invalid_message", text, fatal=False)
    return set(wanted)
