"""A server that speaks the hook's protocol, in a thread, and misbehaves as told."""

from __future__ import annotations

import asyncio
import contextlib
import http
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from gradwatch.protocol import decode, encode
from tests.serving import PATIENCE_S

Behaviour = Callable[[ServerConnection, "Database"], Awaitable[None]]


class Database:
    """What servers on it have taken; it outlives them."""

    def __init__(self) -> None:
        self.hello: dict[str, Any] = {}
        self.log: list[dict[str, Any]] = []
        self.n_repeated = 0
        self.n_connections = 0
        self.tokens: list[str | None] = []

    @property
    def seqs(self) -> list[int]:
        return [message["seq"] for message in self.log]

    @property
    def last_seq(self) -> int:
        return len(self.log) - 1

    def take(self, message: dict[str, Any]) -> None:
        if message["seq"] <= self.last_seq:
            self.n_repeated += 1
        elif message["seq"] == self.last_seq + 1:
            self.log.append(message)
        else:
            raise AssertionError(f"a hole before {message['seq']}, after {self.last_seq}")

    def count_rows(self) -> int:
        """Rows that came, and rows that were told to be lost."""
        return sum(one["n_rows"] + one["n_lost"] for one in self.log if one["type"] == "rows")


async def greet(websocket: ServerConnection, database: Database, **changes: Any) -> None:
    database.n_connections += 1
    assert websocket.request is not None
    database.tokens.append(websocket.request.headers.get("Authorization"))
    database.hello = decode(await websocket.recv())
    run_id = database.hello["run"]["run_id"]
    welcome = {"type": "welcome", "protocol": 1, "run_id": run_id, "last_seq": database.last_seq, "server_version": "0"}
    await websocket.send(encode(welcome | changes))


async def judge(websocket: ServerConnection, database: Database) -> None:
    message = {
        "type": "findings",
        "run_id": database.hello["run"]["run_id"],
        "through_seq": database.last_seq,
        "findings": [{"kind": "exploding_gradient", "n_messages": len(database.log)}],
    }
    await websocket.send(encode(message))


async def behave(websocket: ServerConnection, database: Database) -> None:
    """The server as the contract has it."""
    await greet(websocket, database)
    async for data in websocket:
        database.take(decode(data))
        await websocket.send(encode({"type": "ack", "seq": database.last_seq}))
        await judge(websocket, database)


async def never_acknowledge(websocket: ServerConnection, database: Database) -> None:
    await greet(websocket, database)
    async for _ in websocket:
        pass


def answer(*messages: dict[str, Any] | bytes | str, **welcome: Any) -> Behaviour:
    """Greets, and answers the first message with these."""

    async def run(websocket: ServerConnection, database: Database) -> None:
        await greet(websocket, database, **welcome)
        await websocket.recv()
        for message in messages:
            await websocket.send(encode(message) if isinstance(message, dict) else message)
        async for _ in websocket:
            pass

    return run


def answer_hello(message: dict[str, Any] | bytes | str) -> Behaviour:
    async def run(websocket: ServerConnection, database: Database) -> None:
        database.n_connections += 1
        await websocket.recv()
        await websocket.send(encode(message) if isinstance(message, dict) else message)
        async for _ in websocket:
            pass

    return run


class IngestServer:
    """Serves a behaviour on 127.0.0.1 until `stop` or `kill`."""

    def __init__(
        self,
        behaviour: Behaviour = behave,
        database: Database | None = None,
        *,
        port: int = 0,
        status: int | None = None,
    ) -> None:
        self.database = database or Database()
        self.failures: list[BaseException] = []
        self._behaviour, self._status = behaviour, status
        self.port = port
        self._loop = asyncio.new_event_loop()
        self._is_up = threading.Event()
        self._server: Server | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._is_up.wait(PATIENCE_S)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        def refuse(connection: ServerConnection, _request: Any) -> Any:
            if self._status is not None:
                self.database.n_connections += 1
                return connection.respond(http.HTTPStatus(self._status), "no\n")
            return None

        transports: list[asyncio.BaseTransport] = []

        class Connection(ServerConnection):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                transports.append(transport)
                super().connection_made(transport)

        self._server = await serve(
            self._handle,
            "127.0.0.1",
            self.port,
            create_connection=Connection,
            process_request=refuse,
            max_size=None,
            close_timeout=0.1,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        self._is_up.set()
        await self._server.wait_closed()
        # Hooks that were just being accepted are let go too, once they are; that takes a turn or two of the loop.
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others, timeout=1)
        for transport in transports:
            transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)

    async def _handle(self, websocket: ServerConnection) -> None:
        try:
            await self._behaviour(websocket, self.database)
        except ConnectionClosed:
            pass
        except BaseException as error:
            self.failures.append(error)
            raise

    def stop(self) -> None:
        self._end(abort=False)

    def kill(self) -> None:
        """Ends without a goodbye, as a killed process does."""
        self._end(abort=True)

    def _end(self, *, abort: bool) -> None:
        async def end() -> None:
            assert self._server is not None
            # Nobody new; who is just being accepted is let in first: asyncio forgets whom a closing server accepts.
            for listener in self._server.sockets:
                self._loop.remove_reader(listener.fileno())
            for _ in range(3):
                await asyncio.sleep(0)
            if abort:
                for connection in self._server.connections:
                    connection.transport.abort()
            self._server.close()

        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(end(), self._loop)
            self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        assert self.failures == []


@contextlib.contextmanager
def raw_server(reply: bytes) -> Iterator[tuple[str, list[int]]]:
    """Something that is no web server: answers these bytes and hangs up."""
    n_connections = [0]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)

        def run() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    n_connections[0] += 1
                    with connection, contextlib.suppress(OSError):
                        connection.recv(4096)
                        connection.sendall(reply)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", n_connections
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE_S)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def wait_until(claim: Callable[[], bool], timeout_s: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not claim():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.005)
