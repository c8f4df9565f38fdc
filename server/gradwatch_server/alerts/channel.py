"""Delivers a notice to its receiver, once, and says what the answer means. Owns no retries and no database.

A rule's address is a person's wish that the server posts somewhere, so: http and https alone, no redirects, no
link-local address (where clouds keep a machine's credentials), a limit on the time that all of it may take, and nothing
of what the receiver answers but its status.
"""

from __future__ import annotations

import asyncio
import email.utils
import ipaddress
import math
import socket
import time
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import aiosmtplib
import httpx
import orjson

from gradwatch_server import __version__
from gradwatch_server.alerts.notice import Notice, say_discord, say_json, say_mail, say_slack
from gradwatch_server.errors import GradwatchServerError
from gradwatch_server.settings import Settings

__all__ = ["Deliverer", "DeliveryError"]

Json = dict[str, Any]
TRANSIENT_STATUSES = {408, 425, 429}
"""Answers below 500 that may be others in a while."""
RETRY_AFTER_LIMIT_S = 3600.0
SAY = {"webhook": say_json, "slack": say_slack, "discord": say_discord}


class DeliveryError(GradwatchServerError):
    """A notice was not delivered.

    Attributes:
        is_final: whether trying again cannot help.
        retry_after_s: how long the receiver asks to be left alone, or None.
    """

    status = 502

    def __init__(self, message: str, *, is_final: bool = False, retry_after_s: float | None = None) -> None:
        """Says what came, and whether it may change."""
        super().__init__("delivery_failed", message, {"is_final": is_final})
        self.is_final, self.retry_after_s = is_final, retry_after_s


@dataclass(frozen=True)
class _MailServer:
    host: str
    port: int
    user: str | None
    password: str | None
    is_tls: bool
    needs_tls: bool

    @classmethod
    def of(cls, url: str) -> _MailServer:
        parts = urlsplit(url)
        is_tls, host = parts.scheme == "smtps", parts.hostname or "localhost"
        user = unquote(parts.username) if parts.username else None
        password = unquote(parts.password) if parts.password else None
        # A password crosses no network in clear.
        needs_tls = not is_tls and user is not None and not _is_loopback(host)
        return cls(host, parts.port or (465 if is_tls else 587), user, password, is_tls, needs_tls)


class Deliverer:
    """Delivers notices.

    Args:
        settings: the mail server, and how long a delivery may take.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def deliver(self, rule: Json, notice: Notice) -> None:
        """Delivers a notice as its rule says.

        Raises:
            DeliveryError: it was not taken.
        """
        timeout_s = self._settings.alert_timeout_s
        try:
            job = self._mail(rule, notice) if rule["channel"] == "email" else self._post(rule, notice)
            await asyncio.wait_for(job, timeout_s)
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise DeliveryError(f"The receiver did not take it within {timeout_s:g} s.") from error

    async def _post(self, rule: Json, notice: Notice) -> None:
        url = str(rule["target"])
        host = urlsplit(url).hostname or ""
        await _check_address(host, urlsplit(url).port or (443 if url.startswith("https") else 80))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"gradwatch/{__version__}",
            "X-Gradwatch-Delivery": notice.id,
        }
        body = orjson.dumps(SAY[rule["channel"]](notice), option=orjson.OPT_SERIALIZE_NUMPY)
        # A proxy of the environment leads out of the house, never to this machine itself.
        client = httpx.AsyncClient(
            timeout=self._settings.alert_timeout_s, follow_redirects=False, trust_env=not _is_loopback(host)
        )
        try:
            # The answer's body is not read: its status says all that is needed.
            async with client, client.stream("POST", url, content=body, headers=headers) as answer:
                _judge(answer)
        except httpx.TimeoutException as error:
            raise DeliveryError("The receiver did not answer in time.") from error
        except (httpx.HTTPError, OSError) as error:
            raise DeliveryError(f"The receiver cannot be reached: {_reason(error)}.") from error

    async def _mail(self, rule: Json, notice: Notice) -> None:
        settings = self._settings
        if settings.mail_url is None:
            raise DeliveryError("This server has no mail server: set GRADWATCH_SMTP_URL.")
        server = _MailServer.of(settings.mail_url)
        message = say_mail(notice, settings.mail_sender, rule["target"])
        try:
            await aiosmtplib.send(
                message,
                hostname=server.host,
                port=server.port,
                username=server.user,
                password=server.password,
                use_tls=server.is_tls,
                start_tls=True if server.needs_tls else False if server.is_tls else None,
                timeout=settings.alert_timeout_s,
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            refused = ", ".join(f"{one.recipient} ({one.code})" for one in error.recipients)
            is_final = all(one.code >= 500 for one in error.recipients)
            raise DeliveryError(f"The mail server takes nothing for {refused}.", is_final=is_final) from error
        except aiosmtplib.SMTPResponseException as error:
            text = f"The mail server answered {error.code} {' '.join(str(error.message).split())[:200]}."
            raise DeliveryError(text, is_final=error.code >= 500) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise DeliveryError(f"The mail server {server.host}:{server.port} failed: {_reason(error)}.") from error


def _judge(answer: httpx.Response) -> None:
    status = answer.status_code
    if answer.is_success:
        return
    text = f"The receiver answered {status} {answer.reason_phrase}".rstrip() + "."
    if answer.is_redirect:
        raise DeliveryError(f"{text} Redirects are not followed: give the final address.", is_final=True)
    is_final = status < 500 and status not in TRANSIENT_STATUSES
    raise DeliveryError(text, is_final=is_final, retry_after_s=_read_retry_after(answer.headers.get("retry-after")))


def _read_retry_after(text: str | None) -> float | None:
    """Seconds of a ``Retry-After`` header, given as seconds or as a date."""
    if text is None:
        return None
    try:
        wait_s = float(text)
    except ValueError:
        try:
            wait_s = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(wait_s, 0.0), RETRY_AFTER_LIMIT_S) if math.isfinite(wait_s) else None


async def _check_address(host: str, port: int) -> None:
    """Lets pass what a webhook may be posted to."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        if urllib.request.getproxies():  # then names are the proxy's affair
            return
        raise DeliveryError(f"No host is known as {host} ({_reason(error)}).") from error
    for _, _, _, _, place in found:
        address = ipaddress.ip_address(str(place[0]).partition("%")[0])
        address = getattr(address, "ipv4_mapped", None) or address
        if address.is_link_local or address.is_multicast or address.is_unspecified:
            text = f"{host} is {address}, to which no alert is sent: it is no receiver's address."
            raise DeliveryError(text, is_final=True)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")
