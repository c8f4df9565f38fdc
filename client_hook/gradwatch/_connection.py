"""One connection to the server: where it is, what is said on it, and words for what can go wrong.

Owns the conversation of the contract (hello, welcome, a bounded window of unacknowledged messages) and its checks.
Owns no thread and no retries: those are `gradwatch.sender`'s.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import dataclasses
import ipaddress
import socket
import ssl
import urllib.parse
from collections.abc import Callable
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from gradwatch.errors import ConfigurationError, GradwatchError, ProtocolError, ServerError, ServerTimeoutError
from gradwatch.protocol import PROTOCOL_VERSION, decode, encode
from gradwatch.spool import Spool

__all__ = ["Conversation", "Endpoint", "Failure", "RefusedError", "Timing", "as_error", "explain"]

INGEST_PATH: Final = "/ws/ingest"
TRANSIENT_STATUSES: Final = (500, 502, 503, 504)
"""What a server or a proxy answers that may be well again in a minute; the same that websockets retries by itself."""
WINDOW_BYTES: Final = 8 * 1024 * 1024
"""Sent and not yet acknowledged; enough to keep a fast link busy while the server commits."""
WINDOW_MESSAGES: Final = 256
ANSWER_SIZE_LIMIT_BYTES: Final = 16 * 1024 * 1024
"""Findings are kilobytes; whoever sends more is no gradwatch server."""


@dataclasses.dataclass(frozen=True)
class Timing:
    """How long to wait for what, in seconds.

    Attributes:
        open_s: a connection, with its handshake.
        welcome_s: the answer to hello.
        ack_s: progress while something is unacknowledged.
        close_s: the other side's goodbye.
        retry_first_s: the upper bound of the random wait after a first failure.
        retry_least_s: the wait after a second failure; from there on each is longer by half.
        retry_most_s: the longest wait between attempts.
    """

    open_s: float = 5.0
    welcome_s: float = 10.0
    ack_s: float = 30.0
    close_s: float = 1.0
    retry_first_s: float = 0.5
    retry_least_s: float = 0.5
    retry_most_s: float = 10.0


class RefusedError(ServerError):
    """The server refused for good: trying again cannot help."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why there is no connection, in words for the user.

    Attributes:
        key: the same for failures that need be said only once.
        text: what was found and what to do.
        is_fatal: trying again cannot help.
        is_unwanted: the run was deleted on the server, so what it records is of no use to anybody.
    """

    key: str
    text: str
    is_fatal: bool = False
    is_unwanted: bool = False


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """The server's address.

    Attributes:
        url: as the user gave it, e.g. ``http://127.0.0.1:8470``.
        token: the server's token, if it has one.
    """

    url: str
    token: str | None

    def __post_init__(self) -> None:
        expected = "an address such as http://127.0.0.1:8470"
        try:
            parts = urllib.parse.urlsplit(self.url)
            _ = parts.port
            (parts.hostname or "").encode("idna")
        except ValueError as error:
            raise ConfigurationError("url", self.url, f"{expected} ({error})") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError("url", self.url, expected)
        if self.token and not (self.token.isascii() and self.token.isprintable()):
            raise ConfigurationError("token", "one with characters that no header can carry", "printable ASCII")

    @property
    def address(self) -> str:
        """Host and port, for messages."""
        return urllib.parse.urlsplit(self.url).netloc.rpartition("@")[2]

    def connect(self, timing: Timing) -> connect:
        """Prepares one attempt to connect."""
        scheme, rest = self.url.split("://", 1)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        host = urllib.parse.urlsplit(self.url).hostname or ""
        return connect(
            f"{'wss' if scheme.lower() == 'https' else 'ws'}://{rest.rstrip('/')}{INGEST_PATH}",
            additional_headers=headers,
            compression=None,  # float blocks hardly shrink, and the processor belongs to the training
            proxy=None if _is_loopback(host) else True,
            open_timeout=timing.open_s,
            close_timeout=timing.close_s,
            max_size=ANSWER_SIZE_LIMIT_BYTES,
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Conversation:
    """What hook and server say to each other, over one connection after another. Lives in one event loop.

    Args:
        spool: what is to be delivered; its ``hello`` is how the run presents itself.
        timing: how long to wait.
        on_welcome: called when the server has accepted the run.
        on_progress: called when it has acknowledged something.
        on_findings: called with the seq that the findings cover, and the findings.
        on_control: called with what a person asks for, a ``control`` message.
        on_error: called with an error of the server that is not the end.
        on_forgotten: called with the number of acknowledged messages that the server no longer has.
        may_be_ahead: the server may have more than the spool: the run's process died before it saw the acknowledgement.

    Attributes:
        changed: to be set when there is something new in the spool, or `is_draining` was set.
        is_draining: end the conversation when everything is acknowledged.
        made_progress: the server acknowledged something since this was last set to False.
    """

    def __init__(
        self,
        *,
        spool: Spool,
        timing: Timing,
        on_welcome: Callable[[], None] = lambda: None,
        on_progress: Callable[[], None] = lambda: None,
        on_findings: Callable[[int, list[dict[str, Any]]], None] = lambda _seq, _findings: None,
        on_control: Callable[[dict[str, Any]], None] = lambda _control: None,
        on_error: Callable[[ServerError], None] = lambda _error: None,
        on_forgotten: Callable[[int], None] = lambda _n: None,
        may_be_ahead: bool = False,
    ) -> None:
        self.changed = asyncio.Event()
        self.is_draining = False
        self.made_progress = False
        self._spool, self._timing = spool, timing
        self._on_welcome, self._on_findings, self._on_error = on_welcome, on_findings, on_error
        self._on_progress, self._on_control = on_progress, on_control
        self._on_forgotten, self._may_be_ahead = on_forgotten, may_be_ahead
        self._hello: dict[str, Any] = spool.hello or {}
        self._sent = self._findings_through = -1
        self._in_flight: collections.deque[tuple[int, int]] = collections.deque()
        self._in_flight_bytes = 0
        self._waits_since = 0.0

    async def hold(self, websocket: ClientConnection) -> None:
        """Talks until everything is delivered and `is_draining`, or the connection fails.

        Raises:
            RefusedError: the server refused for good.
            ServerError: it refused for now.
            ServerTimeoutError: it stopped answering.
            ProtocolError: it said what the contract does not allow.
            ConnectionClosed: it hung up.
        """
        with contextlib.suppress(ConnectionClosed):  # what the server said before it hung up is still to be read
            await websocket.send(encode(self._hello))
        self._start_after(await self._receive_welcome(websocket))
        self._on_welcome()
        await self._ask_for_findings(websocket)
        tasks = [asyncio.ensure_future(one) for one in (self._write(websocket), self._read(websocket), self._watch())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive_welcome(self, websocket: ClientConnection) -> int:
        try:
            message = decode(await asyncio.wait_for(websocket.recv(), self._timing.welcome_s))
        except asyncio.TimeoutError as error:
            raise ServerTimeoutError(f"no answer to hello within {self._timing.welcome_s:g} s") from error
        if message["type"] == "error":
            raise _read_error(message)
        if message["type"] != "welcome":
            raise ProtocolError(f"expected 'welcome' in answer to hello, got {message['type']!r}")
        if message.get("protocol") != PROTOCOL_VERSION:
            raise RefusedError(
                "unsupported_protocol",
                f"it speaks protocol {message.get('protocol')!r}, this hook {PROTOCOL_VERSION}; "
                "install the same version of gradwatch on both sides",
            )
        self._check_run(message)
        return _read_int(message, "last_seq", -1, None)

    def _start_after(self, last_seq: int) -> None:
        if last_seq > self._spool.newest_seq and self._may_be_ahead:
            last_seq = self._spool.newest_seq
        if last_seq > self._spool.newest_seq:
            raise ProtocolError(
                f"welcome: the server has the run's messages up to {last_seq}, but only those up to "
                f"{self._spool.newest_seq} exist"
            )
        if last_seq < self._spool.acknowledged_seq:
            self._findings_through = -1
            self._on_forgotten(self._spool.rewind(last_seq))
        self._spool.acknowledge(last_seq)
        self._sent = last_seq
        self._in_flight.clear()
        self._in_flight_bytes = 0

    async def _ask_for_findings(self, websocket: ClientConnection) -> None:
        """Repeats the newest message if it was acknowledged on a connection that broke before its findings came.

        The server keeps nothing twice, but answers with findings that cover it.
        """
        newest = self._spool.newest_payload
        if newest is not None and not self._spool.n_waiting and self._findings_through < self._sent:
            with contextlib.suppress(ConnectionClosed):
                await websocket.send(newest)

    async def _write(self, websocket: ClientConnection) -> None:
        while True:
            self.changed.clear()
            if self.is_draining and not self._spool.n_waiting:
                return
            batch = self._next_batch()
            for seq, payload in batch:
                if not self._in_flight:
                    self._waits_since = asyncio.get_running_loop().time()
                self._in_flight.append((seq, len(payload)))
                self._in_flight_bytes += len(payload)
                self._sent = seq
                try:
                    await websocket.send(payload)
                except ConnectionClosed:
                    await asyncio.Future()  # the reader ends the conversation: it may still hold the server's reason
            if not batch:
                await self.changed.wait()

    def _next_batch(self) -> list[tuple[int, bytes]]:
        room_bytes = WINDOW_BYTES - self._in_flight_bytes
        room_messages = WINDOW_MESSAGES - len(self._in_flight)
        return self._spool.read_after(self._sent, limit_bytes=room_bytes, limit_messages=room_messages)

    async def _watch(self) -> None:
        """Raises when the server has let us wait too long."""
        loop = asyncio.get_running_loop()
        while True:
            due_s = self._waits_since + self._timing.ack_s - loop.time() if self._in_flight else self._timing.ack_s
            if due_s <= 0:
                n = len(self._in_flight)
                raise ServerTimeoutError(f"it has not acknowledged {n} messages for {self._timing.ack_s:g} s")
            await asyncio.sleep(due_s)

    async def _read(self, websocket: ClientConnection) -> None:
        while True:
            message = decode(await websocket.recv())
            if message["type"] == "ack":
                self._take_ack(_read_int(message, "seq", -1, self._sent))
            elif message["type"] == "findings":
                self._take_findings(message)
            elif message["type"] == "control":
                self._on_control(message)
            elif message["type"] == "error":
                error = _read_error(message)
                if isinstance(error, RefusedError):
                    raise error
                self._on_error(error)

    def _take_ack(self, seq: int) -> None:
        if not self._in_flight or seq < self._in_flight[0][0]:
            return
        while self._in_flight and self._in_flight[0][0] <= seq:
            self._in_flight_bytes -= self._in_flight.popleft()[1]
        self._waits_since = asyncio.get_running_loop().time()
        self.made_progress = True
        self._spool.acknowledge(seq)
        self._on_progress()
        self.changed.set()

    def _take_findings(self, message: dict[str, Any]) -> None:
        self._check_run(message)
        findings = message.get("findings")
        if not isinstance(findings, list) or not all(isinstance(one, dict) for one in findings):
            raise ProtocolError(f"findings: expected a list of maps, got {findings!r:.80}")
        self._findings_through = _read_int(message, "through_seq", -1, self._sent)
        self._on_findings(self._findings_through, findings)

    def _check_run(self, message: dict[str, Any]) -> None:
        own = self._hello["run"]["run_id"]
        if message.get("run_id") != own:
            raise ProtocolError(f"{message['type']}: expected run {own}, got {message.get('run_id')!r:.80}")


def _read_int(message: dict[str, Any], name: str, least: int, most: int | None) -> int:
    value = message.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        bound = "" if most is None else f" to {most}"
        raise ProtocolError(f"{message['type']}: expected {name} from {least}{bound}, got {value!r:.80}")
    return value


def _read_error(message: dict[str, Any]) -> ServerError:
    kind = RefusedError if message.get("fatal") is True else ServerError
    return kind(str(message.get("code"))[:100], str(message.get("message"))[:1000])


_EXPLANATIONS: Final[tuple[tuple[tuple[type[BaseException], ...], str, str], ...]] = (
    # The first that fits; a class before its base.
    ((ServerError,), "error {error.code}", "the server at {at} answered: {error}; it is tried again"),
    ((ServerTimeoutError,), "silent", "the server at {at} is silent: {error}; it is tried again"),
    (
        (ProtocolError,),
        "protocol",
        "{at} does not speak as a gradwatch server does: {error}; check GRADWATCH_URL; it is tried again",
    ),
    ((ConnectionClosed,), "closed", "the server at {at} closed the connection ({error}); it is tried again"),
    (
        (InvalidHandshake,),
        "handshake",
        "no websocket at {at}: {error}; check GRADWATCH_URL or start one with `gradwatch serve`; it is tried again",
    ),
    (
        (asyncio.TimeoutError, TimeoutError),
        "absent",
        "no server answers at {at} (no answer in time); start one with `gradwatch serve`",
    ),
    (
        (ssl.SSLError,),
        "tls",
        "no secure connection to {at}: {error}; check http:// or https:// in GRADWATCH_URL; it is tried again",
    ),
    (
        (socket.gaierror,),
        "name",
        "no host is known as {at} ({error.strerror}); check GRADWATCH_URL; it is tried again",
    ),
    (
        (ConnectionRefusedError,),
        "absent",
        "no server answers at {at} (connection refused); start one with `gradwatch serve`",
    ),
    ((OSError,), "absent", "no server answers at {at} ({error}); start one with `gradwatch serve`"),
    ((BaseException,), "other {name}", "{at}: {name}: {error}; it is tried again"),
)


def explain(error: BaseException, endpoint: Endpoint) -> Failure:
    """Says why a connection failed, and what to do about it."""
    if isinstance(error, RefusedError):
        text = f"the server at {endpoint.address} refused this run: {error}"
        return Failure("refused", text, is_fatal=True, is_unwanted=error.code == "run_deleted")
    if isinstance(error, InvalidStatus):
        return _explain_status(error, endpoint)
    key, text = next((key, text) for types, key, text in _EXPLANATIONS if isinstance(error, types))
    words = {"at": endpoint.address, "error": error, "name": type(error).__name__}
    return Failure(key.format(**words), text.format(**words))


def _explain_status(error: InvalidStatus, endpoint: Endpoint) -> Failure:
    status, at = error.response.status_code, endpoint.address
    if status in (401, 403):
        if endpoint.token:
            text = "wrong token; set GRADWATCH_TOKEN to the server's"
        else:
            text = "it wants a token; set GRADWATCH_TOKEN to the server's"
        return Failure(f"status {status}", f"{at} answered {status}: {text}", is_fatal=True)
    if status in TRANSIENT_STATUSES:
        return Failure(f"status {status}", f"{at} answered {status}; it is tried again")
    return Failure(
        f"status {status}",
        f"{at} answered {status} to {INGEST_PATH}: no gradwatch server is there; check GRADWATCH_URL, "
        "or start one with `gradwatch serve`",
        is_fatal=True,
    )


def as_error(failure: Failure, error: BaseException) -> GradwatchError:
    """Gives an error to raise where there is someone to catch it."""
    if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
        return ServerTimeoutError(failure.text)
    if isinstance(error, ProtocolError):
        return ProtocolError(failure.text)
    return ServerError(error.code if isinstance(error, ServerError) else failure.key.replace(" ", "_"), failure.text)
