"""The sender against servers that are absent, slow, killed, silent, lying and refusing."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection

from gradwatch._connection import Conversation, Endpoint, Timing
from gradwatch._spool_file import SpoolFile
from gradwatch.errors import (
    ConfigurationError,
    ProtocolError,
    ServerError,
    ServerTimeoutError,
    SpoolError,
)
from gradwatch.protocol import decode, encode, rows_message
from gradwatch.sender import Sender, deliver
from gradwatch.spool import Spool, spool_path, spools
from tests.hook.ingest_server import (
    Database,
    IngestServer,
    answer,
    answer_hello,
    behave,
    free_port,
    greet,
    judge,
    never_acknowledge,
    raw_server,
    wait_until,
)
from tests.serving import PATIENCE_S

RUN = {"run_id": "run", "name": "a run", "project": "default", "tags": [], "config": {}, "started_at": 0.0}
TABLE = {"type": "tensors", "stream": 0, "optimizer": "adam", "tensors": [], "scalars": []}
REFUSAL = {"type": "error", "code": "unauthorized", "message": "No token came.", "fatal": True}
QUICK = Timing(
    open_s=5.0, welcome_s=5.0, ack_s=5.0, close_s=0.1, retry_first_s=0.01, retry_least_s=0.02, retry_most_s=0.05
)
IMPATIENT = dataclasses.replace(QUICK, welcome_s=0.15, ack_s=0.15)
"""For servers that are silent; where they answer it would be a matter of luck on a busy machine."""


def rows(n_rows: int = 2, n_tensors: int = 2) -> dict[str, Any]:
    return rows_message(
        seq=0,
        stream=0,
        steps=np.arange(n_rows),
        times=np.zeros(n_rows),
        statistics=np.ones((n_rows, n_tensors, 12), np.float32),
        scalars=np.zeros((n_rows, 0), np.float32),
        scalars_present=np.zeros((n_rows, 0), np.uint8),
        n_lost=0,
        cost=None,
    )


class Hook:
    """A sender with its spool, and what it said."""

    def __init__(self, directory: Path, url: str, **options: Any) -> None:
        self.notices: list[str] = []
        self.findings: list[list[dict[str, Any]]] = []
        limits = {name: options.pop(name) for name in list(options) if name.endswith("_bytes")}
        self.spool = Spool(spool_path(directory, "run"), **limits)
        given = {"token": None, "timing": QUICK, "on_findings": self.findings.append} | options
        self.sender = Sender(url=url, run=RUN, worker=0, spool=self.spool, on_notice=self.notices.append, **given)

    def put(self, n: int) -> None:
        for _ in range(n):
            self.sender.put(rows())

    @property
    def is_all_acknowledged(self) -> bool:
        return self.spool.n_waiting == 0


Start = Callable[..., Hook]
Serve = Callable[..., IngestServer]


@pytest.fixture
def serve() -> Iterator[Callable[..., IngestServer]]:
    servers: list[IngestServer] = []

    def serve(*arguments: Any, **options: Any) -> IngestServer:
        servers.append(IngestServer(*arguments, **options))
        return servers[-1]

    yield serve
    for server in servers:
        server.stop()


@pytest.fixture
def start(tmp_path: Path, serve: Serve) -> Iterator[Callable[..., Hook]]:
    # With `serve`, so that hooks end before their servers.
    hooks: list[Hook] = []

    def start(url: str, **options: Any) -> Hook:
        hook = Hook(tmp_path, url, **options)
        hooks.append(hook)
        hook.sender.start()
        hook.sender.put(TABLE)
        return hook

    yield start
    for hook in hooks:
        hook.sender.close(0.05)
        hook.sender._thread.join(PATIENCE_S)
        assert not hook.sender._thread.is_alive()


def test_delivers_in_order_and_leaves_no_file(start: Start, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    hook = start(server.url, token="a secret")
    hook.put(100)
    assert hook.sender.wait_for_findings(60.0) == [{"kind": "exploding_gradient", "n_messages": 101}]
    assert hook.findings[-1][0]["n_messages"] == 101
    assert hook.sender.is_connected
    assert hook.sender.ever_connected
    hook.sender.put({"type": "state", "state": "finished", "error": None, "last_step": 1})
    assert hook.sender.close(5.0) is True
    assert hook.sender.close(5.0) is True
    assert not hook.sender.is_connected
    assert server.database.seqs == list(range(102))
    assert server.database.log[-1]["type"] == "state"
    assert server.database.hello == {"type": "hello", "protocol": 1, "run": RUN, "worker": 0}
    assert server.database.tokens == ["Bearer a secret"]
    assert server.database.n_repeated == 0
    assert hook.notices == []
    assert spools(tmp_path) == []


def test_no_server(start: Start, tmp_path: Path) -> None:
    port = free_port()
    hook = start(f"http://127.0.0.1:{port}")
    hook.put(3)
    wait_until(lambda: hook.spool.memory_bytes == 0)
    began = time.monotonic()
    assert hook.sender.close(5.0) is False
    assert time.monotonic() - began < 2.0, "a server that never was is not waited for"
    path = spool_path(tmp_path, "run")
    waits = f"training goes on, what is recorded waits in {path} and is delivered when the server answers"
    assert hook.notices == [
        f"no server answers at 127.0.0.1:{port} (connection refused); start one with `gradwatch serve`; {waits}",
        f"6 rows wait in {path}; `gradwatch sync` delivers them",
    ]
    assert spools(tmp_path) == [path]


def test_a_server_that_comes_late_gets_everything(start: Start, serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    hook = start(f"http://127.0.0.1:{port}")
    hook.put(2000)
    wait_until(lambda: spools(tmp_path) != [] and hook.spool.memory_bytes == 0)
    server = serve(port=port)
    hook.put(50)
    hook.sender.wait_for_findings(10.0)
    assert server.database.seqs == list(range(2051))
    assert server.database.n_repeated == 0
    assert spools(tmp_path) == []
    assert hook.notices[-1] == f"the server at 127.0.0.1:{port} answers; what waited is delivered"


def test_a_server_killed_and_restarted_again_and_again(start: Start, serve: Serve) -> None:
    database = Database()
    server = serve(database=database)
    hook = start(server.url)
    stop = threading.Event()

    def train() -> None:
        while not stop.is_set():
            hook.put(2)
            time.sleep(0.004)

    training = threading.Thread(target=train)
    training.start()
    try:
        for n in range(1, 5):
            wait_until(lambda n=n: len(database.log) > 50 * n)  # type: ignore[misc]
            server.kill()
            server = serve(database=database, port=server.port)
    finally:
        stop.set()
        training.join()
    assert hook.sender.close(10.0) is True
    assert database.seqs == list(range(hook.spool.newest_seq + 1))
    assert database.count_rows() == 2 * hook.spool.newest_seq
    assert hook.sender.n_lost == 0


def test_what_was_stored_but_not_acknowledged_is_not_stored_twice(start: Start, serve: Serve) -> None:
    async def store_and_die(websocket: ServerConnection, database: Database) -> None:
        await greet(websocket, database)
        while database.last_seq < 9:
            database.take(decode(await websocket.recv()))
        websocket.transport.abort()

    first = serve(store_and_die)
    hook = start(first.url)
    hook.put(20)
    wait_until(lambda: first.database.last_seq == 9)
    first.stop()
    second = serve(database=first.database, port=first.port)
    hook.sender.wait_for_findings(60.0)
    assert second.database.seqs == list(range(21))
    assert second.database.n_repeated == 0


def test_a_slow_server_bounds_what_is_under_way(start: Start, serve: Serve) -> None:
    most = 0

    async def be_slow(websocket: ServerConnection, database: Database) -> None:
        """Acknowledges when nothing more comes, and only then."""
        nonlocal most
        await greet(websocket, database)
        while database.last_seq < 600:
            n = 0
            while n < 256 and database.last_seq < 600:
                database.take(decode(await websocket.recv()))
                n += 1
            with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
                database.take(decode(await asyncio.wait_for(websocket.recv(), 0.05)))
                n += 1
            most = max(most, n)
            await websocket.send(encode({"type": "ack", "seq": database.last_seq}))
        await judge(websocket, database)
        await websocket.wait_closed()

    server = serve(be_slow)
    hook = start(server.url)
    hook.put(600)
    hook.sender.wait_for_findings(60.0)
    assert server.database.seqs == list(range(601))
    assert most == 256
    assert server.database.n_connections == 1


def test_a_server_that_never_acknowledges_costs_no_memory(start: Start, serve: Serve) -> None:
    server = serve(never_acknowledge)
    hook = start(server.url, timing=IMPATIENT, memory_limit_bytes=100_000, disk_limit_bytes=200_000)
    for _ in range(1000):
        hook.put(1)
        assert hook.spool.memory_bytes <= 100_000
        time.sleep(0.0001)
    wait_until(lambda: server.database.n_connections > 2)
    assert sum("is silent: it has not acknowledged" in one for one in hook.notices) == 1, (
        "said once, not at each attempt"
    )
    assert sum(path.stat().st_size for path in hook.spool.path.parent.iterdir()) < 1_000_000
    with pytest.raises(ServerTimeoutError, match=r"within 0\.05 s"):
        hook.sender.wait_for_findings(0.05)
    server.kill()
    second = serve(port=server.port)
    assert hook.sender.close(10.0) is True
    assert second.database.seqs == list(range(1001))
    assert second.database.count_rows() == 2000
    kept = sum(one["n_rows"] for one in second.database.log if one["type"] == "rows")
    assert kept + hook.sender.n_lost == 2000


LIES = {
    "garbage": (answer(b"\xc1\xff\x00"), "do not decode"),
    "text": (answer("hello"), "expected a binary msgpack message, got text"),
    "no type": (answer({"seq": 1}), "expected a map with a text 'type'"),
    "ack of the future": (answer({"type": "ack", "seq": 10**6}), "expected seq from -1 to"),
    "ack of nothing": (answer({"type": "ack"}), "expected seq from -1 to"),
    "findings of another run": (
        answer({"type": "findings", "run_id": "other", "through_seq": 0, "findings": []}),
        "findings: expected run run, got 'other'",
    ),
    "findings that are none": (
        answer({"type": "findings", "run_id": "run", "through_seq": 0, "findings": [1]}),
        "expected a list of maps",
    ),
    "findings through the future": (
        answer({"type": "findings", "run_id": "run", "through_seq": 10**6, "findings": []}),
        "expected through_seq from -1 to",
    ),
    "welcome of another run": (answer(run_id="other"), "welcome: expected run run, got 'other'"),
    "welcome with more than there is": (answer(last_seq=10**6), "the server has the run's messages up to 1000000"),
    "welcome with a text for last_seq": (answer(last_seq="0"), "expected last_seq from -1, got '0'"),
    "no welcome": (answer_hello({"type": "ack", "seq": 0}), "expected 'welcome' in answer to hello, got 'ack'"),
    "garbage for welcome": (answer_hello(b""), "do not decode"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lying_server(start: Start, serve: Serve, name: str) -> None:
    behaviour, notice = LIES[name]
    server = serve(behaviour)
    hook = start(server.url)
    hook.put(5)
    wait_until(lambda: server.database.n_connections > 2)
    hook.put(5)
    assert len(hook.notices) == 1
    assert "does not speak as a gradwatch server does" in hook.notices[0]
    assert notice in hook.notices[0]
    server.kill()
    honest = serve(port=server.port)
    hook.sender.wait_for_findings(60.0)
    assert honest.database.seqs == list(range(11))


@pytest.mark.parametrize(
    ("behaviour", "notice"),
    [
        (answer_hello(REFUSAL), "refused this run: No token came. (unauthorized)"),
        (answer(REFUSAL), "refused this run: No token came. (unauthorized)"),
        (answer(protocol=2), "speaks protocol 2, this hook 1; install the same version"),
    ],
)
def test_a_refusal_for_good_is_not_tried_again(start: Start, serve: Serve, behaviour: Any, notice: str) -> None:
    server = serve(behaviour)
    hook = start(server.url)
    hook.put(5)
    with pytest.raises(ServerError, match="refused this run"):
        hook.sender.wait_for_findings(60.0)
    time.sleep(0.15)
    hook.put(5)
    wait_until(lambda: hook.spool.memory_bytes == 0)
    assert server.database.n_connections == 1
    assert len(hook.notices) == 1
    assert notice in hook.notices[0]
    assert hook.notices[0].endswith(f"waits in {hook.spool.path}; `gradwatch sync` delivers it when that is put right")
    began = time.monotonic()
    assert hook.sender.close(5.0) is False
    assert time.monotonic() - began < 2.0


def test_a_run_that_was_deleted_is_no_longer_recorded(start: Start, serve: Serve, tmp_path: Path) -> None:
    deleted = {"type": "error", "code": "run_deleted", "message": "Run run was deleted.", "fatal": True}
    server = serve(answer(deleted))
    hook = start(server.url)
    hook.put(5)
    with pytest.raises(ServerError, match="Run run was deleted"):
        hook.sender.wait_for_findings(60.0)
    hook.put(5)
    hook.sender.close(5.0)
    assert server.database.n_connections == 1
    assert len(hook.notices) == 1
    assert hook.notices[0].endswith("training goes on, and is no longer recorded")
    assert (hook.spool.n_rows_waiting, hook.spool.memory_bytes, spools(tmp_path)) == (0, 0, [])


def test_an_error_that_is_not_the_end(start: Start, serve: Serve) -> None:
    async def complain(websocket: ServerConnection, database: Database) -> None:
        await greet(websocket, database)
        async for data in websocket:
            database.take(decode(data))
            await websocket.send(encode({"type": "error", "code": "slow_disk", "message": "Slow.", "fatal": False}))
            await websocket.send(encode({"type": "something", "newer": True}))
            await websocket.send(encode({"type": "ack", "seq": database.last_seq}))
            await judge(websocket, database)

    server = serve(complain)
    hook = start(server.url)
    hook.put(5)
    hook.sender.wait_for_findings(60.0)
    assert len(hook.notices) == 1
    assert "answered: Slow. (slow_disk)" in hook.notices[0]
    assert server.database.n_connections == 1


@pytest.mark.parametrize(
    ("status", "token", "notice", "is_fatal"),
    [
        (401, None, "answered 401: it wants a token; set GRADWATCH_TOKEN", True),
        (401, "wrong", "answered 401: wrong token; set GRADWATCH_TOKEN", True),
        (403, "wrong", "answered 403: wrong token; set GRADWATCH_TOKEN", True),
        (404, None, "answered 404 to /ws/ingest: no gradwatch server is there; check GRADWATCH_URL", True),
        (200, None, "answered 200 to /ws/ingest: no gradwatch server is there; check GRADWATCH_URL", True),
        (500, None, "answered 500; it is tried again", False),
        (503, None, "answered 503; it is tried again", False),
    ],
)
def test_a_server_that_is_no_websocket(
    start: Start, serve: Serve, status: int, token: str | None, notice: str, is_fatal: bool
) -> None:
    server = serve(status=status)
    hook = start(server.url, token=token)
    hook.put(5)
    if is_fatal:
        with pytest.raises(ServerError, match=f"answered {status}"):
            hook.sender.wait_for_findings(60.0)
        time.sleep(0.1)
        assert server.database.n_connections == 1
    else:
        wait_until(lambda: server.database.n_connections > 2)
    wait_until(lambda: hook.spool.memory_bytes == 0)
    assert len(hook.notices) == 1
    assert notice in hook.notices[0]
    assert "training goes on" in hook.notices[0]


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x15\x03\x01\x00\x02\x02\x46"])
def test_something_that_is_no_web_server(start: Start, reply: bytes) -> None:
    with raw_server(reply) as (url, n_connections):
        hook = start(url)
        wait_until(lambda: n_connections[0] > 2)
        assert len(hook.notices) == 1
        assert "no websocket at 127.0.0.1" in hook.notices[0]
        assert "GRADWATCH_URL" in hook.notices[0]
        hook.sender.close(0.1)


def test_a_host_that_nobody_knows(start: Start) -> None:
    hook = start("http://no-such-host.invalid:8470")
    wait_until(lambda: hook.notices != [], 20.0)
    assert "no host is known as no-such-host.invalid:8470" in hook.notices[0]


def test_a_server_that_accepts_and_hangs_up_is_not_stormed(start: Start, serve: Serve) -> None:
    async def hang_up(websocket: ServerConnection, database: Database) -> None:
        await greet(websocket, database)

    server = serve(hang_up)
    hook = start(server.url)
    hook.put(5)
    time.sleep(0.3)
    # The waits are 0 to 10 ms, then 20, 30, 45, 50, 50 ms ... of which at least 7 tenths.
    assert 2 <= server.database.n_connections <= 14
    assert len(hook.notices) == 1
    assert "closed the connection" in hook.notices[0]


def test_a_silent_handshake(start: Start, serve: Serve) -> None:
    async def say_nothing(websocket: ServerConnection, database: Database) -> None:
        database.n_connections += 1
        await websocket.wait_closed()

    server = serve(say_nothing)
    hook = start(server.url, timing=IMPATIENT)
    wait_until(lambda: server.database.n_connections > 1)
    assert "is silent: no answer to hello within 0.15 s" in hook.notices[0]


def test_a_server_with_another_database_goes_on_from_now(start: Start, serve: Serve) -> None:
    server = serve()
    hook = start(server.url)
    hook.put(10)
    hook.sender.wait_for_findings(60.0)
    server.kill()
    second = serve(database=Database(), port=server.port)
    wait_until(lambda: second.database.n_connections == 1)
    hook.put(5)
    hook.sender.wait_for_findings(60.0)
    log = second.database.log
    assert second.database.seqs == list(range(16))
    assert log[0]["type"] == "tensors"
    assert [one["n_rows"] for one in log[1:]] == [0] * 10 + [2] * 5
    assert any("no longer has 10 messages" in notice for notice in hook.notices)


def test_findings_lost_with_the_connection_are_asked_for_again(start: Start, serve: Serve) -> None:
    async def acknowledge_and_die(websocket: ServerConnection, database: Database) -> None:
        await greet(websocket, database)
        while database.last_seq < 5:
            database.take(decode(await websocket.recv()))
        await websocket.send(encode({"type": "ack", "seq": 5}))
        await asyncio.sleep(0.05)
        websocket.transport.abort()

    server = serve(acknowledge_and_die)
    hook = start(server.url)
    hook.put(5)
    wait_until(lambda: hook.is_all_acknowledged)
    server.stop()
    second = serve(database=server.database, port=server.port)
    assert hook.sender.wait_for_findings(60.0) == [{"kind": "exploding_gradient", "n_messages": 6}]
    assert second.database.n_repeated == 1
    assert second.database.seqs == list(range(6))


def test_findings_without_messages_or_server(start: Start) -> None:
    hook = start(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ServerTimeoutError, match="cannot be reached within"):
        hook.sender.wait_for_findings(0.02)


def test_a_callback_that_fails_does_not_end_the_delivery(start: Start, serve: Serve) -> None:
    def fail(_findings: list[dict[str, Any]]) -> None:
        raise RuntimeError("mine")

    server = serve()
    hook = start(server.url, on_findings=fail)
    hook.put(10)
    hook.sender.wait_for_findings(60.0)
    assert hook.sender.close(5.0) is True
    assert hook.notices == ["the findings could not be used: RuntimeError: mine"]
    assert server.database.seqs == list(range(11))


def test_a_message_that_cannot_be_encoded_is_left_out_and_said(start: Start, serve: Serve) -> None:
    server = serve()
    hook = start(server.url)
    hook.sender.put({"type": "state", "error": object()})
    hook.put(1)
    assert hook.sender.close(5.0) is True
    assert server.database.seqs == [0, 1]
    assert len(hook.notices) == 1
    assert "a message cannot be sent and is left out" in hook.notices[0]


def test_the_disk_is_full(start: Start, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(SpoolFile, "write", fail)
    port = free_port()
    hook = start(f"http://127.0.0.1:{port}", memory_limit_bytes=20_000)
    hook.put(200)
    wait_until(lambda: len(hook.notices) >= 3)
    assert hook.spool.memory_bytes <= 20_000
    assert any("rows cannot wait on disk" in notice and "is full" in notice for notice in hook.notices)
    assert any("the oldest rows are dropped, and counted" in notice for notice in hook.notices)
    server = serve(port=port)
    assert hook.sender.wait_for_findings(60.0)
    assert hook.sender.close(5.0) is True
    assert server.database.seqs == list(range(201))
    assert server.database.count_rows() == 400
    assert 0 < hook.sender.n_lost < 400
    assert hook.notices[-1].startswith(f"{hook.sender.n_lost} rows were dropped: ")


def test_what_even_the_disk_does_not_take_at_the_end_is_said(start: Start, tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("in the way")
    hook = start(f"http://127.0.0.1:{free_port()}")
    hook.put(7)
    assert hook.sender.close(0.5) is False
    assert hook.sender.n_lost == 14
    assert hook.notices[-1].startswith("14 rows were dropped: ")


def test_close_waits_for_a_server_that_was_there(start: Start, serve: Serve) -> None:
    server = serve()
    hook = start(server.url)
    hook.sender.wait_for_findings(60.0)
    server.kill()
    hook.put(10)
    back = threading.Timer(0.1, lambda: serve(database=server.database, port=server.port))
    back.start()
    assert hook.sender.close(5.0) is True
    back.join()
    assert server.database.seqs == list(range(11))


def test_close_keeps_to_its_time(start: Start, serve: Serve) -> None:
    server = serve(never_acknowledge)
    hook = start(server.url, timing=Timing(close_s=0.1))
    hook.put(10)
    wait_until(lambda: hook.sender.is_connected)
    began = time.monotonic()
    assert hook.sender.close(0.1) is False
    assert time.monotonic() - began < 1.0
    assert hook.notices[-1].startswith("20 rows wait in ")


def test_a_sender_that_was_never_started_leaves_its_messages(tmp_path: Path, serve: Serve) -> None:
    hook = Hook(tmp_path, "http://127.0.0.1:1")
    hook.put(3)
    assert hook.sender.close(1.0) is False
    server = serve()
    assert deliver(spool_path(tmp_path, "run"), server.url, None, timeout_s=PATIENCE_S) == 3


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8470", "ws://127.0.0.1", "http://", "http://host:port", "http://[::1", "http://a..b/"]
)
def test_an_address_that_cannot_be_used(tmp_path: Path, url: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"url: found .*, expected an address such as http://127\.0\.0\.1:8470"
    ):
        Hook(tmp_path, url)


def test_a_token_that_cannot_be_sent(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"token: .* printable ASCII") as caught:
        Hook(tmp_path, "http://127.0.0.1", token="geheim\n")
    assert "geheim" not in str(caught.value)


def test_a_run_that_cannot_be_sent(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "run.db")
    with pytest.raises(ProtocolError, match="cannot encode a 'hello' message"):
        Sender(
            url="http://h",
            token=None,
            run={"config": object()},
            worker=0,
            spool=spool,
            on_findings=print,
            on_notice=print,
        )


@pytest.mark.parametrize(
    ("url", "uri", "proxy"),
    [
        ("http://127.0.0.1:8470", "ws://127.0.0.1:8470/ws/ingest", None),
        ("http://localhost:8470/", "ws://localhost:8470/ws/ingest", None),
        ("http://[::1]:8470", "ws://[::1]:8470/ws/ingest", None),
        ("https://example.org/gradwatch/", "wss://example.org/gradwatch/ws/ingest", True),
    ],
)
def test_from_the_address_to_the_websocket(url: str, uri: str, proxy: bool | None) -> None:
    attempt = Endpoint(url, None).connect(QUICK)
    assert attempt.uri == uri
    assert attempt.proxy is proxy, "a proxy knows nothing of this machine's own addresses"


def test_deliver_brings_what_a_killed_process_left(tmp_path: Path, serve: Serve) -> None:
    path = spool_path(tmp_path, "run")
    code = f"""
        import os, signal, time
        from pathlib import Path
        from gradwatch.sender import Sender
        from gradwatch.spool import Spool
        spool = Spool(Path({str(path)!r}))
        sender = Sender(url="http://127.0.0.1:{free_port()}", token=None, run={RUN!r}, worker=0, spool=spool,
                        on_findings=print, on_notice=print)
        sender.start()
        sender.put({TABLE!r})
        for n in range(100):
            sender.put({{"type": "rows", "stream": 0, "n_rows": 1, "n_lost": 0}})
        while spool.memory_bytes:
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, timeout=PATIENCE_S
    )
    assert killed.returncode == -signal.SIGKILL
    assert spools(tmp_path) == [path]
    with pytest.raises(ServerError, match="no server answers at") as caught:
        deliver(path, f"http://127.0.0.1:{free_port()}", None, timeout_s=1.0)
    assert caught.value.code == "absent"
    server = serve()
    assert deliver(path, server.url, None, timeout_s=PATIENCE_S) == 101
    assert server.database.seqs == list(range(101))
    assert server.database.hello["run"] == RUN
    assert spools(tmp_path) == []


