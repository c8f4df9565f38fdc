"""What a person asks of a running training: by the server to the hook's socket, and back as a change of cadence."""

import json
import sys

import httpx
import pytest

from gradwatch_server import cli
from gradwatch_server.api import models
from tests.serving import Server, wait_until
from tests.synthetic import SyntheticHook, SyntheticRun, stream


class LiveRun:
    """A hook that is connected, has sent its tensor table and some rows, and waits for controls."""

    def __init__(self, server: Server, run_id: str, **options):
        self.run = SyntheticRun("healthy", 2, 16, run_id=run_id, **options)
        self.hook = SyntheticHook(server.url, self.run, options.pop("token", None))
        self.seq = -1

    def __enter__(self):
        self.hook.greet()
        for message in self.run.log():
            if message["type"] != "state":
                self.send(message)
        return self

    def __exit__(self, *_):
        self.hook.__exit__()

    def send(self, message):
        self.seq += 1
        self.hook.send({**message, "seq": self.seq})
        self.hook.wait_for_ack(self.seq)

    def receive_control(self):
        """The next control, whatever comes before it."""
        while (message := self.hook.receive())["type"] != "control":
            pass
        return message

    def tell(self, **changes):
        capture = {"step": 16, "period": 1, "every": 0, "until_step": None, "cost": None, "reason": "budget"}
        self.send({"type": "capture", "kinds": ["gradient", "weight", "update"], **capture, **changes})


def post(server: Server, run_id: str, body, **options):
    return server.request("POST", f"/api/runs/{run_id}/controls", json=body, **options)


CONTROLS = [{"every": 10}, {"kinds": ["weight"]}, {"everything_for": 50}, {"stop": "enough"}, {"every": 0, "stop": "x"}]


@pytest.mark.parametrize("body", CONTROLS, ids=str)
def test_a_control_reaches_the_hook_once(server: Server, body) -> None:
    with LiveRun(server, f"asked-{CONTROLS.index(body)}") as live:
        answer = post(server, live.run.run_id, body)
        assert answer.status_code == 202, answer.text
        models.ControlAccepted.model_validate(answer.json())
        control = live.receive_control()
        assert control == {"type": "control", "id": answer.json()["id"], **body}
        # Whatever comes after it is no second one: the next message is answered as ever.
        live.tell()
        while live.hook.through_seq < live.seq:
            assert live.hook.receive()["type"] != "control"


def test_every_worker_of_a_run_is_asked(server: Server) -> None:
    with LiveRun(server, "team") as first, LiveRun(server, "team", worker=1) as second:
        answer = post(server, "team", {"every": 3})
        assert (
            first.receive_control()
            == second.receive_control()
            == {"type": "control", "every": 3, "id": answer.json()["id"]}
        )


def test_what_is_not_in_the_graph_cannot_be_added_and_that_is_said(server: Server) -> None:
    with LiveRun(server, "kinds") as live:
        answer = post(server, "kinds", {"kinds": ["weight", "activation", "operation"]})
        assert answer.json()["not_captured"] == ["activation", "operation"]
        assert live.receive_control()["kinds"] == ["weight", "activation", "operation"]
        answer = post(server, "kinds", {"kinds": ["activation"]})
        assert (answer.status_code, answer.json()["code"]) == (422, "kinds_not_captured")
        assert "gradient, update, weight" in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "empty_control"),
        ({"every": -1}, "invalid_request"),
        ({"every": 2**31}, "invalid_request"),
        ({"everything_for": 0}, "invalid_request"),
        ({"everything_for": 1.5}, "invalid_request"),
        ({"kinds": []}, "invalid_request"),
        ({"kinds": ["gradeint"]}, "invalid_request"),
        ({"stop": ""}, "invalid_request"),
        ({"evry": 1}, "invalid_request"),
        ([1], "invalid_request"),
    ],
)
def test_a_mistake_is_said_in_the_one_shape_and_nothing_is_sent(server: Server, body, code) -> None:
    run_id = f"mistake-{code}"
    with LiveRun(server, run_id) as live:
        answer = post(server, run_id, body)
        assert (answer.status_code, answer.json()["code"]) == (422, code)
        assert set(answer.json()) == {"code", "message", "detail"}
        assert post(server, run_id, {"every": 7}).status_code == 202
        assert live.receive_control()["every"] == 7


def test_a_training_that_is_not_connected_cannot_be_asked(server: Server) -> None:
    stream(server.url, SyntheticRun("healthy", 2, 8, run_id="over"))
    with LiveRun(server, "lost"):
        pass
    for run_id in ("over", "lost"):
        answer = wait_until(lambda run_id=run_id: (a := post(server, run_id, {"every": 1})).status_code != 202 and a)
        assert (answer.status_code, answer.json()["code"]) == (409, "not_connected")
    answer = post(server, "nobody", {"every": 1})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_run")


