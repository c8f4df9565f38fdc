"""Listening: the address, the socket and uvicorn's options. Knows nothing of what is served."""

from __future__ import annotations

import errno
import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import LOGGING_CONFIG

from gradwatch_server.errors import GradwatchServerError, SettingsError
from gradwatch_server.settings import Settings

__all__ = ["ListenError", "bind", "check_exposure", "make_config", "url_of"]

PING_INTERVAL_S = 20.0
PING_TIMEOUT_S = 60.0
"""Longer than uvicorn's own: while a hook's inbox is full its socket is not read, and its pong waits too."""
SHUTDOWN_TIMEOUT_S = 5


class ListenError(GradwatchServerError):
    """The address cannot be listened on."""


def check_exposure(settings: Settings) -> None:
    """Refuses to show runs to a network without a token.

    Raises:
        SettingsError: the address is not loopback, there is no token, and nobody said that this is meant.
    """
    if settings.is_loopback or settings.secret is not None or settings.insecure:
        return
    raise SettingsError(
        "token_required",
        f"--host {settings.host} can be reached from other machines, and anyone there could read and delete runs. Set "
        "GRADWATCH_TOKEN to a secret (hooks and browsers then show it), or add --insecure if the network is yours.",
    )


def bind(settings: Settings) -> socket.socket:
    """Takes the port before anything else is started.

    Returns:
        The bound socket; the caller closes it.

    Raises:
        ListenError: the port is taken, or the address is not this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ListenError("cannot_listen", f"--host {settings.host}: no address of this machine ({error}).") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        # Listening now tells a second server on the same port at once.
        bound.listen(128)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            text = (
                f"Port {settings.port} on {settings.host} is in use, perhaps by a gradwatch that is running already: "
                f"open {url_of(settings, settings.port)}, or choose another port with --port (0 takes a free one)."
            )
            raise ListenError("port_in_use", text, {"port": settings.port}) from error
        text = f"Cannot listen on {settings.host}:{settings.port}: {error.strerror or error}."
        raise ListenError("cannot_listen", text) from error
    return bound


def url_of(settings: Settings, port: int) -> str:
    """The address to open in a browser on this machine."""
    anywhere = {"0.0.0.0", "::", ""}  # noqa: S104 compared with, not bound to
    host = "127.0.0.1" if settings.host in anywhere else settings.host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_config(
    app: ASGIApp, settings: Settings, *, log_config: dict[str, Any] | None = LOGGING_CONFIG
) -> uvicorn.Config:
    """Makes uvicorn's options for this app; with ``log_config`` None its log goes where the process has its logs go."""
    return uvicorn.Config(
        app,
        log_config=log_config,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        # Beyond this uvicorn closes without a word; up to it the app says what is wrong.
        ws_max_size=2 * settings.message_limit_bytes,
        # Blocks of float32 do not shrink, and compressing them costs more than sending.
        ws_per_message_deflate=False,
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=PING_TIMEOUT_S,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
        server_header=False,
    )
