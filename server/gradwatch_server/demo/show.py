"""Plays scenarios in the terminal: starts each training, follows it on the server, tells the verdict.

Owns the order of things and the screen. What is shown is what the server knows; nothing is told from the scenario.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.syntax import Syntax
from rich.table import Table

from gradwatch_server.demo.dashboard import Dashboard
from gradwatch_server.demo.errors import DemoError, TrainingError
from gradwatch_server.demo.scenario import SCENARIOS, TOUR, Scenario, choose_scenarios
from gradwatch_server.demo.training import PROJECT, Training, check_packages
from gradwatch_server.errors import GradwatchServerError

__all__ = ["run", "show_catalogue"]

POLL_INTERVAL_S: Final = 0.25
SETTLE_TIMEOUT_S: Final = 15.0
"""How long the server may take to hear that a training has ended."""
COLOURS: Final = {"healthy": "green", "warning": "yellow", "critical": "red"}
INTERRUPTED: Final = 130
"""The exit status of a program that Ctrl-C stopped, as shells count it."""


def run(name: str | None, *, host: str, port: int, open_browser: bool, jit: bool = False) -> int:
    """Plays one scenario, or the tour, against a server at ``host:port``.

    A server is started if none answers; it then runs on until Ctrl-C, so that the page can be looked at.

    Args:
        name: a scenario's name; None or ``tour`` plays several.
        host: where the server answers, or is to listen.
        port: its port.
        open_browser: whether to open each run's page.
        jit: whether the training steps are compiled by XLA.

    Returns:
        0, or 1 after an error that was printed, 2 for an unknown scenario, 130 if Ctrl-C stopped a training.
    """
    console, complaints = Console(highlight=False), Console(stderr=True, highlight=False)
    try:
        scenarios = choose_scenarios(name)
    except GradwatchServerError as error:
        complaints.print(str(error), style="red", markup=False)
        return 2
    try:
        with _termination_as_interrupt():
            check_packages()
            with Dashboard(host=host, port=port, token=os.environ.get("GRADWATCH_TOKEN") or None) as dashboard:
                _play_all(console, dashboard, scenarios, open_browser=open_browser, jit=jit)
    except KeyboardInterrupt:
        complaints.print("\nStopped. What was recorded is kept.")
        return INTERRUPTED
    except DemoError as error:
        complaints.print(str(error), style="red", markup=False)
        return 1
    return 0


def show_catalogue() -> None:
    """Prints what can be played, a line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(style="dim", ratio=1)
    table.add_row(TOUR, "several one after the other: " + ", ".join(one.name for one in choose_scenarios(TOUR)))
    for scenario in SCENARIOS.values():
        table.add_row(scenario.name, scenario.title)
    Console(highlight=False).print(table)


def _play_all(
    console: Console, dashboard: Dashboard, scenarios: list[Scenario], *, open_browser: bool, jit: bool = False
) -> None:
    whose = "started for this demo" if dashboard.is_ours else "found running"
    console.print(f"[bold]gradwatch[/] at [bold]{dashboard.url}[/] ({whose})")
    runs = []
    for number, scenario in enumerate(scenarios, start=1):
        place = f"{number}/{len(scenarios)} " if len(scenarios) > 1 else ""
        console.print(f"\n[bold]{place}{scenario.name}[/]: {scenario.title}")
        console.print(scenario.story, style="dim", highlight=False)
        runs.append(_play(console, dashboard, scenario, open_browser=open_browser, jit=jit))
    if len(runs) > 1:
        # The last two of the tour are one training, sick and cured.
        first, second = runs[-2], runs[-1]
        address = f"{dashboard.url}/compare?run={first['id']}&run={second['id']}"
        console.print(f"\nThe last two side by side: {address}", soft_wrap=True)
    console.print(f"\nThe training scripts: {scenarios[0].script.parent}", style="dim", soft_wrap=True)
    if dashboard.is_ours:
        console.print(f"\nThe server keeps running at [bold]{dashboard.url}[/]. Ctrl-C stops it.")
        _wait_for_the_end(dashboard)


def _wait_for_the_end(dashboard: Dashboard) -> None:
    try:
        dashboard.wait()
    except KeyboardInterrupt:
        return  # what the line above asked for: a good end, not an interruption


