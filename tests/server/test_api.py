"""REST: every answer is what OpenAPI says, every error has one shape, no answer holds a bare NaN."""

import json
from pathlib import Path

import pytest

from gradwatch_server.api import models
from tests.serving import Server, wait_until
from tests.synthetic import SyntheticRun, stream


@pytest.fixture(scope="module")
def runs(server: Server) -> list[SyntheticRun]:
    """Three finished runs, the newest last."""
    made = [
        SyntheticRun("healthy", 2, 40, run_id="run-a", name="baseline", project="vision", started_at=1.7e9),
        SyntheticRun("sick", 2, 200, run_id="run-b", name="50% rate", project="vision", started_at=1.7e9 + 1),
        SyntheticRun("healthy", 3, 40, run_id="run-c", name="other", project="text", started_at=1.7e9 + 2),
    ]
    made[2].config = {"optimizer": {"name": "sgd", "learning_rate": 0.1}, "epochs": 3}
    for run in made:
        stream(server.url, run, crash=run.kind == "sick")
    return made


def strict(text: str):
    """Parses JSON as a browser does: a bare NaN or Infinity is no JSON."""

    def refuse(constant: str):
        raise AssertionError(f"a bare {constant} in the answer")

    return json.loads(text, parse_constant=refuse)


ANSWERS = [
    ("/api/runs", models.RunList),
    ("/api/runs/run-b", models.RunDetail),
    ("/api/runs/run-b/tensors", models.TensorTable),
    ("/api/runs/run-b/findings", models.FindingList),
    ("/api/runs/run-b/series?kind=scalar&tensor=loss", models.Series),
    ("/api/runs/run-b/series?kind=scalar&tensor=gradient_norm&points=7", models.Series),
    ("/api/runs/run-b/series?kind=gradient&tensor=mlp/dense_1/kernel", models.Series),
    ("/api/runs/run-b/heatmap", models.Heatmap),
    ("/api/runs/run-b/heatmap?kind=update&statistic=update_ratio&columns=20", models.Heatmap),
    ("/api/runs/run-b/nonfinite", models.Nonfinite),
    ("/api/compare?run=run-a&run=run-b", models.Comparison),
    ("/api/figures/run?theme=dark", models.FigureSpecification),
    ("/api/figures/lines", models.FigureSpecification),
    ("/api/figures/sparkline", models.FigureSpecification),
    ("/api/figures/compare", models.FigureSpecification),
]


