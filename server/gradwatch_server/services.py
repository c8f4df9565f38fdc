"""What lives as long as the server does, in one record; made at start, closed at the end. Owns no route."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from gradwatch_server.alerts import Dispatcher
from gradwatch_server.control import Hooks
from gradwatch_server.errors import GradwatchServerError
from gradwatch_server.live import Hub
from gradwatch_server.metrics import Metrics
from gradwatch_server.settings import Settings
from gradwatch_server.store import Store
from gradwatch_server.store.catalogue import read_run
from gradwatch_server.store.log import mark_lost, mark_stale
from gradwatch_server.verdict import Verdicts

__all__ = ["Contacts", "Services", "open_services"]

HEALTH_THREADS = 4


@dataclass
class Services:
    """The running server's parts.

    Attributes:
        settings: what it was told.
        store: the open database.
        metrics: its counters.
        verdicts: the health engines.
        hub: the browsers.
        contacts: who speaks for which run.
        hooks: the way to those who do.
        dispatcher: delivers alerts.
        health_pool: the threads in which engines work.
    """

    settings: Settings
    store: Store
    metrics: Metrics
    verdicts: Verdicts
    hub: Hub
    health_pool: ThreadPoolExecutor
    dispatcher: Dispatcher
    contacts: Contacts = field(init=False)
    hooks: Hooks = field(default_factory=Hooks)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.contacts = Contacts(self)

    async def publish_run(self, run_id: str) -> None:
        """Tells the browsers how a run stands now; nothing if it was deleted."""
        try:
            detail = await asyncio.to_thread(self._read_run, run_id)
        except GradwatchServerError:
            return
        beside = {"error", "streams", "workers"}
        self.hub.publish_run({name: value for name, value in detail.items() if name not in beside})

    def spawn(self, coroutine: Any) -> None:
        """Runs something in the background until it is done or the server stops."""
        task = asyncio.ensure_future(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _read_run(self, run_id: str) -> dict[str, Any]:
        with self.store.read() as connection:
            return read_run(connection, run_id)

    async def close(self) -> None:
        """Stops what runs in the background, then drains and closes the store."""
        self.contacts.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await asyncio.to_thread(self.health_pool.shutdown)
        await asyncio.to_thread(self.store.close)


async def open_services(settings: Settings) -> Services:
    """Opens the database and brings it to order after the last stop.

    Raises:
        GradwatchServerError: the database cannot be used.
    """
    metrics = Metrics()
    store = await asyncio.to_thread(Store, settings)
    pool = ThreadPoolExecutor(HEALTH_THREADS, thread_name_prefix="gradwatch-health")
    verdicts = Verdicts(store, metrics.health_failures.inc)
    services = Services(settings, store, metrics, verdicts, Hub(), pool, Dispatcher(store, settings, metrics))
    stale = await asyncio.wrap_future(store.writer.submit(partial(mark_stale, now=time.time())))
    services.spawn(_rebuild(services, stale))
    services.spawn(services.dispatcher.run())
    return services


async def _rebuild(services: Services, run_ids: list[str]) -> None:
    """Findings of runs that were live when the server died may lag behind their frames."""
    loop = asyncio.get_running_loop()
    for run_id in run_ids:
        if not services.contacts.is_connected(run_id):
            await loop.run_in_executor(services.health_pool, services.verdicts.rebuild, run_id)
            await services.publish_run(run_id)
            services.dispatcher.wake()


class Contacts:
    """Counts the sockets that speak for each run; a live run whose last one goes is lost some seconds later."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._sockets: Counter[str] = Counter()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def is_connected(self, run_id: str) -> bool:
        """Whether a socket speaks for the run."""
        return self._sockets[run_id] > 0

    def enter(self, run_id: str) -> None:
        """A socket speaks for the run."""
        self._sockets[run_id] += 1
        timer = self._timers.pop(run_id, None)
        if timer:
            timer.cancel()

    def leave(self, run_id: str) -> None:
        """A socket that spoke for the run is gone."""
        self._sockets[run_id] -= 1
        if self._sockets[run_id] <= 0:
            del self._sockets[run_id]
            delay_s = self._services.settings.lost_contact_after_s
            loop = asyncio.get_running_loop()
            self._timers[run_id] = loop.call_later(delay_s, self._time_out, run_id)

    def close(self) -> None:
        """Forgets all timers; at the next start whoever was live is lost."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _time_out(self, run_id: str) -> None:
        self._timers.pop(run_id, None)
        self._services.spawn(self._lose(run_id))

    async def _lose(self, run_id: str) -> None:
        services = self._services
        if self.is_connected(run_id):
            return
        services.hub.forget(run_id)
        services.verdicts.forget(run_id)
        try:
            was_live = await asyncio.wrap_future(
                services.store.writer.submit(partial(mark_lost, run_id=run_id, now=time.time()))
            )
        except (SQLAlchemyError, GradwatchServerError):
            # The database cannot be written just now; the next start marks the run.
            return
        if was_live:
            await services.publish_run(run_id)