def leave(directory: Path, n: int) -> Path:
    spool = Spool(spool_path(directory, "run"))
    spool.hello = {"type": "hello", "protocol": 1, "run": RUN, "worker": 0}
    spool.put(TABLE)
    for _ in range(n):
        spool.put(rows())
    spool.close()
    return spool.path


def test_deliver_what_the_server_has_already(tmp_path: Path, serve: Serve) -> None:
    database = Database()
    database.log = [{"type": "rows", "seq": seq} for seq in range(50)]
    server = serve(behave, database)
    assert deliver(leave(tmp_path, 9), server.url, None, timeout_s=PATIENCE_S) == 10
    assert (database.n_repeated, len(database.log)) == (0, 50)
    assert spools(tmp_path) == []


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        (never_acknowledge, ServerTimeoutError, "has not acknowledged"),
        (answer(b"\xc1"), ProtocolError, "do not decode"),
        (answer_hello(REFUSAL), ServerError, "No token"),
    ],
)
def test_deliver_keeps_what_it_could_not_bring(
    tmp_path: Path, serve: Serve, behaviour: Any, error: type[Exception], words: str
) -> None:
    server = serve(behaviour)
    path = leave(tmp_path, 3)
    with pytest.raises(error, match=words):
        deliver(path, server.url, None, timeout_s=0.2)
    assert deliver(path, serve().url, None, timeout_s=PATIENCE_S) == 4