@pytest.mark.parametrize(("path", "model"), ANSWERS)
def test_answers_are_what_openapi_says_and_strict_json(server: Server, runs, path: str, model) -> None:
    answer = server.request("GET", path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    model.model_validate(strict(answer.text))


def test_a_sick_run_has_nulls_with_their_states(server: Server, runs) -> None:
    series = server.get("/api/runs/run-b/series", kind="scalar", tensor="loss")
    assert series["mean"][-1] is None
    assert series["state"][-1] == "nan"
    sparkline = next(run for run in server.get("/api/runs")["runs"] if run["id"] == "run-b")["sparkline"]
    assert len(sparkline["loss"]) <= 60
    assert sparkline["loss"][-1] is None
    assert sparkline["loss_state"][-1] == "nan"
    assert sparkline["loss_state"][0] is None


def test_runs_are_listed_newest_first_and_filtered(server: Server, runs) -> None:
    def ids(**query) -> list[str]:
        return [run["id"] for run in server.get("/api/runs", **query)["runs"]]

    assert ids() == ["run-c", "run-b", "run-a"]
    assert ids(project="vision") == ["run-b", "run-a"]
    assert ids(state="crashed") == ["run-b"]
    assert ids(search="BASE") == ["run-a"]
    # What is looked for is a text, not a pattern.
    assert ids(search="50%") == ["run-b"]
    assert ids(search="_%_") == []
    assert ids(limit=1, offset=1) == ["run-b"]
    assert server.get("/api/runs", limit=1)["total"] == 3


def test_health_stands_in_the_list(server: Server, runs) -> None:
    by_id = {run["id"]: run["health"] for run in server.get("/api/runs")["runs"]}
    assert by_id["run-a"] == {"level": "healthy", "n_findings": 0, "n_open": 0, "title": None}
    findings = server.get("/api/runs/run-b/findings")["findings"]
    n, title = len(findings), findings[0]["title"]
    assert by_id["run-b"] == {"level": "critical", "n_findings": n, "n_open": n, "title": title}


def test_comparison_shows_what_differs_first(server: Server, runs) -> None:
    comparison = server.get("/api/compare", run=["run-a", "run-c"])
    assert [run["id"] for run in comparison["runs"]] == ["run-a", "run-c"]
    assert comparison["config"] == [
        {"key": "optimizer.name", "values": ["adam", "sgd"], "differs": True},
        {"key": "optimizer.learning_rate", "values": [0.001, 0.1], "differs": True},
        {"key": "batch_size", "values": [128, None], "differs": True},
        {"key": "epochs", "values": [None, 3], "differs": True},
    ]
    assert comparison["tensors"] == [f"mlp/dense_{layer}/{name}" for layer in (0, 1) for name in ("kernel", "bias")]
    assert [len(series["steps"]) for series in comparison["series"]["loss"]] == [40, 40]


def test_a_run_is_renamed_and_deleted(server: Server) -> None:
    run = SyntheticRun("healthy", 2, 16, run_id="to-delete")
    stream(server.url, run)
    path = "/api/runs/to-delete"
    answer = server.request("PATCH", path, json={"name": "better", "tags": ["kept"]})
    assert answer.status_code == 200
    assert (answer.json()["name"], answer.json()["tags"]) == ("better", ["kept"])
    assert server.request("PATCH", path, json={"project": "p"}).json()["name"] == "better"
    server.get(f"{path}/heatmap")
    assert server.request("DELETE", path).status_code == 204
    for where in ("", "/heatmap", "/findings", "/tensors"):
        assert server.request("GET", path + where).status_code == 404
    assert server.request("DELETE", path).status_code == 404
    # It stays deleted, whatever a hook still has of it.
    with pytest.raises(RuntimeError, match="run_deleted: Run to-delete was deleted"):
        stream(server.url, run)
    assert server.request("GET", path).status_code == 404


ERRORS = [
    ("GET", "/api/runs/nobody", 404, "unknown_run", "There is no run 'nobody'"),
    ("GET", "/api/runs/nobody/series?tensor=x", 404, "unknown_run", "nobody"),
    ("GET", "/api/compare?run=run-a&run=nobody", 404, "unknown_run", "nobody"),
    ("GET", "/api/compare?run=run-a", 422, "invalid_comparison", "found 1 runs, expected 2 to 8"),
    ("GET", "/api/compare?run=run-a&run=run-a", 422, "invalid_comparison", "named twice"),
    ("GET", "/api/compare", 422, "invalid_request", "query run: Field required"),
    ("GET", "/api/runs/run-a/heatmap?kind=gradeint", 422, "unknown_kind", "did you mean gradient?"),
    ("GET", "/api/runs/run-a/heatmap?statistic=median", 422, "unknown_statistic", "mean"),
    ("GET", "/api/runs/run-a/heatmap?statistic=update_ratio", 422, "unknown_statistic", "norm, min"),
    ("GET", "/api/runs/run-a/heatmap?from=9&to=9", 422, "invalid_range", "expected 'to' beyond 'from'"),
    ("GET", "/api/runs/run-a/heatmap?from=-1", 422, "invalid_request", "query from: Input should be greater"),
    ("GET", "/api/runs/run-a/heatmap?columns=0", 422, "invalid_request", "query columns"),
    ("GET", "/api/runs/run-a/series?tensor=mlp/dense_1/kernl", 404, "unknown_tensor", "did you mean mlp/dense_1/k"),
    ("GET", "/api/runs/run-a/series?kind=scalar&tensor=los", 404, "unknown_scalar", "did you mean loss?"),
    ("GET", "/api/runs?state=running", 422, "invalid_request", "'live'"),
    ("GET", "/api/runs?limit=many", 422, "invalid_request", "query limit"),
    ("GET", "/api/figures/zzz", 404, "unknown_figure", "there are: "),
    ("GET", "/api/figures/run?theme=blue", 422, "invalid_request", "query theme"),
    ("GET", "/api/nothing", 404, "not_found", "GET /api/nothing: not found"),
    ("GET", "/nothing", 404, "not_found", "GET /nothing: not found"),
    ("GET", "/assets/nothing.js", 404, "not_found", "/assets/nothing.js"),
    ("GET", "/assets/__init__.py", 404, "not_found", "/assets/__init__.py"),
    ("GET", "/assets/%2e%2e/gradwatch_server/app.py", 404, "not_found", "not found"),
    ("GET", "/assets/..%2f..%2fpackage.json", 404, "not_found", "not found"),
    ("POST", "/api/runs", 405, "method_not_allowed", "POST /api/runs"),
    ("PATCH", "/api/runs/run-a", 422, "invalid_request", "body"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "status", "code", "says"), ERRORS)
def test_every_error_has_one_shape(server: Server, runs, method, path, status, code, says) -> None:
    answer = server.request(method, path)
    assert answer.status_code == status, answer.text
    error = strict(answer.text)
    assert set(error) == {"code", "message", "detail"}
    assert error["code"] == code
    assert says in error["message"]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"name": ""}', b'{"nmae": "x"}', b'{"tags": "x"}'])
