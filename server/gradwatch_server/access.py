"""Who may talk to the server: token, cookie, origin and host name. Pure functions of headers; owns no route.

Without a token the server trusts whoever reaches its address, which is loopback unless told otherwise; the checks of
host name and origin then keep other pages in the same browser out (DNS rebinding, cross-site websockets).
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from gradwatch_server.errors import AccessError, ForbiddenError
from gradwatch_server.settings import Settings

__all__ = ["COOKIE", "check_host", "check_origin", "check_token", "cookie_value", "is_token"]

COOKIE = "gradwatch_session"
LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}


def is_token(settings: Settings, offered: str) -> bool:
    """Whether a text is the token; takes equally long for every wrong one."""
    secret = settings.secret
    return secret is None or hmac.compare_digest(offered.encode(), secret.encode())


def cookie_value(secret: str) -> str:
    """What a browser keeps in place of the token."""
    return hmac.new(secret.encode(), b"gradwatch session", hashlib.sha256).hexdigest()


def check_token(connection: HTTPConnection, settings: Settings) -> None:
    """Lets pass who shows the token as a bearer or the cookie made from it.

    Raises:
        AccessError: neither was shown, or a wrong one.
    """
    secret = settings.secret
    if secret is None:
        return
    scheme, _, offered = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and is_token(settings, offered.strip()):
        return
    cookie = connection.cookies.get(COOKIE, "")
    if hmac.compare_digest(cookie.encode(), cookie_value(secret).encode()):
        return
    how = "The token shown is not this server's." if scheme or cookie else "This server asks for a token."
    raise AccessError(
        "unauthorized",
        f"{how} Set GRADWATCH_TOKEN where the training runs; in a browser open /login, or the page with ?token=.",
    )


def check_host(connection: HTTPConnection, settings: Settings) -> None:
    """On a loopback address, lets pass only requests that name a loopback host.

    Raises:
        ForbiddenError: the request names another host, as a page does that points its own name at this machine.
    """
    if not settings.is_loopback or settings.secret is not None:
        return
    host = connection.headers.get("host", "")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    allowed = {urlsplit(origin).hostname for origin in settings.allowed_origins}
    if name.lower() not in LOOPBACK_NAMES and name.lower() not in allowed and name != settings.host:
        raise ForbiddenError(
            "forbidden_host",
            f"This server listens on {settings.host} and was asked as {host!r}. If a proxy of yours does so, name it "
            "in GRADWATCH_ALLOWED_ORIGINS.",
            {"host": host},
        )


def check_origin(connection: HTTPConnection, settings: Settings) -> None:
    """Lets pass what comes from this server's own pages, from allowed ones, or from no page at all.

    Raises:
        ForbiddenError: a foreign page.
    """
    origin = connection.headers.get("origin")
    if origin is None or origin in settings.allowed_origins:
        return
    if urlsplit(origin).netloc.lower() != connection.headers.get("host", "").lower():
        raise ForbiddenError(
            "forbidden_origin",
            f"Origin {origin!r} is not this server's. If the page is yours, name it in GRADWATCH_ALLOWED_ORIGINS.",
            {"origin": origin},
        )
