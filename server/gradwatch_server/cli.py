"""The command line. The listing commands and ``delete`` work on the database itself, so they need no running server.

Exit codes: 0 all is well, 1 a critical finding (``findings``) or something left undelivered (``sync``), 2 a mistake in
how it was called, 3 something around it failed (port, database, server). An error is one line, never a traceback.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlalchemy.exc import SQLAlchemyError

from gradwatch.errors import GradwatchError, ServerError
from gradwatch_server import __version__
from gradwatch_server.alert_commands import alerts
from gradwatch_server.errors import GradwatchServerError, RequestError, SettingsError
from gradwatch_server.forecast_commands import add_forecast_commands
from gradwatch_server.report_commands import add_report_commands
from gradwatch_server.review_commands import add_review_commands
from gradwatch_server.settings import Settings, read_settings
from gradwatch_server.store import RunFilter, Store
from gradwatch_server.store.catalogue import list_runs, read_run, remove_run
from gradwatch_server.store.findings import is_dismissed, read_findings
from gradwatch_server.terminal import AsJson, Database, RunArgument, Url, address_of, find_run, open_store, print_json

__all__ = ["app", "run"]

CRITICAL_FOUND, MISTAKE, FAILURE = 1, 2, 3
SYNC_TIMEOUT_S = 30.0
COLOURS = {"healthy": "green", "warning": "yellow", "critical": "red"}
STATE_COLOURS = {"live": "cyan", "finished": "default", "crashed": "red", "lost_contact": "yellow"}

app = typer.Typer(
    name="gradwatch",
    help="A live health monitor for the gradients of TensorFlow training.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def run() -> None:
    """Runs the command line; an error becomes one line and an exit code."""
    try:
        app()
    except (GradwatchServerError, GradwatchError, SQLAlchemyError, OSError) as error:
        is_mistake = isinstance(error, (RequestError, SettingsError))
        reason = getattr(error, "orig", None) or error
        Console(stderr=True, soft_wrap=True).print(f"[red]gradwatch:[/] {escape(str(reason))}", highlight=False)
        raise SystemExit(MISTAKE if is_mistake else FAILURE) from None


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradwatch {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """A live health monitor for the gradients of TensorFlow training."""


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; beyond loopback a token is needed")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on, 0 for a free one")] = None,
    database: Database = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Listen beyond loopback without a token")] = False,
) -> None:
    """Start the dashboard and wait for runs."""
    # The listing commands answer sooner without the web framework.
    from gradwatch_server.serving import bind, check_exposure, url_of  # noqa: PLC0415

    settings = read_settings(host=host, port=port, database=database, insecure=insecure or None)
    check_exposure(settings)
    # A database that cannot be used is told before anything listens.
    Store(settings).close()
    with bind(settings) as listener:
        address = url_of(settings, listener.getsockname()[1])
        console = Console(soft_wrap=True)
        console.print(f"gradwatch {__version__}: [bold]{address}[/]  (Ctrl+C stops)", highlight=False)
        if settings.secret is not None:
            console.print("Hooks and browsers need GRADWATCH_TOKEN.", highlight=False)
        _serve(settings, listener)


def _serve(settings: Settings, listener: Any) -> None:
    import uvicorn  # noqa: PLC0415 see serve

    from gradwatch_server.app import create_app  # noqa: PLC0415
    from gradwatch_server.serving import make_config  # noqa: PLC0415

    server = uvicorn.Server(make_config(create_app(settings), settings))
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn has stopped in order, and raises the signal again
        return
    if not server.started:
        raise typer.Exit(FAILURE)


@app.command()
def runs(
    database: Database = None,
    as_json: AsJson = False,
    project: Annotated[str | None, typer.Option(help="Only this project")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many")] = 50,
) -> None:
    """List runs, newest first."""
    with open_store(database) as store, store.read() as connection:
        found, total = list_runs(connection, RunFilter(project=project, limit=limit))
    if as_json:
        print_json({"runs": found, "total": total})
        return
    if not found:
        typer.echo("No runs yet. Add gradwatch.watch(model) to a training script, and start: gradwatch serve")
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("RUN", "NAME", "PROJECT", "STATE"):
        # An id that is cut cannot be copied.
        table.add_column(name, no_wrap=True, overflow="fold" if name == "RUN" else "ellipsis")
    table.add_column("STEP", no_wrap=True, justify="right")
    table.add_column("STARTED", no_wrap=True)
    table.add_column("HEALTH", ratio=1)
    for one in found:
        health = one["health"]
        table.add_row(
            escape(one["id"]),
            escape(one["name"]),
            escape(one["project"]),
            f"[{STATE_COLOURS[one['state']]}]{one['state'].replace('_', ' ')}[/]",
            "" if one["last_step"] is None else f"{one['last_step']:,}",
            one["started_at"][:16].replace("T", " "),
            f"[{COLOURS[health['level']]}]{escape(health['title'] or health['level'])}[/]",
        )
    Console(soft_wrap=False).print(table)
    if total > len(found):
        typer.echo(f"{total - len(found)} more; see --limit.")


@app.command()
def findings(run: RunArgument, database: Database = None, as_json: AsJson = False) -> None:
    """Say what is wrong with a run; exit code 1 if anything is critical that nobody dismissed."""
    with open_store(database) as store, store.read() as connection:
        run_id = find_run(store, run)
        summary, found = read_run(connection, run_id), read_findings(connection, run_id)
    if as_json:
        print_json({"findings": found})
    else:
        _print_findings(summary, found)
    if any(finding["severity"] == "critical" and not is_dismissed(finding) for finding in found):
        raise typer.Exit(CRITICAL_FOUND)


def _print_findings(summary: dict[str, Any], found: list[dict[str, Any]]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if all(is_dismissed(finding) for finding in found):
        steps = 0 if summary["last_step"] is None else summary["last_step"] + 1
        what = "nothing left of what was found" if found else "nothing found"
        console.print(f"[green]healthy[/]: {what} in {steps:,} steps of {escape(summary['name'])}.")
    for finding in found:
        review = finding["review"] or {"state": "", "note": ""}
        said = escape(f"{review['state']}: {review['note']}" if review["note"] else review["state"])
        if is_dismissed(finding):
            console.print(f"[dim]{said} · {escape(finding['title'])} ({escape(finding['id'])})[/]")
            continue
        colour = COLOURS[finding["severity"]]
        console.print(f"[{colour} bold]{finding['severity']}[/] [bold]{escape(finding['title'])}[/]")
        console.print(f"  [dim]{escape(finding['id'])}{' · ' if said else ''}{said}[/]")
        console.print(f"  {escape(str(finding['evidence'].get('summary', '')))}")
        if finding["source"]:
            console.print(f"  at {escape(finding['source']['file'])}:{finding['source']['line']}")
        for hypothesis in finding["hypotheses"][:2]:
            console.print(f"  [dim]{hypothesis['confidence']:.0%}[/] {escape(hypothesis['cause'])}")
            console.print(f"      {escape(hypothesis['fix'])}")


@app.command()
def delete(
    run: RunArgument,
    database: Database = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
) -> None:
    """Delete a run and all that is stored of it."""
    with open_store(database) as store:
        run_id = find_run(store, run)
        with store.read() as connection:
            summary = read_run(connection, run_id)
        if not yes:
            typer.confirm(f"Delete run {run_id} ({summary['name']}) for good?", abort=True)
        store.writer.submit(partial(remove_run, run_id=run_id)).result()
    typer.echo(f"Deleted {run_id}.")


@app.command()
def sync(
    url: Url = None,
    keep_deleted: Annotated[
        bool, typer.Option("--keep-deleted", help="Keep what waits for runs that were deleted on the server")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Deliver to the server what waits on this machine from runs that could not reach it."""
    from gradwatch.sender import deliver  # noqa: PLC0415 only this command needs the hook's sender
    from gradwatch.spool import spools  # noqa: PLC0415

    settings = read_settings()
    address = url or f"http://127.0.0.1:{settings.port}"
    send = partial(deliver, token=settings.secret, timeout_s=SYNC_TIMEOUT_S, keeps_deleted=keep_deleted)
    outcomes = [_deliver(send, path, address) for path in spools(settings.directory)]
    if as_json:
        print_json({"spools": outcomes})
    elif not outcomes:
        typer.echo(f"Nothing waits under {settings.directory / 'spool'}.")
    for outcome in outcomes if not as_json else []:
        told = outcome["error"] or outcome["dropped"] or f"{outcome['n_messages']:,} messages delivered"
        typer.echo(f"{Path(outcome['path']).name}: {told}")
    if any(outcome["error"] for outcome in outcomes):
        raise typer.Exit(1)


