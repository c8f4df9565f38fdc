"""The findings anew from what is stored: the same as live, for every sort of run; and what differs is told."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gradwatch_server import cli
from gradwatch_server.analysis import analyze_run, compare_bodies, save_analysis
from gradwatch_server.errors import ConflictError
from gradwatch_server.settings import read_settings
from gradwatch_server.store import Store
from gradwatch_server.store.findings import read_bodies, read_findings, replace_findings, review_finding
from gradwatch_server.store.numbers import StepRange
from tests.server.test_workers import Team
from tests.serving import Server
from tests.synthetic import N_NAN, NORM, SyntheticHook, SyntheticRun, stream
from tests.synthetic_layers import LayeredRun


class PartialRun(LayeredRun):
    """A run in which no gradient reaches the first variable."""

    def statistics(self, steps):
        block = super().statistics(steps)
        block[:, 0] = 0
        block[:, 0, NORM:N_NAN] = np.nan
        return block


class StuckRun(SyntheticRun):
    """A run whose loss stays where it began."""

    level = 2.35

    def _loss(self, steps):
        return np.full(len(steps), self.level)


class GuessingRun(StuckRun):
    """A short run that never did better than guessing among its 128 outputs."""

    level = np.log(128)


RUNS = {
    "fine": SyntheticRun("healthy", 2, 60, run_id="fine"),
    "ill": SyntheticRun("sick", 3, 200, run_id="ill", rows_per_message=7),
    "layers": PartialRun("sick", 4, 200, run_id="layers", period=8),
    "dirty": LayeredRun("dirty", 3, 160, run_id="dirty", rows_per_message=3),
    "learned": SyntheticRun("healthy", 2, 700, run_id="learned", name="same", started_at=1.7e9),
    "stuck": StuckRun("healthy", 2, 700, run_id="stuck", name="same", started_at=1.8e9, config={"momentum": 0.99}),
    "guessing": GuessingRun("healthy", 2, 120, run_id="guessing"),
}
EXPECTED = {
    "fine": set(),
    "ill": {"exploding_gradient"},
    "layers": {"exploding_gradient", "missing_gradient"},
    "dirty": {"nonfinite_input"},
    "stuck": {"loss_plateau"},
    "guessing": {"loss_plateau"},
    "team": {"nonfinite_gradient"},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """The directory of a server that is gone: runs with operations, columns, layers, two workers and their replicas."""
    directory = tmp_path_factory.mktemp("home")
    with Server(directory) as server:
        for run in RUNS.values():
            stream(server.url, run, crash=run.kind == "sick")
        with Team(server, "team", sick=1) as team:
            for worker in (0, 1):
                team.send(worker)
                team.end(worker)
                team.hooks[worker].wait_for_verdict(4)
    return directory


@pytest.fixture
def store(home: Path):
    store = Store(read_settings(dir=home))
    yield store
    store.close()


@pytest.mark.parametrize("run_id", EXPECTED)
def test_the_engine_finds_in_what_is_stored_what_it_found_live(store: Store, run_id: str) -> None:
    with store.read() as connection:
        live, told = read_bodies(connection, run_id), read_findings(connection, run_id)
    analysis = analyze_run(store, run_id)
    assert {finding["kind"] for finding in told} >= EXPECTED[run_id]
    assert bool(told) == bool(EXPECTED[run_id])
    assert analysis.bodies == live
    assert analysis.findings == told
    assert analysis.differences == []


def test_a_run_is_judged_by_the_last_healthy_one_of_its_name(store: Store) -> None:
    (found,) = analyze_run(store, "stuck").findings
    assert found["evidence"]["baseline_run"] == "learned"
    at = found["evidence"]["baseline_step"]
    there = store.numbers.series(
        "learned", kind="scalar", tensor="loss", statistic="", steps=StepRange(at - 19, at + 1), points=20
    )
    assert found["evidence"]["baseline_level"] == pytest.approx(np.median(there["mean"]), rel=0.05)
    assert "momentum (0.99, there not set)" in found["hypotheses"][0]["why"]


def test_replicas_operations_and_columns_are_among_what_is_judged_anew(store: Store) -> None:
    """Or the equality above would say little."""
    leading = {run_id: analyze_run(store, run_id).findings[0] for run_id in ("team", "layers", "dirty")}
    assert (leading["team"]["worker"], leading["team"]["evidence"]["replica"]) == (1, 1)
    assert leading["layers"]["operation"]["type"] == "SqrtGrad"
    assert leading["layers"]["evidence"]["chain_operations"]
    assert leading["dirty"]["evidence"]["columns"]


@pytest.fixture
def aged(store: Store):
    """The sick run, as an older engine may have left it; afterwards it is as it was."""
    with store.read() as connection:
        bodies = read_bodies(connection, "layers")[0]
    older = [{**bodies[0], "severity": "warning", "evidence": {**bodies[0]["evidence"], "summary": "?", "old": 1}}]
    older.append({**bodies[0], "id": "exploding_gradient-7", "title": "Gradients explode"})

    def put(found):
        store.writer.submit(partial(replace_findings, run_id="layers", worker=0, bodies=found)).result()

    put(older)
    yield store
    put(bodies)


def test_what_an_older_engine_stored_is_told_apart(aged: Store) -> None:
    differences = analyze_run(aged, "layers").differences
    assert [(one.change, one.id) for one in differences if one.change != "new"] == [
        ("changed", differences[-2].id),
        ("gone", "exploding_gradient-7"),
    ]
    assert differences[-2].fields == ("severity", "evidence.summary", "evidence.old")
    assert [one.id.partition("-")[0] for one in differences if one.change == "new"] == ["missing_gradient"]
    with aged.read() as connection:  # nothing was written
        assert len(read_bodies(connection, "layers")[0]) == 2


def test_saving_replaces_them_and_keeps_what_a_person_said(aged: Store) -> None:
    analysis = analyze_run(aged, "layers")
    first = analysis.findings[0]["id"]
    job = partial(review_finding, run_id="layers", finding_id=first, state="acknowledged", note="known")
    save_analysis(aged, analysis)
    aged.writer.submit(job).result()
    again = analyze_run(aged, "layers")
    assert again.differences == []
    assert next(one for one in again.findings if one["id"] == first)["review"]["note"] == "known"


def test_a_finding_that_no_engine_gives_any_more_goes(store: Store) -> None:
    with store.read() as connection:
        body = read_bodies(connection, "ill")[0][0]
    wrong = partial(replace_findings, run_id="fine", worker=0, bodies=[body])
    store.writer.submit(wrong).result()
    save_analysis(store, analyze_run(store, "fine"))
    with store.read() as connection:
        assert read_findings(connection, "fine") == []


def test_a_live_runs_findings_are_its_servers(tmp_path: Path) -> None:
    run = SyntheticRun("healthy", 2, 16, run_id="now")
    with Server(tmp_path) as server, SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in list(run.log())[:-1]:
            hook.send(message)
        hook.wait_for_ack(message["seq"])
        store = Store(read_settings(dir=tmp_path))
        with pytest.raises(ConflictError, match="Run now is live"):
            save_analysis(store, analyze_run(store, "now"))
        store.close()


def test_the_order_of_differences_is_the_engines() -> None:
    before = [{"id": "a", "title": "A", "evidence": {}}, {"id": "b", "title": "B", "evidence": {}}]
    after = [{"id": "c", "title": "C", "evidence": {}}, {"id": "b", "title": "B!", "evidence": {}}]
    told = [(one.id, one.change, one.fields) for one in compare_bodies(before, after)]
    assert told == [("c", "new", ()), ("b", "changed", ("title",)), ("a", "gone", ())]


@pytest.fixture
def gradwatch(home: Path, monkeypatch, capsys):
    """Runs a command; returns exit code, output and errors."""
    monkeypatch.setenv("GRADWATCH_DIR", str(home))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gradwatch", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.run()
        out, err = capsys.readouterr()
        return int(exit_.value.code or 0), out, err

    return run


def test_the_command_says_that_nothing_differs(gradwatch) -> None:
    code, out, _ = gradwatch("analyze", "ill")
    assert code == 1
    assert out.startswith("critical ")
    assert out.endswith("The stored findings are the same.\n")
    assert gradwatch("analyze", "fine")[:2] == (0, "healthy: nothing found.\nThe stored findings are the same.\n")


def test_the_command_tells_differences_and_offers_to_save(gradwatch, aged: Store) -> None:
    code, out, _ = gradwatch("analyze", "layers")
    assert code == 1
    assert "These are stored otherwise, by another version:" in out
    assert "gone Gradients explode" in out
    assert "gradwatch analyze --save layers" in out
    code, out, _ = gradwatch("analyze", "layers", "--save", "--json")
    answer = json.loads(out)
    assert answer["is_saved"]
    assert {one["change"] for one in answer["differences"]} == {"new", "changed", "gone"}
    answer = json.loads(gradwatch("analyze", "layers", "--save", "--json")[1])
    assert (answer["is_saved"], answer["differences"]) == (False, [])


def test_an_unknown_run_is_told(gradwatch) -> None:
    code, _, err = gradwatch("analyze", "nobody")
    assert code == 2
    assert "There is no run 'nobody'" in err
