"""What alerts are sent to: an HTTP server and a mail server on 127.0.0.1, which misbehave as told."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from tests.serving import free_port

__all__ = ["Behaviour", "MailServer", "Receiver", "mail_server", "receiver"]


@dataclass
class Behaviour:
    """How one request is answered.

    Attributes:
        status: the HTTP status.
        headers: sent with it.
        hangs: whether it is answered only when the test is over.
        gate: what is waited for before it is answered.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    gate: threading.Event | None = None


class Receiver:
    """A webhook's other end.

    Attributes:
        url: its address.
        taken: what was taken (answered with 2xx), decoded.
        times: when each request came, in monotonic seconds.
        headers: of each request.
    """

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.headers: list[dict[str, str]] = []
        self.plan: deque[Behaviour] = deque()
        self.usual = Behaviour()
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook/a-secret-place-abcd"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def n_requests(self) -> int:
        return len(self.times)

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                receiver.times.append(time.monotonic())
                receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
                how = receiver.plan.popleft() if receiver.plan else receiver.usual
                if how.hangs:
                    receiver.over.wait(60)
                    return
                if how.gate is not None:
                    how.gate.wait(60)
                if how.status < 300:
                    receiver.taken.append(body)
                self.send_response(how.status)
                for name, value in how.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def receiver():
    """A webhook's other end, for as long as it is needed."""
    made = Receiver()
    try:
        yield made
    finally:
        made.close()


class MailServer:
    """A real SMTP server.

    Attributes:
        url: for GRADWATCH_SMTP_URL.
        mails: (recipients, message) of each mail taken.
        refusals: answers to the next recipients, such as ``"450 later"``; then all are taken.
        logins: who signed in.
    """

    def __init__(self, password: str | None = None) -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []
        self.refusals: deque[str] = deque()
        self.logins: list[str] = []
        self._password = password
        options: dict[str, Any] = {}
        if password is not None:
            options = {"authenticator": self._authenticate, "auth_require_tls": False}
        self._controller = Controller(self, hostname="127.0.0.1", port=free_port(), **options)
        self._controller.start()
        user = f"watch%40example.com:{password}@" if password else ""
        self.url = f"smtp://{user}127.0.0.1:{self._controller.port}"

    def _authenticate(self, _server, _session, _envelope, _mechanism, data) -> AuthResult:
        self.logins.append(data.login.decode())
        return AuthResult(success=data.password.decode() == self._password)

    async def handle_RCPT(self, _server, _session, envelope, address, _options) -> str:  # noqa: N802 the library's name
        if self.refusals:
            return self.refusals.popleft()
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server, _session, envelope) -> str:  # noqa: N802 likewise
        self.mails.append((envelope.rcpt_tos, message_from_bytes(envelope.content, policy=policy.default)))
        return "250 taken"

    def close(self) -> None:
        self._controller.stop()


@contextmanager
def mail_server(password: str | None = None):
    """A real SMTP server, for as long as it is needed."""
    made = MailServer(password)
    try:
        yield made
    finally:
        made.close()