def _deliver(deliver: Any, path: Path, url: str) -> dict[str, Any]:
    started = time.monotonic()
    n_messages, dropped, error = 0, None, None
    try:
        n_messages = deliver(path, url)
    except (GradwatchError, OSError) as problem:
        if isinstance(problem, ServerError) and problem.code == "run_deleted" and not path.exists():
            dropped = problem.message
        else:
            error = str(problem)
    took_s = round(time.monotonic() - started, 3)
    return {"path": str(path), "n_messages": n_messages, "dropped": dropped, "error": error, "took_s": took_s}


@app.command()
def control(
    run: RunArgument,
    *,
    every: Annotated[
        int | None, typer.Option(min=0, help="Full statistics at every so many steps; 0: as the budget allows")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Full statistics of this kind only, beside gradients; may be repeated")
    ] = None,
    everything_for: Annotated[int | None, typer.Option(min=1, help="Everything, for so many steps")] = None,
    stop: Annotated[str | None, typer.Option(help="Stop the training, for this reason", metavar="REASON")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Ask a running training for more, for less, or for an end."""
    from gradwatch_server.remote import control_run  # noqa: PLC0415 only this command talks HTTP

    wishes = {"every": every, "kinds": kind or None, "everything_for": everything_for, "stop": stop}
    asked = {name: value for name, value in wishes.items() if value is not None}
    answer = control_run(*address_of(url), run, asked)
    if as_json:
        print_json(answer)
        return
    typer.echo(f"Asked {answer['run_id']}.")
    if answer["not_captured"]:
        typer.echo(f"It does not capture {', '.join(answer['not_captured'])}; that cannot be added while it runs.")


@app.command()
def demo(
    scenario: Annotated[str | None, typer.Argument(help="Which training; without one a tour of several")] = None,
    *,
    host: Annotated[str | None, typer.Option(help="The server's host")] = None,
    port: Annotated[int | None, typer.Option(help="The server's port")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page")] = True,
    jit: Annotated[bool, typer.Option("--jit", help="Compile the training steps by XLA")] = False,
    wants_list: Annotated[bool, typer.Option("--list", help="List the scenarios, and play none")] = False,
) -> None:
    """Watch a small real training, healthy or sick, starting a server if none answers."""
    from gradwatch_server import demo as demos  # noqa: PLC0415 it brings data sets along

    if wants_list:
        demos.show_catalogue()
        return
    settings = read_settings(host=host, port=port)
    raise typer.Exit(demos.run(scenario, host=settings.host, port=settings.port, open_browser=browser, jit=jit))


add_review_commands(app)
add_forecast_commands(app)
app.add_typer(alerts, name="alerts")
add_report_commands(app)
