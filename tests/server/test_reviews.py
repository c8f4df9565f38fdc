"""What a person says of a finding: kept beside the engine's word, counted in the run's health, told to open pages."""

import json
import re
import sys

import orjson
import pytest

from gradwatch_server import cli
from gradwatch_server.api import models
from gradwatch_server.store import Store
from gradwatch_server.store.findings import read_findings, replace_findings, review_finding
from tests.serving import Server, connect, wait_until
from tests.synthetic import SyntheticHook, SyntheticRun, stream


def put(server: Server, run_id: str, finding_id: str, body):
    return server.request("PUT", f"/api/runs/{run_id}/findings/{finding_id}/review", json=body)


def findings_of(server: Server, run_id: str) -> list[dict]:
    found = server.get(f"/api/runs/{run_id}/findings")
    models.FindingList.model_validate(found)
    return found["findings"]


def health_of(server: Server, run_id: str) -> dict:
    return server.get(f"/api/runs/{run_id}")["health"]


@pytest.fixture
def sick(server: Server, request) -> str:
    """A run of its own with one critical finding."""
    run_id = "sick-" + re.sub(r"\W+", "-", request.node.name)
    stream(server.url, SyntheticRun("sick", 2, 120, run_id=run_id))
    assert [one["severity"] for one in findings_of(server, run_id)] == ["critical"]
    return run_id


def test_what_is_acknowledged_counts_and_is_no_longer_open(server: Server, sick: str) -> None:
    (finding,) = findings_of(server, sick)
    assert finding["review"] is None
    answer = put(server, sick, finding["id"], {"state": "acknowledged", "note": "  known,\n see the log "})
    assert answer.status_code == 200
    models.Finding.model_validate(answer.json())
    review = answer.json()["review"]
    assert (review["state"], review["note"]) == ("acknowledged", "known, see the log")
    assert findings_of(server, sick) == [{**finding, "review": review}]
    assert health_of(server, sick) == {"level": "critical", "n_findings": 1, "n_open": 0, "title": finding["title"]}


