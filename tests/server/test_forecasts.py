"""The record of forecasts: made while a run streams, marked when it breaks, counted over runs."""

import sys

import numpy as np
import orjson
import pytest

from gradwatch_server import cli
from gradwatch_server.api import models
from tests.serving import Server
from tests.synthetic import MAX, MIN, NORM, SyntheticRun, stream

N_STEPS = 300


class Diverging(SyntheticRun):
    """One layer's weights grow by half at each step, until everything is NaN (``sick``), or until they stop."""

    def statistics(self, steps):
        block = super().statistics(steps)
        kernel = [(t["kind"], t["tensor"]) for t in self.tensors].index(("weight", self.sick_tensor))
        until = self.onset if self.kind == "sick" else 150
        growth = np.exp(0.4 * np.clip(steps, 0, until))[:, None]
        block[:, kernel, [NORM, MIN, MAX]] = (block[:, kernel, [NORM, MIN, MAX]] * growth).astype(np.float32)
        return block


@pytest.fixture(scope="module")
def record(server: Server) -> dict[str, dict]:
    """Two runs: a forecast that came true and one that did not; and what the server says of each and of both."""
    for kind in ("sick", "healthy"):
        run = Diverging(
            kind, 4, 3 * N_STEPS if kind == "healthy" else N_STEPS, run_id=f"diverging-{kind}", project="omens"
        )
        stream(server.url, run)
    paths = {kind: f"/api/forecasts?run=diverging-{kind}" for kind in ("sick", "healthy")} | {
        "all": "/api/forecasts?project=omens"
    }
    return {name: server.get(path) for name, path in paths.items()}


def test_each_is_listed_with_its_outcome(server: Server, record: dict[str, dict]) -> None:
    for answer in record.values():
        models.ForecastList.model_validate(answer)
    (came,) = record["sick"]["forecasts"]
    assert (came["outcome"], came["outcome_step"]) == ("came_true", 210)
    assert came["lead_steps"] == 210 - came["known_step"] > 20
    assert came["at_step_low"] <= 210 <= came["at_step_high"]
    findings = {one["id"]: one for one in server.get("/api/runs/diverging-sick/findings")["findings"]}
    assert findings[came["finding"]["id"]]["evidence"]["forecast"]["at_step"] == came["at_step"]
    broken = next(one for one in findings.values() if one["severity"] == "critical")
    assert broken["evidence"]["early_warning"]["id"] == came["finding"]["id"]
    assert broken["evidence"]["early_warning"]["lead_steps"] == came["lead_steps"]
    assert [one["outcome"] for one in record["healthy"]["forecasts"]] == ["did_not"]


def test_they_are_counted_over_all_runs(server: Server, record: dict[str, dict]) -> None:
    assert record["all"]["counts"] == {"came_true": 1, "did_not": 1, "pending": 0}
    assert record["all"]["total"] == 2
    short = server.get("/api/forecasts?project=omens&limit=1")
    assert (len(short["forecasts"]), short["total"]) == (1, 2)
    assert server.request("GET", "/api/forecasts?run=nobody").status_code == 404
    assert server.get("/api/forecasts?project=none") == {
        "forecasts": [],
        "total": 0,
        "counts": {"came_true": 0, "did_not": 0, "pending": 0},
    }


def test_the_command_line_tells_the_record(tmp_path, monkeypatch, capsys) -> None:
    with Server(tmp_path) as server:
        stream(server.url, Diverging("sick", 4, N_STEPS, run_id="diverging", name="div"))
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["gradwatch", "forecasts", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.run()
        assert not exit_.value.code
        return capsys.readouterr().out

    told = run("diverg")
    assert told.startswith("came true the largest weight of mlp/dense_2/kernel at step ")
    assert told.endswith("1 came true, 0 did not, 0 open.\n")
    answer = orjson.loads(run("--json"))
    models.ForecastList.model_validate(answer)
    assert answer["counts"] == {"came_true": 1, "did_not": 0, "pending": 0}
    assert run("--project", "none") == "Nothing was forecast so far.\n"
