"""``gradwatch forecasts``: what the engine forecast, and what became of it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from gradwatch_server.store.forecasts import read_forecasts
from gradwatch_server.terminal import AsJson, Database, find_run, open_store, print_json

__all__ = ["add_forecast_commands"]

COLOURS = {"came_true": "green", "did_not": "yellow", "pending": "cyan"}
WORDS = {"came_true": "came true", "did_not": "did not come true", "pending": "open"}

Run = Annotated[str | None, typer.Argument(metavar="RUN", help="A run's id, or the beginning of one; without it, all")]
Project = Annotated[str | None, typer.Option(help="Only of this project")]


def add_forecast_commands(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(forecasts)


def forecasts(run: Run = None, *, project: Project = None, database: Database = None, as_json: AsJson = False) -> None:
    """Show the engine's own record: what it forecast, and what came true."""
    with open_store(database) as store:
        run_id = None if run is None else find_run(store, run)
        with store.read() as connection:
            found, counts = read_forecasts(connection, run_id=run_id, project=project)
    if as_json:
        print_json({"forecasts": found, "total": len(found), "counts": counts})
        return
    console = Console(highlight=False, soft_wrap=True)
    for one in found:
        console.print(f"[{COLOURS[one['outcome']]} bold]{WORDS[one['outcome']]}[/] {escape(_say(one))}")
        console.print(f"  [dim]{escape(one['run']['name'])} · {escape(one['finding']['id'])}[/]")
    console.print(
        f"{counts['came_true']:,} came true, {counts['did_not']:,} did not, {counts['pending']:,} open."
        if found
        else "Nothing was forecast so far."
    )


def _say(one: dict[str, Any]) -> str:
    text = f"{one['what']} at step {one['known_step']:,}: {one['finding']['title']}"
    return text if one["lead_steps"] is None else f"{text} ({one['lead_steps']:,} steps ahead)"
