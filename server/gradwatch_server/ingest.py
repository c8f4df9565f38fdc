"""One hook's connection: hello, checked messages in order, commit, then acknowledge, then findings.

Owns ``/ws/ingest`` after its handshake. Messages are read into a bounded inbox while the last ones are committed and
judged, so a commit takes whatever arrived meanwhile; when the inbox is full the socket is no longer read, and TCP
slows the hook down. A mistake ends this connection with an error of its own, and touches nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from gradwatch import protocol
from gradwatch.errors import ProtocolError
from gradwatch_server import __version__
from gradwatch_server.access import check_host, check_origin, check_token
from gradwatch_server.errors import AccessError, DatabaseError, MessageError
from gradwatch_server.messages import Frame, Hello, StreamTable, read_frame, read_hello
from gradwatch_server.services import Services
from gradwatch_server.store.log import append_frames, greet

__all__ = ["serve_hook"]

HELLO_TIMEOUT_S = 30.0
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013


async def serve_hook(websocket: WebSocket, services: Services) -> None:
    """Serves one hook until it leaves or errs.

    Args:
        websocket: a socket that was not accepted yet.
        services: the server's parts.
    """
    await websocket.accept()
    try:
        check_host(websocket, services.settings)
        check_origin(websocket, services.settings)
        check_token(websocket, services.settings)
        hello = await asyncio.wait_for(_receive_hello(websocket, services), HELLO_TIMEOUT_S)
        await _Connection(websocket, services, hello).run()
    except WebSocketDisconnect:
        return
    except (TimeoutError, asyncio.TimeoutError):
        await _refuse(websocket, services, MessageError("expected_hello", "No 'hello' came.", fatal=False))
    except AccessError as error:
        await _refuse(websocket, services, MessageError(error.code, error.message, error.detail))
    except MessageError as error:
        await _refuse(websocket, services, error)
    except DatabaseError as error:
        await _refuse(websocket, services, MessageError(error.code, error.message, error.detail, fatal=False))
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error)
        text = f"The server cannot write its database ({reason}); keep what was not acknowledged, and try again later."
        await _refuse(websocket, services, MessageError("store_failed", text, fatal=False))


async def _refuse(websocket: WebSocket, services: Services, error: MessageError) -> None:
    services.metrics.errors.labels(error.code).inc()
    if await _send(websocket, error.to_json()):
        # A close frame's reason holds at most 123 bytes; the whole text went before it.
        await websocket.close(POLICY_VIOLATION if error.fatal else TRY_AGAIN_LATER, error.code)


async def _send(websocket: WebSocket, message: dict[str, Any]) -> bool:
    """Sends a message; tells whether the hook is still there."""
    if websocket.client_state is WebSocketState.DISCONNECTED:
        return False
    try:
        await websocket.send_bytes(protocol.encode(message))
    except (WebSocketDisconnect, RuntimeError):  # gone in between; starlette raises either
        return False
    return True


async def _receive(websocket: WebSocket, services: Services) -> tuple[protocol.Message, bytes]:
    event = await websocket.receive()
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", 1005))
    data: bytes | None = event.get("bytes")
    if data is None:
        text = f"Expected a binary msgpack message, got text starting {event.get('text', '')[:40]!r}."
        raise MessageError("text_frame", text)
    limit = services.settings.message_limit_bytes
    if len(data) > limit:
        raise MessageError(
            "message_too_large",
            f"A message of {len(data)} bytes; at most {limit} are taken. Send fewer rows at a time.",
            {"size_bytes": len(data), "limit_bytes": limit},
        )
    try:
        return protocol.decode(data), data
    except ProtocolError as error:
        raise MessageError("malformed_message", f"{error}.") from error


async def _receive_hello(websocket: WebSocket, services: Services) -> Hello:
    message, _ = await _receive(websocket, services)
    return read_hello(message)


class _Inbox:
    """Checked messages on their way to the store, bounded in bytes. One reader, one writer, one event loop."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._frames: deque[Frame] = deque()
        self._size_bytes = 0
        self._is_closed = False
        self._changed = asyncio.Condition()

    @property
    def is_empty(self) -> bool:
        return not self._frames and not self._is_closed

    async def put(self, frame: Frame) -> None:
        async with self._changed:
            # One message always fits, however large.
            await self._changed.wait_for(lambda: not self._frames or self._size_bytes < self._limit_bytes)
            self._frames.append(frame)
            self._size_bytes += len(frame.data)
            self._changed.notify_all()

    async def close(self) -> None:
        async with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    async def take(self) -> list[Frame]:
        """Takes all that is there, waiting for something; empty when it is closed and drained."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._frames) or self._is_closed)
            taken = list(self._frames)
            self._frames.clear()
            self._size_bytes = 0
            self._changed.notify_all()
            return taken


class _Connection:
    """One hook after its hello."""

    def __init__(self, websocket: WebSocket, services: Services, hello: Hello) -> None:
        self._websocket, self._services = websocket, services
        self._run, self._worker = hello.run, hello.worker
        self._inbox = _Inbox(services.settings.inbox_limit_bytes)
        self._streams: dict[int, StreamTable] = {}
        self._expected_seq = 0
        self._committed_seq = -1

    async def run(self) -> None:
        """Greets, then reads and commits side by side until the hook leaves."""
        services, run_id = self._services, self._run.run_id
        services.contacts.enter(run_id)
        services.metrics.hooks.inc()
        try:
            await self._greet()
            services.hooks.enter(run_id, self._tell)
            await self._read_and_commit()
        finally:
            services.hooks.leave(run_id, self._tell)
            services.metrics.hooks.dec()
            services.contacts.leave(run_id)

    async def _greet(self) -> None:
        run_id = self._run.run_id
        job = partial(greet, run=self._run, worker=self._worker)
        greeting = await asyncio.wrap_future(self._services.store.writer.submit(job))
        self._streams, self._committed_seq = greeting.streams, greeting.last_seq
        self._expected_seq = greeting.last_seq + 1
        welcome = {
            "type": "welcome",
            "protocol": protocol.PROTOCOL_VERSION,
            "run_id": run_id,
            "last_seq": greeting.last_seq,
            "server_version": __version__,
        }
        await _send(self._websocket, welcome)
        if greeting.is_changed:
            await self._services.publish_run(run_id)

    async def _tell(self, message: dict[str, Any]) -> bool:
        return await _send(self._websocket, message)

    async def _read_and_commit(self) -> None:
        commits = asyncio.create_task(self._commit_all())
        reads = asyncio.create_task(self._read_all())
        try:
            await asyncio.wait({commits, reads}, return_when=asyncio.FIRST_COMPLETED)
            if commits.done():
                reads.cancel()
                await asyncio.gather(reads, return_exceptions=True)
            # What was read and is in order is committed, whatever came after it.
            await self._inbox.close()
            await commits
            if not reads.cancelled():
                await reads
        finally:
            reads.cancel()
            commits.cancel()

    async def _read_all(self) -> None:
        while True:
            message, data = await _receive(self._websocket, self._services)
            frame = self._check(message, data)
            await self._inbox.put(frame)

    def _check(self, message: protocol.Message, data: bytes) -> Frame:
        seq = message.get("seq")
        if isinstance(seq, int) and 0 <= seq < self._expected_seq:
            # Repeated after a lost acknowledgement: not looked at again, but acknowledged again.
            return Frame(seq, "repeated", b"", None)
        frame = read_frame(message, data, self._streams)
        if frame.seq != self._expected_seq:
            raise MessageError(
                "sequence_gap",
                f"Message {frame.seq} came where {self._expected_seq} was expected; send what is in between first.",
                {"expected": self._expected_seq, "found": frame.seq},
            )
        self._expected_seq += 1
        self._note_stream(frame)
        return frame

    def _note_stream(self, frame: Frame) -> None:
        fields = frame.fields
        if frame.type == "tensors":
            self._streams.setdefault(fields.stream, StreamTable.of(fields))
        elif frame.type == "rows" and fields.n_rows:
            last_step = int(frame.arrays["steps"][-1])
            self._streams[fields.stream] = replace(self._streams[fields.stream], last_step=last_step)

    async def _commit_all(self) -> None:
        if self._committed_seq >= 0:
            # The last connection may have broken between an acknowledgement and its findings.
            await self._judge([])
        while batch := await self._inbox.take():
            fresh = [frame for frame in batch if frame.type != "repeated"]
            if fresh:
                await self._commit(fresh)
            await _send(self._websocket, {"type": "ack", "seq": self._committed_seq})
            await self._judge(fresh)

    async def _commit(self, fresh: Sequence[Frame]) -> None:
        services, run_id = self._services, self._run.run_id
        job = partial(append_frames, run_id=run_id, worker=self._worker, new=fresh, now=time.time())
        with services.metrics.commit_s.time():
            appended = await asyncio.wrap_future(services.store.writer.submit(job))
        self._committed_seq = appended.last_seq
        for frame in fresh:
            services.metrics.messages.labels(frame.type).inc()
            services.metrics.received_bytes.inc(len(frame.data))
            if frame.type == "rows":
                services.metrics.rows.inc(frame.fields.n_rows)
        marks = [
            (float(frame.arrays["times"][row]), int(frame.arrays["steps"][row]))
            for frame in fresh
            if frame.type == "rows" and frame.fields.n_rows
            for row in (0, -1)
        ]
        services.hub.publish_progress(
            run_id,
            last_step=appended.last_step,
            marks=marks,
            cost=appended.cost,
            n_rows_lost=appended.n_rows_lost,
        )
        if appended.is_changed or any(frame.type == "capture" for frame in fresh):
            await services.publish_run(run_id)

    async def _judge(self, fresh: Sequence[Frame]) -> None:
        services, run_id = self._services, self._run.run_id
        job = partial(services.verdicts.advance, run_id, self._worker, fresh)
        with services.metrics.health_s.time():
            verdict = await asyncio.get_running_loop().run_in_executor(services.health_pool, job)
        if verdict.is_changed:
            services.hub.publish_findings(run_id, verdict.findings)
            services.dispatcher.wake()
        if verdict.is_headline_changed:
            await services.publish_run(run_id)
        if verdict.is_changed or self._inbox.is_empty:
            message = {
                "type": "findings",
                "run_id": run_id,
                "through_seq": self._committed_seq,
                "findings": verdict.findings,
            }
            await _send(self._websocket, message)
