"""``gradwatch report`` and ``gradwatch analyze``: a run handed on, and its findings anew from what is stored."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console
from rich.markup import escape

from gradwatch_server.errors import RequestError
from gradwatch_server.store.findings import is_dismissed
from gradwatch_server.terminal import AsJson, Database, RunArgument, find_run, open_store, print_json

__all__ = ["add_report_commands"]

CRITICAL_FOUND: Final = 1
HEAD_BYTES: Final = 2048
"""In the first bytes of a report its mark is found."""


def add_report_commands(app: typer.Typer) -> None:
    """Adds the two commands."""
    for command in (report, analyze):
        app.command()(command)


def report(
    run: RunArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write; an older report there is replaced"),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a run into one file that opens offline: verdict, charts around each onset, fixes, config, environment.

    With --json the same for programs, on standard output if no file is named.
    """
    from gradwatch_server.report import make_archive, render_document  # noqa: PLC0415 Plotly is long to import

    with open_store(database) as store:
        run_id = find_run(store, run)
        archive = make_archive(store, run_id, with_figures=not as_json)
    if as_json and output is None:
        print_json(archive)
        return
    path = output or Path("gradwatch-" + re.sub(r"[^\w.-]+", "-", run_id) + ".html")
    if as_json:
        _write(path, orjson.dumps(archive, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2))
    else:
        _write(path, render_document(archive).encode())
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    n = len(archive["findings"])
    told = "no steps yet" if not archive["views"] else f"{n} finding{'' if n == 1 else 's'}" if n else "healthy"
    typer.echo(f"Wrote {path} ({size}, {told}).{'' if as_json else ' It opens in a browser, offline.'}")


def _write(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; one that is no report is left alone.

    Raises:
        RequestError: there is another file, or nothing can be written there.
    """
    from gradwatch_server.report import MARK  # noqa: PLC0415 see report

    try:
        if path.exists():
            with path.open("rb") as older:
                head = older.read(HEAD_BYTES)
            if MARK.encode() not in head and b'"gradwatch_report"' not in head:
                text = f"{path} exists, and is no gradwatch report; remove it, or choose another name with -o."
                raise RequestError("file_exists", text)
        # Beside it, since a rename does not cross file systems.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(content)
        os.chmod(file.name, 0o644 & ~_umask())
        os.replace(file.name, path)
    except OSError as error:
        text = f"Cannot write {path}: {error.strerror}. Choose another place with -o."
        raise RequestError("cannot_write", text) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def analyze(
    run: RunArgument,
    database: Database = None,
    save: Annotated[bool, typer.Option("--save", help="Put what is found in the place of the stored findings")] = False,
    as_json: AsJson = False,
) -> None:
    """Judge a stored run anew, and say whether its stored findings are the same; exit code 1 on critical findings."""
    from gradwatch_server.analysis import analyze_run, save_analysis  # noqa: PLC0415 only this command needs an engine

    with open_store(database) as store:
        analysis = analyze_run(store, find_run(store, run))
        if save and analysis.differences:
            save_analysis(store, analysis)
    if as_json:
        differences = [difference.to_json() for difference in analysis.differences]
        is_saved = save and bool(differences)
        print_json({"findings": analysis.findings, "differences": differences, "is_saved": is_saved})
    else:
        _print_analysis(analysis, is_saved=save)
    if any(finding["severity"] == "critical" and not is_dismissed(finding) for finding in analysis.findings):
        raise typer.Exit(CRITICAL_FOUND)


def _print_analysis(analysis: Any, *, is_saved: bool) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if not analysis.findings:
        console.print("[green]healthy[/]: nothing found.")
    for finding in analysis.findings:
        colour = "red" if finding["severity"] == "critical" else "yellow"
        console.print(f"[{colour} bold]{finding['severity']}[/] [bold]{escape(finding['title'])}[/]")
    if not analysis.differences:
        console.print("[dim]The stored findings are the same.[/]")
        return
    console.print(f"\n{'Saved; these were' if is_saved else 'These are'} stored otherwise, by another version:")
    for difference in analysis.differences:
        more = f": {', '.join(difference.fields)}" if difference.fields else ""
        console.print(f"  [dim]{difference.change}[/] {escape(difference.title)}[dim]{escape(more)}[/]")
    if not is_saved:
        console.print("Replace the stored ones with: [bold]gradwatch analyze --save[/] " + escape(analysis.run_id))
