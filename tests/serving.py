"""A real server for tests: uvicorn on a free port, in this process or in one of its own that can be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as dial

from gradwatch_server.app import create_app
from gradwatch_server.serving import make_config
from gradwatch_server.settings import Settings, read_settings

__all__ = ["PATIENCE_S", "Server", "ServerProcess", "connect", "free_port", "wait_until"]

PATIENCE_S = 120.0
"""How long something that should happen at once is waited for: a busy machine, or a collection of garbage, may stop a
process for many seconds."""


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def connect(address: str, **options: Any) -> ClientConnection:
    """A websocket to a server of this machine."""
    return dial(address, proxy=None, open_timeout=PATIENCE_S, **options)


def wait_until(condition: Callable[[], Any], timeout_s: float = PATIENCE_S, what: str = "the condition") -> Any:
    """Waits for a condition to hold, and returns its value."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout_s} s in vain for {what}; last: {value!r}")
        time.sleep(0.02)


class _Client:
    """What both kinds of server offer a test."""

    url: str
    token: str | None

    @property
    def ws_url(self) -> str:
        return self.url.replace("http://", "ws://")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        options["headers"] = {**self.headers, **options.get("headers", {})}
        with httpx.Client(base_url=self.url, trust_env=False, timeout=PATIENCE_S) as client:
            return client.request(method, path, **options)

    def get(self, path: str, **query: Any) -> Any:
        """GETs JSON; ``from_`` stands for ``from``."""
        params = {name.rstrip("_"): value for name, value in query.items()}
        # An empty set of parameters would take the place of those in the path.
        answer = self.request("GET", path, params=params or None)
        assert answer.status_code == 200, f"GET {path} {params}: {answer.status_code} {answer.text[:500]}"
        return answer.json()


class Server(_Client):
    """uvicorn in a thread of this process.

    Args:
        directory: where its database goes.
        **settings: further fields of `Settings`.
    """

    def __init__(self, directory: Path, **settings: Any) -> None:
        self.port = settings.pop("port", None) or free_port()
        self.settings: Settings = read_settings(dir=directory, port=self.port, **settings)
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = self.settings.secret
        self.app = create_app(self.settings)
        self._server = uvicorn.Server(make_config(self.app, self.settings, log_config=None))
        self._thread = threading.Thread(target=self._run, name="test-server", daemon=True)

    def _run(self) -> None:
        asyncio.run(self._server.serve())

    def start(self) -> Server:
        self._thread.start()
        end = time.monotonic() + PATIENCE_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise AssertionError("the server did not start; see its log above")
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        """Stops in order: what was received is committed."""
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the server did not stop"

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class ServerProcess(_Client):
    """``gradwatch serve`` in a process of its own.

    Args:
        directory: GRADWATCH_DIR.
        port: the port to listen on; default: a free one, kept over restarts.
        token: GRADWATCH_TOKEN.
    """

    def __init__(self, directory: Path, port: int | None = None, token: str | None = None) -> None:
        self.directory, self.port, self.token = directory, port or free_port(), token
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = directory / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> ServerProcess:
        self.directory.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "GRADWATCH_DIR": str(self.directory)}
        environment |= {"GRADWATCH_TOKEN": self.token} if self.token else {}
        command = [sys.executable, "-m", "gradwatch_server", "serve", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        wait_until(self._is_up, PATIENCE_S, f"the server on {self.url}")
        return self

    def _is_up(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"the server ended with {self._process.returncode}:\n{self.log.read_text()}")
        try:
            return self.request("GET", "/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """Kills it as a power cut would: no word of farewell."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stops it as Ctrl+C would."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE_S)
        self._process = None

    def __enter__(self) -> ServerProcess:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
