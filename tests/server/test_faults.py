"""What breaks inside the server stays where it broke."""

import threading
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from websockets.exceptions import ConnectionClosed

from gradwatch_server import ingest, verdict
from gradwatch_server.health import Engine
from gradwatch_server.health import verdict as wording
from gradwatch_server.health.episode import NonFinite
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun, stream


def metric(server: Server, name: str) -> float:
    lines = server.request("GET", "/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).rsplit(" ", 1)[1])


def judge_each(server: Server, run: SyntheticRun) -> list[dict[str, Any]]:
    """Streams a run, each message after the verdict on the one before, and reads its findings."""
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in run.log():
            hook.send(message)
            hook.wait_for_verdict(message["seq"])
        return hook.findings


def test_a_full_disk_is_told_nothing_is_acknowledged_and_the_hook_may_return(start_server, monkeypatch) -> None:
    server = start_server()
    run = SyntheticRun("healthy", 2, 40)
    log = list(run.log())
    real = ingest.append_frames

    def fail(*_, **__):
        raise OperationalError("insert", {}, Exception("database or disk is full"))

    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send(log[0])
        hook.wait_for_ack(0)
        monkeypatch.setattr(ingest, "append_frames", fail)
        hook.send(log[1])
        with pytest.raises(RuntimeError, match=r"store_failed: .*disk is full.*try again later"):
            hook.wait_for_ack(1)
        with pytest.raises(ConnectionClosed) as closed:
            hook.receive()
        # Not the hook's fault: it is asked to come back.
        assert closed.value.rcvd.code == 1013
    monkeypatch.setattr(ingest, "append_frames", real)
    with SyntheticHook(server.url, run) as hook:
        assert hook.greet() == 0
    stream(server.url, run)
    assert server.get(f"/api/runs/{run.run_id}/series", kind="scalar", tensor="loss")["steps"] == list(range(40))


def test_an_engine_that_fails_does_not_stop_the_recording(start_server, monkeypatch, caplog) -> None:
    server = start_server()
    run, feed_rows = SyntheticRun("sick", 2, 120), Engine.feed_rows

    def fail(self: Engine, stream_: int, steps, *blocks, **options) -> None:
        if steps[-1] > 100:
            raise ZeroDivisionError("a mistake in a rule")
        feed_rows(self, stream_, steps, *blocks, **options)

    monkeypatch.setattr(Engine, "feed_rows", fail)
    findings = judge_each(server, run)
    assert server.get(f"/api/runs/{run.run_id}")["last_step"] == 119
    # What had been found until then is kept.
    assert findings
    assert server.get(f"/api/runs/{run.run_id}/findings")["findings"] == findings
    assert metric(server, "gradwatch_health_failures_total") == 1
    assert f"the health engine failed on run {run.run_id}" in caplog.text


@pytest.mark.parametrize("since", [0, 100])
def test_words_that_fail_leave_out_what_they_would_have_told_alone(start_server, monkeypatch, caplog, since) -> None:
    """What was told of it before stays as it was, and it is logged once."""
    server = start_server()
    run, tell = SyntheticRun("sick", 2, 120), wording._TELLERS[NonFinite]

    def fail(episode, scene):
        if scene.facts.last_row >= since:
            raise KeyError("a mistake in a sentence")
        return tell(episode, scene)

    monkeypatch.setitem(wording._TELLERS, NonFinite, fail)
    findings = judge_each(server, run)
    assert server.get(f"/api/runs/{run.run_id}")["last_step"] == 119
    assert [f["kind"] for f in findings] == (["nonfinite_gradient"] if since else [])
    assert server.get(f"/api/runs/{run.run_id}/findings")["findings"] == findings
    assert all(f["last_step"] < since for f in findings)
    assert metric(server, "gradwatch_health_failures_total") == 1
    assert caplog.text.count("the words for NonFinite") == 1
    assert verdict.replay(server.app.state.services.store, run.run_id, 0) == []


def test_an_earlier_run_that_cannot_be_read_does_not_stop_the_recording(start_server, monkeypatch, caplog) -> None:
    server = start_server()

    def fail(*_):
        raise OSError("a page of the earlier run is damaged")

    monkeypatch.setattr(verdict, "read_measure", fail)
    run = SyntheticRun("sick", 2, 120)
    stream(server.url, run)
    assert server.get(f"/api/runs/{run.run_id}")["last_step"] == 119
    assert server.get(f"/api/runs/{run.run_id}/findings")["findings"]
    assert metric(server, "gradwatch_health_failures_total") == 1
    assert f"run {run.run_id}, worker 0 is judged without an earlier run" in caplog.text


def test_a_slow_engine_delays_its_own_run_alone(start_server, monkeypatch) -> None:
    server = start_server()
    slow, other = SyntheticRun("healthy", 2, 16, run_id="slow"), SyntheticRun("healthy", 2, 16, run_id="other")
    entered, release, real = threading.Event(), threading.Event(), Engine.add_stream

    def wait(self: Engine, stream_: int, optimizer: str, tensors, scalars, *rest, **named) -> None:
        if optimizer == "slow":
            entered.set()
            assert release.wait(60)
        real(self, stream_, optimizer, tensors, scalars, *rest, **named)

    monkeypatch.setattr(Engine, "add_stream", wait)
    log = list(slow.log())
    with SyntheticHook(server.url, slow) as hook:
        hook.greet()
        hook.send(log[0] | {"optimizer": "slow"})
        assert entered.wait(60)
        # The slow run's own commit does not wait for its engine, nor does anything of the other run.
        hook.wait_for_ack(0)
        assert stream(server.url, other) == []
        assert server.get("/api/runs/slow/tensors")["tensors"]
        release.set()
        for message in log[1:]:
            hook.send(message)
        hook.wait_for_verdict(log[-1]["seq"])


def test_an_interrupted_sender_loses_nothing_that_is_in_order(start_server) -> None:
    """The old socket still drains while the new one greets: the run goes on without a gap or a repetition."""
    server = start_server()
    run = SyntheticRun("healthy", 3, 160, rows_per_message=2)
    log = list(run.log())
    sent = 0
    while sent < len(log):
        with SyntheticHook(server.url, run) as hook:
            last = hook.greet()
            for message in log[last + 1 : last + 20]:
                hook.send(message)
                sent = max(sent, message["seq"] + 1)
            if sent == len(log):
                hook.wait_for_verdict(log[-1]["seq"])
    assert server.get(f"/api/runs/{run.run_id}/heatmap")["steps"] == list(range(160))