def test_deliver_does_not_touch_a_run_that_goes_on(start: Start, serve: Serve, tmp_path: Path) -> None:
    hook = start(f"http://127.0.0.1:{free_port()}")
    hook.put(3)
    wait_until(lambda: hook.spool.memory_bytes == 0)
    server = serve()
    with pytest.raises(SpoolError, match="a running process holds it"):
        deliver(spool_path(tmp_path, "run"), server.url, None, timeout_s=1.0)
    assert server.database.log == []


def test_a_forked_child_does_not_deliver(start: Start, serve: Serve) -> None:
    server = serve()
    hook = start(server.url)
    hook.put(5)
    hook.sender.wait_for_findings(60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads, from Python 3.12 on
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            hook.put(5)
            hook.sender.wait_for_findings(1.0)
        except ServerTimeoutError as error:
            code = 0 if "forked" in str(error) and hook.sender.close(1.0) and not hook.notices else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    hook.put(5)
    assert hook.sender.close(5.0) is True
    assert server.database.seqs == list(range(11))


@pytest.mark.parametrize(("has_server", "is_closed_at_exit"), [(False, False), (True, False), (True, True)])
def test_the_end_of_the_process_is_quiet(
    tmp_path: Path, serve: Serve, is_closed_at_exit: bool, has_server: bool
) -> None:
    server = serve()
    url = f"http://localhost:{server.port if has_server else free_port()}"
    code = f"""
        import atexit
        from pathlib import Path
        from gradwatch.sender import Sender
        from gradwatch.spool import Spool
        sender = Sender(url={url!r}, token=None, run={RUN!r}, worker=0, spool=Spool(Path({str(tmp_path / "r.db")!r})),
                        on_findings=lambda findings: None, on_notice=lambda notice: None)
        if {is_closed_at_exit}:
            atexit.register(sender.close, 5.0)
        sender.start()
        sender.put({TABLE!r})
        for n in range(100):
            sender.put({{"type": "rows", "stream": 0, "n_rows": 1, "n_lost": 0}})
    """
    process = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(code)],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    if has_server and is_closed_at_exit:
        assert server.database.seqs == list(range(101))