def test_what_is_dismissed_does_not_count_until_it_is_reopened(server: Server, sick: str) -> None:
    (finding,) = findings_of(server, sick)
    before = health_of(server, sick)
    put(server, sick, finding["id"], {"state": "acknowledged"})
    assert put(server, sick, finding["id"], {"state": "dismissed", "note": "meant"}).status_code == 200
    assert health_of(server, sick) == {"level": "healthy", "n_findings": 0, "n_open": 0, "title": None}
    listed = next(run for run in server.get("/api/runs")["runs"] if run["id"] == sick)
    assert listed["health"]["level"] == "healthy"
    path = f"/api/runs/{sick}/findings/{finding['id']}/review"
    for _ in range(2):  # to take back what nobody said is no mistake
        assert server.request("DELETE", path).status_code == 204
    assert (findings_of(server, sick), health_of(server, sick)) == ([finding], before)


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("nobody/findings/x", {"state": "dismissed"}, 404, "unknown_run"),
        ("{run}/findings/nothing-7", {"state": "dismissed"}, 404, "unknown_finding"),
        ("{run}/findings/{finding}", {"state": "ignored"}, 422, "invalid_request"),
        ("{run}/findings/{finding}", {"state": "dismissed", "note": "x" * 2001}, 422, "invalid_request"),
        ("{run}/findings/{finding}", {"state": "dismissed", "by": "me"}, 422, "invalid_request"),
        ("{run}/findings/{finding}", {}, 422, "invalid_request"),
    ],
)
def test_a_mistake_is_said_and_changes_nothing(server: Server, sick: str, path, body, status, code) -> None:
    (finding,) = findings_of(server, sick)
    path = f"/api/runs/{path.format(run=sick, finding=finding['id'])}/review"
    answer = server.request("PUT", path, json=body)
    assert (answer.status_code, answer.json()["code"], set(answer.json())) == (
        status,
        code,
        {"code", "message", "detail"},
    )
    foreign = server.request("DELETE", path, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert findings_of(server, sick) == [finding]


def test_open_pages_hear_of_it(server: Server, sick: str) -> None:
    (finding,) = findings_of(server, sick)
    with connect(server.ws_url + "/ws/live") as page:
        page.send(orjson.dumps({"type": "subscribe", "runs": [sick]}).decode())
        assert orjson.loads(page.recv(10))["type"] == "subscribed"
        put(server, sick, finding["id"], {"state": "dismissed", "note": "meant"})
        heard: dict[str, dict] = {}
        while len(heard) < 2:
            message = orjson.loads(page.recv(10))
            heard[message["type"]] = message
    assert heard["findings"]["findings"][0]["review"]["note"] == "meant"
    assert heard["run"]["run"]["health"]["level"] == "healthy"


def test_it_survives_a_restart_and_the_engines_replay(start_server) -> None:
    run = SyntheticRun("sick", 2, 200, run_id="long")
    log = list(run.log())
    half = len(log) * 4 // 5
    first = start_server()
    with SyntheticHook(first.url, run) as hook:
        hook.greet()
        for message in log[:half]:
            hook.send(message)
        hook.wait_for_verdict(half - 1)
        (finding,) = findings_of(first, "long")
        put(first, "long", finding["id"], {"state": "dismissed", "note": "meant"})
    first.stop()
    second = start_server(port=first.port)
    assert health_of(second, "long")["level"] == "healthy"
    told = stream(second.url, run)  # the engine is made again from what is stored, and goes on
    assert [(one["id"], one["review"]["note"]) for one in told] == [(finding["id"], "meant")]
    assert told[0]["last_step"] > finding["last_step"]
    assert health_of(second, "long") == {"level": "healthy", "n_findings": 0, "n_open": 0, "title": None}


def body(finding_id: str, severity: str, step: int = 3) -> dict:
    known = {"id": finding_id, "kind": "zero_gradient", "severity": severity, "first_step": step, "title": finding_id}
    return {**known, "operation": None, "evidence": {}}


def test_what_was_said_of_a_warning_does_not_hold_when_it_becomes_critical(server: Server) -> None:
    run_id = "grows"
    stream(server.url, SyntheticRun("healthy", 2, 8, run_id=run_id))
    store: Store = server.app.state.services.store

    def write(job) -> None:
        store.writer.submit(job).result(10)

    def read() -> list[tuple]:
        with store.read() as connection:
            return [(one["id"], one["review"] and one["review"]["state"]) for one in read_findings(connection, run_id)]

    write(lambda c: replace_findings(c, run_id, 0, [body("a", "warning"), body("b", "warning", 5)]))
    write(lambda c: review_finding(c, run_id, "a", state="dismissed", note=""))
    assert read() == [("b", None), ("a", "dismissed")]
    assert health_of(server, run_id) == {"level": "warning", "n_findings": 1, "n_open": 1, "title": "b"}
    write(lambda c: replace_findings(c, run_id, 0, [body("a", "critical"), body("b", "warning", 5)]))
    assert read() == [("a", None), ("b", None)]
    assert health_of(server, run_id)["level"] == "critical"
    write(lambda c: replace_findings(c, run_id, 0, [body("b", "warning", 5)]))
    write(lambda c: replace_findings(c, run_id, 0, [body("b", "warning", 5), body("a", "warning")]))
    assert read() == [("b", None), ("a", "dismissed")], "it was gone for a while, and what was said of it holds"


@pytest.fixture
def gradwatch(server: Server, monkeypatch, capsys):
    """Runs a command against the server and its database; returns exit code, output and errors."""
    monkeypatch.setenv("GRADWATCH_URL", server.url)
    monkeypatch.setenv("GRADWATCH_DIR", str(server.settings.dir))
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gradwatch", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.run()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(exit_.value.code or 0), out, err

    return run


def test_the_command_line_says_it_too_and_findings_exits_by_what_is_left(server: Server, sick: str, gradwatch) -> None:
    (finding,) = findings_of(server, sick)
    assert gradwatch("findings", sick)[0] == 1
    code, out, _ = gradwatch("acknowledge", sick, finding["id"][:12], "--note", "known [bug]")
    assert (code, out.splitlines()) == (0, [f"Acknowledged: {finding['title']}", f"{sick} is critical now."])
    code, out, _ = gradwatch("findings", sick)
    assert code == 1, "what is acknowledged is still true"
    assert f"{finding['id']} · acknowledged: known [bug]" in out
    code, out, _ = gradwatch("dismiss", sick, finding["id"], "-m", "meant", "--json")
    told = json.loads(out)
    assert (code, told["finding"]["review"]["note"], told["health"]["level"]) == (0, "meant", "healthy")
    code, out, _ = gradwatch("findings", sick)
    assert code == 0
    assert out.splitlines() == [
        "healthy: nothing left of what was found in 120 steps of synthetic-sick.",
        f"dismissed: meant · {finding['title']} ({finding['id']})",
    ]
    code, out, _ = gradwatch("findings", sick, "--json")
    assert (code, json.loads(out)["findings"][0]["review"]["state"]) == (0, "dismissed")
    assert gradwatch("reopen", sick, finding["id"])[1].splitlines()[1] == f"{sick} is critical now."
    assert gradwatch("findings", sick)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("dismiss", "nobody", "x"), 2, "There is no run 'nobody'"),
        (("dismiss", "fine", "x"), 2, "Run 'fine' has no finding 'x'; it has none."),
        (("acknowledge", "fine"), 2, "Missing argument 'FINDING'"),
        (("dismiss", "fine", "x", "--url", "http://127.0.0.1:9"), 3, "No server answers"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_clear_line(server: Server, gradwatch, arguments, code, says) -> None:
    stream(server.url, SyntheticRun("healthy", 2, 8, run_id="fine"))
    wait_until(lambda: server.get("/api/runs/fine")["state"] == "finished")
    found, _, err = gradwatch(*arguments)
    assert found == code
    assert says in err
