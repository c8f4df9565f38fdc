"""A run as a file to hand on: what is in it, from the server and from the command line, and what came of it next."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from gradwatch_server import cli
from gradwatch_server.api import models
from gradwatch_server.evidence import view_of
from gradwatch_server.report import document
from gradwatch_server.report.archive import CHARTS_LIMIT
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun, stream
from tests.synthetic_layers import LayeredRun

STARTED_AT = 1.79e9


def make(kind: str, run_id: str, minute: int, *, steps: int = 160, layered: bool = False, **more) -> SyntheticRun:
    run = (LayeredRun if layered else SyntheticRun)(
        kind, 3, steps, run_id=run_id, project="vision", started_at=STARTED_AT + 60 * minute, **more
    )
    run.name = more.get("name", run_id)
    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(home: Path):
    with Server(home) as server:
        stream(server.url, make("sick", "ill", 0, layered=True), crash=True)
        stream(server.url, make("dirty", "dirty", 1, layered=True))
        stream(server.url, make("healthy", "fine", 2, name="</script><b>&{{style}}"))
        with SyntheticHook(server.url, make("healthy", "empty", 3)) as hook:
            hook.greet()
            hook.send(next(iter(hook.run.log())))
            hook.wait_for_ack(0)
        yield server


def read_archive(html: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="archive">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


@pytest.mark.parametrize("run_id", ["ill", "dirty", "fine", "empty"])
def test_a_report_is_what_openapi_says_and_holds_what_rest_answers(server: Server, run_id: str) -> None:
    answer = server.request("GET", f"/api/runs/{run_id}/report?format=json")
    report = answer.json()
    models.Report.model_validate(report)
    json.loads(answer.text, parse_constant=lambda constant: pytest.fail(f"a bare {constant}"))
    assert report["run"] == server.get(f"/api/runs/{run_id}")
    assert report["findings"] == server.get(f"/api/runs/{run_id}/findings")["findings"]
    assert report["tensors"] == server.get(f"/api/runs/{run_id}/tensors")["tensors"]
    assert report["next"] == server.get(f"/api/runs/{run_id}/next")
    assert report["baseline"] == server.get(f"/api/runs/{run_id}/baseline")
    for address, found in report["answers"].items():
        finer = "columns=400" if "heatmap" in address or "nonfinite" in address else "points=600"
        assert found == server.get(f"{address}&{finer}"), address
    assert [view["finding"] for view in report["views"]] == (
        [] if run_id == "empty" else [None, *(finding["id"] for finding in report["findings"])]
    )


def test_an_input_finding_brings_its_columns_and_every_view_the_kind_that_shows_it(server: Server) -> None:
    report = server.get("/api/runs/dirty/report?format=json")
    view = report["views"][1]
    assert (view["kind"], view["tensor"]) == ("input", "input")
    assert any("/columns?" in address for address in report["answers"])
    assert view["from"] < report["findings"][0]["first_step"] < (view["to"] or 160)


def test_the_file_is_saved_holds_all_modules_and_lets_nothing_be_fetched(server: Server) -> None:
    answer = server.request("GET", "/api/runs/ill/report")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="gradwatch-ill-ill.html"'
    html = answer.text
    assert "default-src 'none'" in html
    assert not re.search(r'(?:src|href)="(?!data:)', html[html.index("</script>") :][-20_000:])
    archive = read_archive(html)
    assert archive["views"]
    for theme in ("light", "dark"):
        assert archive["answers"][f"/api/figures/run?theme={theme}"]["layout"]
    imports = json.loads(re.findall(r'<script type="importmap">(.*?)</script>', html)[0])["imports"]
    assert {"gradwatch/report.js", "gradwatch/pages/report.js", "gradwatch/charts/run_chart.js"} <= imports.keys()
    assert "gradwatch/main.js" not in imports


def test_every_import_in_a_report_has_a_module() -> None:
    import base64

    modules = document._pack_modules()
    for name, url in modules.items():
        code = base64.b64decode(url.partition(",")[2]).decode()
        assert not re.search(r'(?:from|import)\s+"\.', code), name
        for wanted in re.findall(r'(?:\bfrom|^import)\s+"([^"]+)"', code, re.MULTILINE):
            assert wanted in modules, f"{name} imports {wanted}"


def test_a_name_cannot_break_out_of_the_file(server: Server) -> None:
    answer = server.request("GET", "/api/runs/fine/report")
    assert "<b>" not in answer.text[: answer.text.index("<style>")]
    assert "&lt;/script&gt;&lt;b&gt;&amp;{{style}} · gradwatch report</title>" in answer.text
    assert read_archive(answer.text)["run"]["name"] == "</script><b>&{{style}}"
    assert re.fullmatch(r'attachment; filename="[\w.-]+\.html"', answer.headers["content-disposition"])


@pytest.mark.parametrize(
    ("path", "code"),
    [("nobody/report", 404), ("ill/report?format=pdf", 422), ("nobody/next", 404), ("nobody/baseline", 404)],
)
def test_what_cannot_be_made_is_told(server: Server, path: str, code: int) -> None:
    answer = server.request("GET", f"/api/runs/{path}")
    assert answer.status_code == code
    assert answer.json().keys() == {"code", "message", "detail"}


def test_the_sequel_tells_whether_a_finding_came_back(server: Server) -> None:
    said = server.get("/api/runs/ill/next")
    models.Sequel.model_validate(said)
    # Not the run of the same project that came next, but the one by the same name.
    stream(server.url, make("healthy", "ill-2", 30, steps=12, name="ill"))
    early = server.get("/api/runs/ill/next")
    assert early["run"]["id"] == "ill-2"
    assert {one["outcome"] for one in early["findings"]} == {"too_short"}
    stream(server.url, make("healthy", "ill-1", 20, name="ill"))
    helped = server.get("/api/runs/ill/next")
    assert (helped["run"]["id"], helped["findings"][0]["outcome"], helped["findings"][0]["n_steps"]) == (
        "ill-1",
        "not_seen",
        160,
    )
    stream(server.url, make("sick", "ill-0", 10, name="ill"))
    back = server.get("/api/runs/ill/next")["findings"][0]
    again = server.get("/api/runs/ill-0/findings")["findings"][0]
    assert back["outcome"] == "came_back"
    assert back["again"] == {name: again[name] for name in ("id", "kind", "first_step", "title")}
    assert server.get("/api/runs/ill-2/next") == {"run": None, "findings": []}


def test_another_script_of_the_default_project_is_no_sequel(server: Server) -> None:
    for minute, name in enumerate(("first", "second")):
        run = SyntheticRun("healthy", 2, 16, run_id=name, name=name, project="default", started_at=1.7e9 + minute)
        stream(server.url, run)
    assert server.get("/api/runs/first/next")["run"] is None


def test_the_last_healthy_run_before_a_sick_one(start_server) -> None:
    server = start_server()
    config = {"optimizer": {"learning_rate": 3e-4}, "shuffle": True}
    stream(server.url, make("healthy", "first", 0, name="other"))
    stream(server.url, make("healthy", "old", 1, name="mine", config=config))
    stream(server.url, make("healthy", "new", 2, name="mine", config=config, seed=1))
    stream(server.url, make("sick", "sick-before", 3, name="mine"))
    stream(server.url, make("healthy", "another", 4, name="another"))
    changed = {"optimizer": {"learning_rate": 1e-2}, "shuffle": True, "batch_size": 8}
    stream(server.url, make("sick", "sick", 5, name="mine", config=changed))
    stream(server.url, make("healthy", "after", 6, name="mine"))
    found = server.get("/api/runs/sick/baseline")
    models.Baseline.model_validate(found)
    assert found["run"]["id"] == "new"
    assert found["config"] == [
        {"key": "optimizer.learning_rate", "there": 3e-4, "here": 1e-2},
        {"key": "batch_size", "there": None, "here": 8},
    ]
    assert found["step"] == server.get("/api/runs/sick/findings")["findings"][0]["first_step"]
    for value in found["values"]:
        for run_id, side in (("new", "there"), ("sick", "here")):
            query = {"kind": "scalar", "tensor": value["name"], "from_": found["step"] - 20, "to": found["step"]}
            series = server.get(f"/api/runs/{run_id}/series", **query)
            assert value[side] == pytest.approx(np.median(series["mean"])), value["name"]
    assert {value["name"] for value in found["values"]} == {"loss", "gradient_norm", "learning_rate"}
    # Of a project with a name another script's stands in, where there is none of its own.
    assert server.get("/api/runs/another/baseline")["run"]["id"] == "new"
    # But not if it trains another model: its numbers say nothing of this one.
    stream(server.url, make("healthy", "foreign", 7, name="foreign", config={"model": "foreign"}))
    assert server.get("/api/runs/foreign/baseline")["run"] is None
    assert server.get("/api/runs/first/baseline") == {"run": None, "config": [], "step": None, "values": []}


def test_a_run_without_steps_has_settings_to_compare(start_server) -> None:
    server = start_server()
    stream(server.url, make("healthy", "one", 0, name="mine"))
    with SyntheticHook(server.url, make("healthy", "two", 1, name="mine", config={"a": 1})) as hook:
        hook.greet()
        found = server.get("/api/runs/two/baseline")
    assert found["run"]["id"] == "one"
    assert {"key": "a", "there": None, "here": 1} in found["config"]
    assert found["values"] == []


@pytest.mark.parametrize(
    ("kind", "chain", "steps"),
    [
        ("nonfinite_gradient", [500, 501], (460, 521)),
        ("nonfinite_gradient", [500, 580], (420, 591)),
        ("nonfinite_gradient", [500, 5000, None], (460, 521)),
        ("dead_units", [], (300, 601)),
    ],
)
def test_a_view_shows_what_was_usual_and_what_came_of_it(kind: str, chain: list, steps: tuple[int, int]) -> None:
    links = [{"what": "x", "step": step} for step in chain]
    view = view_of({"kind": kind, "first_step": 500, "operation": None, "evidence": {"chain": links}})
    assert (view["from"], view["to"]) == steps
    assert view_of({"kind": kind, "first_step": 3, "operation": None, "evidence": {}})["from"] == 0


def test_weights_that_stand_still_are_shown_by_their_updates() -> None:
    finding = {"kind": "loss_plateau", "first_step": 0, "operation": None}
    assert view_of(finding | {"evidence": {"ratio": 1e-9}})["statistic"] == "update_ratio"
    assert view_of(finding | {"evidence": {"level": 2.3}})["statistic"] == "norm"


@pytest.mark.parametrize(
    ("kind", "evidence", "shown"),
    [
        ("dead_units", {"std_before": 1.0}, ("activation", "std")),
        ("dead_units", {"n_units": 64}, ("weight", "std")),
        ("dead_units", {"share": 1.0}, ("activation", "saturated_share")),
        ("saturated_activation", {"target_max": 346.0}, ("activation", "max")),
        ("vanishing_gradient", {"left": 1e-3}, ("update", "update_ratio")),
    ],
)
def test_what_shows_a_part_that_does_not_fit(kind: str, evidence: dict[str, float], shown: tuple[str, str]) -> None:
    view = view_of({"kind": kind, "first_step": 3, "operation": None, "evidence": evidence})
    assert (view["kind"], view["statistic"]) == shown


@pytest.fixture
def gradwatch(server: Server, home: Path, tmp_path: Path, monkeypatch, capsys):
    """Runs a command in an empty folder; returns exit code, output and errors."""
    monkeypatch.setenv("GRADWATCH_DIR", str(home))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gradwatch", "report", *arguments])
        try:
            cli.run()
            code = 0
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


def test_the_command_writes_a_file_and_replaces_its_own(gradwatch, tmp_path: Path) -> None:
    code, out, _ = gradwatch("ill", "-o", "incident.html")
    assert code == 0
    assert re.fullmatch(r"Wrote incident\.html \(\d\.\d MB, \d findings?\)\. It opens in a browser, offline\.\n", out)
    file = tmp_path / "incident.html"
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0o077 & ~current_umask() & 0o644
    assert read_archive(file.read_text(encoding="utf-8"))["run"]["id"] == "ill"
    assert gradwatch("fine", "-o", "incident.html")[0] == 0
    assert read_archive(file.read_text(encoding="utf-8"))["run"]["id"] == "fine"
    assert gradwatch("dirty")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gradwatch-dirty.html", "incident.html"]


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_for_programs_it_goes_to_standard_output_or_a_file(gradwatch, tmp_path: Path) -> None:
    report = json.loads(gradwatch("ill", "--json")[1])
    models.Report.model_validate(report)
    assert not any("/figures/" in address for address in report["answers"])
    for _ in range(2):
        assert gradwatch("ill", "--json", "-o", "ill.json")[0] == 0
    assert json.loads((tmp_path / "ill.json").read_text())["findings"] == report["findings"]


def test_a_run_without_steps_has_a_report_that_says_so(gradwatch, tmp_path: Path) -> None:
    code, out, _ = gradwatch("empty", "-o", "empty.html")
    assert code == 0
    assert "no steps yet" in out
    assert read_archive((tmp_path / "empty.html").read_text(encoding="utf-8"))["views"] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody",), "There is no run 'nobody'"),
        (("ill", "-o", "no/such/folder.html"), "Cannot write no/such/folder.html: No such file or directory."),
        (("ill", "-o", "."), "Cannot write .: Is a directory."),
        (("ill", "-o", "train.py"), "train.py exists, and is no gradwatch report; remove it, or choose another name"),
        (("ill", "-o", "/proc/report.html"), "Cannot write /proc/report.html: "),
    ],
)
def test_a_mistake_is_one_line_and_harms_no_file(gradwatch, tmp_path: Path, arguments, says: str) -> None:
    (tmp_path / "train.py").write_text("model.fit()")
    code, out, err = gradwatch(*arguments)
    assert (code, out) == (2, "")
    assert says in " ".join(err.split())
    assert len(err.splitlines()) == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("train.py", "model.fit()")]


def test_many_findings_have_words_and_the_first_have_charts(server: Server, monkeypatch) -> None:
    monkeypatch.setattr("gradwatch_server.report.archive.CHARTS_LIMIT", 0)
    assert CHARTS_LIMIT > 0
    report = server.get("/api/runs/ill/report?format=json")
    assert report["findings"]
    assert [view["finding"] for view in report["views"]] == [None]
