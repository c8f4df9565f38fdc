"""``gradwatch alerts``: list, add, remove and test the rules of alerts, by way of the server."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradwatch_server.terminal import AsJson, Url, address_of, print_json

__all__ = ["alerts"]

COLOURS = {"sent": "green", "failed": "red", "waiting": "yellow"}
alerts = typer.Typer(help="Who is told of findings: webhooks, Slack, Discord, e-mail.", no_args_is_help=True)
AlertArgument = Annotated[str, typer.Argument(metavar="ALERT", help="A rule's id")]


class Channel(str, Enum):
    """Where a rule's messages go."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    DISCORD = "discord"
    EMAIL = "email"


class Severity(str, Enum):
    """How severe a finding must be at least."""

    WARNING = "warning"
    CRITICAL = "critical"


@alerts.command("list")
def show(*, url: Url = None, as_json: AsJson = False) -> None:
    """List the rules, and how their newest message went."""
    answer = _ask(url, "GET", "/api/alerts")
    if as_json:
        print_json(answer)
        return
    if not answer["alerts"]:
        typer.echo("Nobody is told of anything yet: gradwatch alerts add CHANNEL ADDRESS")
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for title in ("ALERT", "NAME", "PROJECT", "TELLS", "TO", "LAST"):
        table.add_column(title, overflow="fold")
    for rule in answer["alerts"]:
        last = rule["last"]
        state = "" if last is None else f"[{COLOURS[last['state']]}]{last['state']}[/] {escape(last['error'] or '')}"
        tells = ", ".join(rule["kinds"]) or ("critical" if rule["severity"] == "critical" else "everything")
        table.add_row(
            rule["id"],
            escape(rule["name"]),
            escape(rule["project"] or "all"),
            tells,
            escape(f"{rule['channel']} {rule['target']}"),
            state,
        )
    Console().print(table)


@alerts.command()
def add(
    channel: Annotated[Channel, typer.Argument(help="Where messages go")],
    address: Annotated[list[str], typer.Argument(metavar="ADDRESS...", help="A webhook's URL, or e-mail addresses")],
    *,
    name: Annotated[str, typer.Option(help="What people call it")] = "",
    project: Annotated[str | None, typer.Option(help="Only this project; default: all")] = None,
    severity: Annotated[Severity, typer.Option(help="Findings at least so severe")] = Severity.CRITICAL,
    kind: Annotated[list[str] | None, typer.Option(help="Only findings of this kind; may be repeated")] = None,
    debounce: Annotated[
        float, typer.Option(metavar="SECONDS", help="From a finding to its message, which tells all found until then")
    ] = 10.0,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Add a rule; "gradwatch alerts test" tries it."""
    if channel is not Channel.EMAIL and len(address) > 1:
        raise typer.BadParameter(f"{channel.value} takes one URL, found {len(address)}", param_hint="ADDRESS")
    wish: dict[str, Any] = {
        "channel": channel.value,
        "name": name,
        "project": project,
        "severity": severity.value,
        "kinds": kind or [],
        "debounce_s": debounce,
    }
    wish |= {"to": address} if channel is Channel.EMAIL else {"url": address[0]}
    rule = _ask(url, "POST", "/api/alerts", wish)
    if as_json:
        print_json(rule)
        return
    typer.echo(f"Added {rule['id']}: {rule['channel']} {rule['target']}. Try it: gradwatch alerts test {rule['id']}")


@alerts.command()
def remove(alert: AlertArgument, *, url: Url = None) -> None:
    """Remove a rule, and what is due by it."""
    _ask(url, "DELETE", f"/api/alerts/{quote(alert, safe='')}")
    typer.echo(f"Removed {alert}.")


@alerts.command("test")
def try_out(alert: AlertArgument, *, url: Url = None, as_json: AsJson = False) -> None:
    """Send an example to the rule's receiver, once and at once."""
    answer = _ask(url, "POST", f"/api/alerts/{quote(alert, safe='')}/test", timeout_s=60.0)
    if as_json:
        print_json(answer)
        return
    typer.echo(f"Sent, and taken within {answer['took_s']:g} s.")


def _ask(url: str | None, method: str, path: str, body: Any = None, timeout_s: float = 10.0) -> dict[str, Any]:
    from gradwatch_server.remote import open_remote  # noqa: PLC0415 only commands that ask a server talk HTTP

    with open_remote(*address_of(url)) as remote:
        return remote.ask(method, path, body, timeout_s=timeout_s)
