"""Rules of alerts: who is told of what. Their addresses are taken, and never shown again in full."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from gradwatch_server.alerts import check_rule, describe_rule
from gradwatch_server.answers import Answer
from gradwatch_server.api.models import ErrorAnswer
from gradwatch_server.api.query import ERRORS, Here, shape
from gradwatch_server.errors import ConflictError
from gradwatch_server.services import Services
from gradwatch_server.store.alerts import add_rule, read_rule, read_rules, remove_rule
from gradwatch_server.store.catalogue import iso

__all__ = ["Alert", "AlertList", "AlertTested", "AlertWish", "router"]

router = APIRouter(tags=["alerts"])
Json = dict[str, Any]
Channel = Literal["webhook", "slack", "discord", "email"]
Severity = Literal["warning", "critical"]
DAY_S = 86_400.0


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AlertWish(_Shape):
    """A rule to add. It holds for what is found from then on."""

    channel: Channel = Field(description="webhook: the own JSON; slack and discord: a message in their form; email.")
    url: str | None = Field(
        None,
        max_length=2000,
        description="Where to post, http or https; not for email.",
        examples=["https://hooks.example.com/services/T0/B0/x1y2z3"],
    )
    to: list[str] = Field([], max_length=50, description="E-mail addresses; for email alone.")
    name: str = Field(
        "", max_length=200, description="What people call it; default: the channel.", examples=["on call"]
    )
    project: str | None = Field(None, min_length=1, max_length=1000, description="Only this project; null: all.")
    severity: Severity = Field("critical", description="Findings at least so severe.")
    kinds: list[str] = Field([], max_length=50, description="Findings of these kinds only; none: of all kinds.")
    debounce_s: float = Field(
        10.0,
        ge=0,
        le=DAY_S,
        description="Seconds from a finding to its message, which tells all that is found of the run until then.",
    )


class AlertTried(_Shape):
    """How the newest try by a rule went."""

    state: Literal["sent", "failed", "waiting"] = Field(description="waiting: it failed, and is tried again.")
    error: str | None
    at: str


class Alert(_Shape):
    """A rule."""

    id: str = Field(examples=["5f0c2a9e"])
    name: str
    project: str | None
    channel: Channel
    target: str = Field(
        description="E-mail addresses, or a webhook's host.", examples=["https://hooks.example.com/…y2z3"]
    )
    severity: Severity
    kinds: list[str]
    debounce_s: float
    created_at: str
    n_waiting: int = Field(description="Findings that are to be told yet.")
    last: AlertTried | None = Field(description="Null: none was tried yet.")


class AlertList(_Shape):
    """All rules, the oldest first."""

    alerts: list[Alert]
    has_mail: bool = Field(description="Whether this server has a mail server (GRADWATCH_SMTP_URL).")


class AlertTested(_Shape):
    """An example was taken by the receiver."""

    id: str = Field(description="As the receiver was told.")
    took_s: float


@router.get("/alerts", responses=shape(AlertList))
def get_alerts(services: Here) -> Response:
    """Lists the rules."""
    with services.store.read() as connection:
        found = [_show(rule) for rule in read_rules(connection)]
    return Answer({"alerts": found, "has_mail": services.settings.mail_url is not None})


@router.post("/alerts", status_code=201, responses={201: {"model": Alert, "description": "The rule"}, **ERRORS})
async def post_alert(services: Here, wish: AlertWish) -> Response:
    """Adds a rule."""
    rule = check_rule(wish.model_dump())
    if rule["channel"] == "email" and services.settings.mail_url is None:
        raise ConflictError(
            "no_mail_server",
            "This server has no mail server. Start it with GRADWATCH_SMTP_URL=smtp://user:password@host:587.",
        )
    await asyncio.wrap_future(services.store.writer.submit(partial(add_rule, rule=rule)))
    return Answer(_show({**rule, "n_waiting": 0, "last": None}), status_code=201)


@router.delete("/alerts/{alert_id}", status_code=204, responses=ERRORS)
async def delete_alert(services: Here, alert_id: str) -> Response:
    """Removes a rule, and what is due by it."""
    await asyncio.wrap_future(services.store.writer.submit(partial(remove_rule, rule_id=alert_id)))
    return Response(status_code=204)


@router.post(
    "/alerts/{alert_id}/test",
    responses={**shape(AlertTested), 502: {"model": ErrorAnswer, "description": "The receiver did not take it"}},
)
async def test_alert(services: Here, alert_id: str) -> Response:
    """Sends an example to the rule's receiver, once and at once."""
    rule = await asyncio.to_thread(_read_rule, services, alert_id)
    return Answer(await services.dispatcher.test(rule))


def _read_rule(services: Services, alert_id: str) -> Json:
    with services.store.read() as connection:
        return read_rule(connection, alert_id)


def _show(rule: Json) -> Json:
    last = rule["last"]
    shown = None if last is None else {"state": last["state"], "error": last["error"], "at": iso(last["at"])}
    return {**describe_rule(rule), "n_waiting": rule["n_waiting"], "last": shown}