def _play(
    console: Console, dashboard: Dashboard, scenario: Scenario, *, open_browser: bool, jit: bool
) -> dict[str, Any]:
    """Trains one scenario; returns its run as the server sees it at the end."""
    known = {run["id"] for run in dashboard.list_runs(PROJECT)}
    with Training(scenario.script, url=dashboard.url, token=dashboard.token, jit=jit) as training:
        recorded = _follow(console, dashboard, training, known, open_browser=open_browser)
        result = training.read_result()
    if recorded is None:
        raise TrainingError(
            "no_run", f"{scenario.script.name} ended, and the server at {dashboard.url} saw no run of it."
        )
    recorded = _settle(dashboard, recorded)
    if result:
        console.print(result, markup=False)
    _tell_verdict(console, recorded, dashboard.list_findings(recorded["id"]))
    return recorded


def _follow(
    console: Console, dashboard: Dashboard, training: Training, known: set[str], *, open_browser: bool
) -> dict[str, Any] | None:
    """Draws the progress of the run that appears, until its script ends; returns the run last seen."""
    recorded: dict[str, Any] | None = None
    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[numbers]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, numbers="[dim]importing TensorFlow[/]")
        while training.is_running:
            time.sleep(POLL_INTERVAL_S)
            seen = _find_run(dashboard, training, known)
            if seen is None:
                continue
            if recorded is None:
                _open_page(console, dashboard, seen, open_browser=open_browser)
            recorded = seen
            total = seen["config"].get("steps")
            progress.update(task, total=total, completed=_count_steps(seen), numbers=_describe(seen))
    return _find_run(dashboard, training, known) or recorded


def _find_run(dashboard: Dashboard, training: Training, known: set[str]) -> dict[str, Any] | None:
    """The training's run: of its process, and not there before, since process ids come again (in containers, soon)."""
    runs = (run for run in dashboard.list_runs(PROJECT) if run["id"] not in known)
    return next((run for run in runs if run["environment"].get("pid") == training.pid), None)


def _settle(dashboard: Dashboard, recorded: dict[str, Any]) -> dict[str, Any]:
    """Waits until the server knows that the run has ended, so that the verdict is the last word."""
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while time.monotonic() < deadline:
        recorded = next((run for run in dashboard.list_runs(PROJECT) if run["id"] == recorded["id"]), recorded)
        if recorded["state"] != "live":
            break
        time.sleep(POLL_INTERVAL_S)
    return recorded


def _open_page(console: Console, dashboard: Dashboard, recorded: dict[str, Any], *, open_browser: bool) -> None:
    path = f"/runs/{recorded['id']}"
    console.print(f"live at [bold]{dashboard.url}{path}[/]", soft_wrap=True)
    if open_browser and _has_display():
        webbrowser.open(dashboard.page_url(path))


def _has_display() -> bool:
    """Whether a browser has a screen to open on; without one, a text browser would take over the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _count_steps(recorded: dict[str, Any]) -> int:
    last_step = recorded["last_step"]
    return 0 if last_step is None else max(0, int(last_step) + 1)


def _describe(recorded: dict[str, Any]) -> str:
    """The newest loss and global gradient norm in a few characters, and the health."""
    sparkline = recorded.get("sparkline") or {}
    losses, states = sparkline.get("loss") or [None], sparkline.get("loss_state") or [None]
    parts = []
    if losses[-1] is not None:
        parts.append(f"loss {losses[-1]:.3g}")
    elif states[-1] is not None:
        parts.append(f"[red]loss {states[-1]}[/]")
    level = recorded["health"]["level"]
    return " · ".join([*parts, f"[{COLOURS.get(level, 'default')}]{level}[/]"])


def _tell_verdict(console: Console, recorded: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    level = recorded["health"]["level"]
    colour = COLOURS.get(level, "default")
    steps = f"{_count_steps(recorded):,} steps"
    if not findings:
        console.print(f"[bold {colour}]{level}[/] over {steps}")
        return
    leading = findings[0]
    more = f", and {len(findings) - 1} more on the page" if len(findings) > 1 else ""
    text = f"[bold]{escape(leading['title'])}[/]\n{escape(str(leading['evidence'].get('summary', '')))}"
    source = leading["source"]
    if source:
        text += f"\n{escape(source['file'])}:{source['line']}  {escape(source['code'] or '')}"
    for hypothesis in leading["hypotheses"][:1]:
        text += f"\n\n{escape(hypothesis['why'])}\n[bold]What to change:[/] {escape(hypothesis['fix'])}"
    console.print(Panel(text, title=f"{level} since step {leading['first_step']:,}{more}", border_style=colour))
    for hypothesis in leading["hypotheses"][:1]:
        if hypothesis["code"]:
            console.print(Syntax(hypothesis["code"], "python", background_color="default"))


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Lets a polite kill end the demo as Ctrl-C does, so that it takes its two children along."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not in the main thread: whoever called decides about signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