def test_a_foreign_page_cannot_stop_a_training(server: Server) -> None:
    """A browser sends the Origin with whatever a page posts, and no preflight for a body without a type."""
    with LiveRun(server, "guarded") as live:
        foreign = {"origin": "http://evil.example"}
        for headers in (foreign, {**foreign, "content-type": "text/plain"}):
            answer = server.request("POST", "/api/runs/guarded/controls", content=b'{"stop": "x"}', headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden_origin")
        for method in ("PATCH", "DELETE"):
            assert server.request(method, "/api/runs/guarded", json={}, headers=foreign).status_code == 403
        own = {"origin": server.url}
        assert post(server, "guarded", {"every": 2}, headers=own).status_code == 202
        assert live.receive_control()["every"] == 2


def test_without_the_token_nobody_is_asked(start_server) -> None:
    guarded = start_server(token="sesame")
    with httpx.Client(base_url=guarded.url, trust_env=False) as stranger:
        assert stranger.post("/api/runs/x/controls", json={"every": 1}).status_code == 401
        assert stranger.get("/api/runs/x/capture").status_code == 401


def test_changes_of_the_cadence_are_kept_in_their_order(server: Server) -> None:
    with LiveRun(server, "cadence") as live:
        assert server.get("/api/runs/cadence/capture") == {"capture": []}
        live.tell(step=0)
        live.tell(step=20, period=8, cost=0.016)
        live.tell(step=40, until_step=90, cost=0.12, reason="control")
        found = server.get("/api/runs/cadence/capture")
    models.CaptureHistory.model_validate(found)
    assert [(one["step"], one["period"], one["until_step"], one["cost"]) for one in found["capture"]] == [
        (0, 1, None, None),
        (20, 8, None, 0.016),
        (40, 1, 90, 0.12),
    ]
    assert {one["worker"] for one in found["capture"]} == {0}
    assert server.request("GET", "/api/runs/nobody/capture").status_code == 404


@pytest.mark.parametrize("change", [{"period": 0}, {"kinds": ["gradeint"]}, {"reason": "mood"}, {"cost": float("nan")}])
def test_a_change_that_makes_no_sense_is_refused(server: Server, change) -> None:
    with (
        LiveRun(server, f"nonsense-{next(iter(change))}") as live,
        pytest.raises(RuntimeError, match="invalid_message"),
    ):
        live.tell(**change)


def test_the_reason_of_a_stop_stands_with_the_run(server: Server) -> None:
    with LiveRun(server, "stopped") as live:
        error = "Stopped by a person: loss is NaN"
        live.send({"type": "state", "state": "finished", "error": error, "last_step": 15})
        run = server.get("/api/runs/stopped")
    assert (run["state"], run["error"]) == ("finished", error)


@pytest.fixture
def gradwatch(server: Server, monkeypatch, capsys):
    """Runs a command against the server; returns exit code, output and errors."""
    monkeypatch.setenv("GRADWATCH_URL", server.url)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gradwatch", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.run()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(exit_.value.code or 0), out, err

    return run


def test_the_command_line_asks_too(server: Server, gradwatch) -> None:
    with LiveRun(server, "by-hand-1") as live:
        code, out, _ = gradwatch("control", "by-hand", "--every", "5", "--everything-for", "50", "--json")
        assert code == 0
        control = live.receive_control()
        assert control == {"type": "control", "id": json.loads(out)["id"], "every": 5, "everything_for": 50}
        code, out, _ = gradwatch("control", "by-hand-1", "--kind", "weight", "--kind", "activation")
        assert (code, out.splitlines()[0]) == (0, "Asked by-hand-1.")
        assert "does not capture activation" in out
        assert live.receive_control()["kinds"] == ["weight", "activation"]
        code, _, _ = gradwatch("control", "by-hand-1", "--stop", "it diverges")
        assert (code, live.receive_control()["stop"]) == (0, "it diverges")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nobody", "--every", "1"), 2, "There is no run 'nobody'"),
        (("quiet", "--every", "1"), 3, "is connected"),
        (("quiet",), 2, "Nothing is asked for"),
        (("quiet", "--every", "1", "--url", "http://127.0.0.1:9"), 3, "No server answers"),
    ],
)
def test_what_cannot_be_asked_is_one_clear_line(server: Server, gradwatch, arguments, code, says) -> None:
    stream(server.url, SyntheticRun("healthy", 2, 8, run_id="quiet"))
    wait_until(lambda: post(server, "quiet", {"every": 1}).status_code == 409)
    found, _, err = gradwatch("control", *arguments)
    assert found == code
    assert says in err
