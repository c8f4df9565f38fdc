"""Sees to it that what is due is delivered: tries, tries again later, gives up. Owns no message and no socket.

It lives beside ingest and shares nothing with it but the database: a receiver that is slow or away holds up alerts of
its own rule, and nothing else. Waits between tries stand in the database too, so a restart neither forgets them nor
starts them again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from gradwatch_server.alerts.channel import Deliverer, DeliveryError
from gradwatch_server.alerts.notice import Notice, make_example
from gradwatch_server.errors import GradwatchServerError
from gradwatch_server.metrics import Metrics
from gradwatch_server.serving import url_of
from gradwatch_server.settings import Settings
from gradwatch_server.store import Store
from gradwatch_server.store.alerts import DROPPED, FAILED, SENT, WAITING, Batch, claim, read_next_due, settle
from gradwatch_server.store.catalogue import read_run
from gradwatch_server.store.findings import is_open, read_findings

__all__ = ["Dispatcher"]

Json = dict[str, Any]
logger = logging.getLogger(__name__)

TRIES = 12
"""With a first wait of 5 seconds and each twice as long, capped: given up after about three hours."""
LONGEST_WAIT_S = 3600.0
MOST_AT_ONCE = 8
IDLE_S = 60.0
"""How long nothing is looked for without a word; another server on the same database gives none."""
TROUBLE_S = 5.0
FAREWELL_S = 2.0


class Dispatcher:
    """Delivers alerts for as long as the server lives.

    Args:
        store: where they are due.
        settings: what the server was told.
        metrics: counts what was delivered.
    """

    def __init__(self, store: Store, settings: Settings, metrics: Metrics) -> None:
        self._store, self._settings, self._metrics = store, settings, metrics
        self._deliverer = Deliverer(settings)
        self._wake = asyncio.Event()
        self._tries: dict[str, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """Something may have become due. Never waits."""
        self._wake.set()

    async def test(self, rule: Json) -> Json:
        """Sends an example to a rule's receiver at once, once.

        Returns:
            The example's id, and how long it took.

        Raises:
            DeliveryError: it was not taken.
        """
        notice = make_example(rule, self._public_url, secrets.token_hex(8))
        started = time.monotonic()
        await self._deliverer.deliver(rule, notice)
        return {"id": notice.id, "took_s": round(time.monotonic() - started, 3)}

    async def run(self) -> None:
        """Delivers until cancelled; what was begun is due again at the next start."""
        try:
            while True:
                self._wake.clear()
                try:
                    rest_s = await self._begin_due()
                except (SQLAlchemyError, GradwatchServerError) as error:
                    logger.warning("alerts wait, for the database failed: %s", error)
                    rest_s = TROUBLE_S
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), rest_s)
        finally:
            tries = list(self._tries.values())
            if tries:  # what is nearly delivered need not be delivered again
                await asyncio.wait(tries, timeout=FAREWELL_S)
            for one in tries:
                one.cancel()
            await asyncio.gather(*tries, return_exceptions=True)

    async def _begin_due(self) -> float:
        """Begins the tries that are due; returns how long to rest then, in seconds."""
        now = time.time()
        due_at = await asyncio.to_thread(self._read_next_due)
        room = MOST_AT_ONCE - len(self._tries)
        if due_at is None or room <= 0:
            return IDLE_S
        if due_at > now:
            return min(due_at - now, IDLE_S)
        lease_s = 2 * self._settings.alert_timeout_s + 5
        job = partial(claim, now=now, lease_s=lease_s, limit=room, without=list(self._tries))
        for batch in await asyncio.wrap_future(self._store.writer.submit(job)):
            self._tries[batch.rule["id"]] = asyncio.create_task(self._try(batch))
        return 0.0

    def _read_next_due(self) -> float | None:
        with self._store.read() as connection:
            return read_next_due(connection, list(self._tries))

    async def _try(self, batch: Batch) -> None:
        try:
            await self._deliver(batch)
        except (SQLAlchemyError, GradwatchServerError) as error:
            logger.warning("an alert on run %s is tried again later: %s", batch.run_id, error)
        except Exception:  # a mistake in the wording of one alert must not end all others
            logger.exception("an alert on run %s failed", batch.run_id)
            await self._settle(batch, batch.keys, state=FAILED, error="The server made a mistake; its log has it.")
        finally:
            del self._tries[batch.rule["id"]]
            self.wake()

    async def _deliver(self, batch: Batch) -> None:
        run, found = await asyncio.to_thread(self._read, batch.run_id)
        by_key = {(one["id"], one["severity"]): one for one in found if is_open(one)}
        gone = [key for key in batch.keys if key not in by_key]
        if gone:  # it was none after all, or a person knows of it already
            await self._settle(batch, gone, state=DROPPED)
        kept = [key for key in by_key if key in batch.keys]  # the leading one first
        if not kept:
            return
        notice = Notice(batch.id, batch.rule, run, [by_key[key] for key in kept], self._public_url)
        try:
            await self._deliverer.deliver(batch.rule, notice)
        except DeliveryError as error:
            await self._give_up_or_wait(batch, kept, error)
        else:
            self._metrics.alerts.labels(batch.rule["channel"], SENT).inc()
            await self._settle(batch, kept, state=SENT)

    async def _give_up_or_wait(self, batch: Batch, keys: list[tuple[str, str]], error: DeliveryError) -> None:
        is_over = error.is_final or batch.n_tries >= TRIES
        self._metrics.alerts.labels(batch.rule["channel"], FAILED if is_over else "retried").inc()
        if is_over:
            logger.warning("alert rule %r gives up on run %s: %s", batch.rule["name"], batch.run_id, error)
            await self._settle(batch, keys, state=FAILED, error=error.message)
            return
        wait_s = min(self._settings.alert_retry_s * 2.0 ** (batch.n_tries - 1), LONGEST_WAIT_S)
        wait_s = max(wait_s, error.retry_after_s or 0.0)
        await self._settle(batch, keys, state=WAITING, error=error.message, due_at=time.time() + wait_s)

    async def _settle(self, batch: Batch, keys: Any, **how: Any) -> None:
        job = partial(settle, batch=batch, keys=list(keys), now=time.time(), **how)
        await asyncio.wrap_future(self._store.writer.submit(job))

    def _read(self, run_id: str) -> tuple[Json, list[Json]]:
        with self._store.read() as connection:
            return read_run(connection, run_id), read_findings(connection, run_id)

    @property
    def _public_url(self) -> str:
        return self._settings.public_url or url_of(self._settings, self._settings.port)