def test_a_bad_body_is_refused(server: Server, runs, body: bytes) -> None:
    answer = server.request("PATCH", "/api/runs/run-a", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_a_mistake_of_the_server_has_the_shape_too(start_server, monkeypatch, caplog) -> None:
    server = start_server()
    services = server.app.state.services
    monkeypatch.setattr(services.store, "read", lambda: 1 / 0)
    answer = server.request("GET", "/api/runs")
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    # The log is written after the answer.
    wait_until(lambda: "ZeroDivisionError" in caplog.text, 5, "the log")
    assert "ZeroDivisionError" not in answer.text


def test_openapi_is_complete_and_has_examples(server: Server) -> None:
    document = server.get("/api/openapi.json")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], path
            for status in ("404", "422"):
                schema = operation["responses"][status]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}, (path, status)
            if method != "delete":
                success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
                assert "$ref" in success["content"]["application/json"]["schema"], path
    assert document["components"]["schemas"]["ErrorAnswer"]["properties"]["code"]["examples"] == ["unknown_run"]
    contract = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
    for path in document["paths"]:
        written = path.replace("{run_id}", "ID").replace("{finding_id}", "FINDING").replace("{alert_id}", "ID")
        assert written.replace("{name}", "run") in contract, f"{path} does not stand in the contract"


def test_large_answers_are_packed(server: Server, runs) -> None:
    packed = server.request("GET", "/api/runs/run-b/heatmap", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    plain = server.request("GET", "/api/runs/run-b/heatmap", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == packed.json()


def test_the_page_and_plotly_come_from_here_alone(server: Server) -> None:
    page = server.request("GET", "/")
    assert page.status_code == 200
    assert "{{" not in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe-eval" not in page.headers["content-security-policy"]
    address = next(part for part in page.text.split('"') if part.startswith("/assets/plotly-"))
    for encoding in ("gzip", "identity"):
        script = server.request("GET", address, headers={"accept-encoding": encoding})
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.text.lstrip().startswith("/**\n* plotly.js")
    module = server.request("GET", "/assets/main.js")
    assert module.headers["content-type"].startswith("text/javascript")
    assert module.headers["cache-control"] == "no-cache"
    again = server.request("GET", "/assets/main.js", headers={"if-none-match": module.headers["etag"]})
    assert again.status_code == 304
    for path in ("/runs/run-a?kind=weight", "/compare?run=run-a&run=run-b", "/login"):
        assert server.request("GET", path).text == page.text


def test_metrics_count_what_was_taken(server: Server, runs) -> None:
    text = server.request("GET", "/metrics").text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["gradwatch_rows_total"]) >= 280
    assert float(values['gradwatch_messages_total{type="tensors"}']) >= 3
    assert float(values["gradwatch_hooks"]) == 0
    assert float(values["gradwatch_cache_bytes"]) >= 0
    assert float(values["gradwatch_health_failures_total"]) == 0
