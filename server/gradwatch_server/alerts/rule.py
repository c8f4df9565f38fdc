"""Who is told of what: the checks on a rule, and how it is shown without its secrets. Owns no delivery."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from gradwatch_server.errors import InvalidQueryError, unknown
from gradwatch_server.store.catalogue import iso

__all__ = ["CHANNELS", "FINDING_KINDS", "check_rule", "describe_rule"]

Json = dict[str, Any]
CHANNELS = ("webhook", "slack", "discord", "email")
FINDING_KINDS = (
    "nonfinite_input",
    "nonfinite_activation",
    "nonfinite_loss",
    "nonfinite_gradient",
    "nonfinite_weight",
    "singular_gradient",
    "steep_gradient",
    "exploding_gradient",
    "vanishing_gradient",
    "zero_gradient",
    "missing_gradient",
    "dead_units",
    "saturated_activation",
    "lr_too_high",
    "loss_plateau",
    "loss_scale_floor",
)
ADDRESS = re.compile(r"[^\s@<>,;:\"()\\\x00-\x1f\x7f]+@[^\s@<>,;:\"()\\\x00-\x1f\x7f]+")
SHOWN_TAIL = 4
"""Characters of a webhook's address that tell two apart, and give neither away."""


def check_rule(wish: Json) -> Json:
    """Makes a row of ``alert_rules`` of what was asked for.

    Args:
        wish: the fields of `gradwatch_server.api.alerts.AlertWish`.

    Raises:
        InvalidQueryError: a kind or an address that cannot be.
    """
    for kind in wish["kinds"]:
        if kind not in FINDING_KINDS:
            raise unknown("finding_kind", kind, FINDING_KINDS)
    target = _check_mail(wish) if wish["channel"] == "email" else _check_url(wish)
    return {
        "id": secrets.token_hex(4),
        "name": " ".join(wish["name"].split()) or wish["channel"],
        "project": wish["project"],
        "channel": wish["channel"],
        "target": target,
        "severity": wish["severity"],
        "kinds": list(dict.fromkeys(wish["kinds"])),
        "debounce_s": wish["debounce_s"],
        "created_at": time.time(),
    }


def describe_rule(rule: Json) -> Json:
    """A rule as it is shown: of a webhook's address, often the secret itself, the host and the last letters."""
    names = ("id", "name", "project", "channel", "severity", "kinds", "debounce_s")
    shown = {name: rule[name] for name in names}
    target = ", ".join(rule["target"]) if rule["channel"] == "email" else _hide(rule["target"])
    return {**shown, "target": target, "created_at": iso(rule["created_at"])}


def _hide(url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    place = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    secret = f"{parts.path}?{parts.query}" if parts.query else parts.path
    tail = secret[-SHOWN_TAIL:] if len(secret) > 4 * SHOWN_TAIL else ""
    return f"{parts.scheme}://{place}{port}/…{tail}" if secret.strip("/?") else f"{parts.scheme}://{place}{port}"


def _check_url(wish: Json) -> str:
    if wish["to"]:
        raise _mistake("to", wish["to"], f'nothing: it is for the channel "email", and this is "{wish["channel"]}"')
    url: str | None = wish["url"]
    expected = "the address to post to, http:// or https://"
    if not url:
        raise _mistake("url", url, expected)
    try:
        parts = urlsplit(url)
        _ = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise _mistake("url", "one that cannot be read", f"{expected} ({error})") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _mistake("url", f"one with {parts.scheme or 'no'}://", expected)
    if parts.username or parts.password or not url.isascii() or not url.isprintable() or " " in url:
        raise _mistake("url", "one with a name, a password or signs that no address has", expected)
    return url


def _check_mail(wish: Json) -> list[str]:
    if wish["url"]:
        raise _mistake("url", "one", 'nothing: the channel "email" is told by "to"')
    addresses: Sequence[str] = wish["to"]
    if not addresses:
        raise _mistake("to", [], "one or more e-mail addresses")
    for address in addresses:
        if not ADDRESS.fullmatch(address) or not address.isascii():
            raise _mistake("to", address, "an e-mail address, as in ops@example.com")
    return list(dict.fromkeys(addresses))


def _mistake(field: str, found: Any, expected: str) -> InvalidQueryError:
    # An address may be a secret: what was found of it is not repeated.
    return InvalidQueryError("invalid_alert", f"{field}: found {found!r}, expected {expected}.", {"field": field})