def test_put_does_not_wait(start: Start) -> None:
    hook = start(f"http://127.0.0.1:{free_port()}")
    hook.spool._disk_lock.acquire()  # a disk that hangs
    try:
        began = time.monotonic()
        hook.put(500)
        assert time.monotonic() - began < 1.0
    finally:
        hook.spool._disk_lock.release()


def test_a_message_larger_than_the_window_is_sent(start: Start, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwatch._connection.WINDOW_BYTES", 1000)
    server = serve()
    hook = start(server.url)
    for _ in range(5):
        hook.sender.put(rows(n_rows=50))
    hook.sender.wait_for_findings(60.0)
    assert server.database.count_rows() == 250


async def test_a_conversation_keeps_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwatch._connection.WINDOW_MESSAGES", 4)
    spool = Spool(tmp_path / "run.db")
    spool.hello = {"type": "hello", "protocol": 1, "run": RUN, "worker": 0}
    for _ in range(10):
        spool.put(rows())
    server = IngestServer(never_acknowledge)
    try:
        conversation = Conversation(spool=spool, timing=IMPATIENT)
        async with Endpoint(server.url, None).connect(QUICK) as websocket:
            with pytest.raises(ServerTimeoutError, match="has not acknowledged 4 messages"):
                await conversation.hold(websocket)
    finally:
        server.stop()
