"""``gradwatch acknowledge``, ``dismiss`` and ``reopen``: what a person says of a finding, by way of the server.

The server is asked, and not the database, so that open pages hear of it at once.
"""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from gradwatch_server.terminal import AsJson, RunArgument, Url, address_of, print_json

__all__ = ["add_review_commands"]

FindingArgument = Annotated[
    str,
    typer.Argument(metavar="FINDING", help='A finding\'s id, or the beginning of one; "gradwatch findings" has them'),
]
Note = Annotated[str, typer.Option("--note", "-m", help="Why, for others")]


def add_review_commands(app: typer.Typer) -> None:
    """Adds the three commands."""
    for command in (acknowledge, dismiss, reopen):
        app.command()(command)


def acknowledge(
    run: RunArgument, finding: FindingArgument, *, note: Note = "", url: Url = None, as_json: AsJson = False
) -> None:
    """Say that a finding is true and known; it still counts, and alerts no more."""
    _review(run, finding, {"state": "acknowledged", "note": note}, url=url, as_json=as_json)


def dismiss(
    run: RunArgument, finding: FindingArgument, *, note: Note = "", url: Url = None, as_json: AsJson = False
) -> None:
    """Say that a finding is none, or is meant; it no longer counts in the run's health."""
    _review(run, finding, {"state": "dismissed", "note": note}, url=url, as_json=as_json)


def reopen(run: RunArgument, finding: FindingArgument, *, url: Url = None, as_json: AsJson = False) -> None:
    """Take back what was said of a finding."""
    _review(run, finding, None, url=url, as_json=as_json)


def _review(run: str, finding: str, wish: dict[str, Any] | None, *, url: str | None, as_json: bool) -> None:
    from gradwatch_server.remote import open_remote  # noqa: PLC0415 only commands that ask a server talk HTTP

    with open_remote(*address_of(url)) as remote:
        run_id = remote.find_run(run)
        found = remote.find_finding(run_id, finding)
        path = f"/api/runs/{quote(run_id)}/findings/{quote(found['id'], safe='')}/review"
        remote.ask("PUT" if wish else "DELETE", path, wish)
        found = remote.find_finding(run_id, found["id"])
        health = remote.ask("GET", f"/api/runs/{quote(run_id)}")["health"]
    if as_json:
        print_json({"finding": found, "health": health})
        return
    said = wish["state"].capitalize() if wish else "Open again"
    typer.echo(f"{said}: {found['title']}")
    typer.echo(f"{run_id} is {health['level']} now.")
