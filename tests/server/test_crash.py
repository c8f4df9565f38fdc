"""The server is killed in the middle: nothing that was acknowledged is lost, nothing is there twice."""

from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.serving import ServerProcess
from tests.synthetic import SyntheticHook, SyntheticRun


UNACKNOWLEDGED = 8


def send_until_killed(server: ServerProcess, run: SyntheticRun, log: list, kill_after: int) -> int:
    """Streams with a few messages on their way, kills the server amid it, and returns what was acknowledged."""
    with SyntheticHook(server.url, run) as hook:
        last = hook.greet()
        with suppress(ConnectionClosed):
            for message in log[last + 1 :]:
                hook.send(message)
                hook.wait_for_ack(message["seq"] - UNACKNOWLEDGED)
                if hook.acked >= kill_after:
                    server.kill()
        return hook.acked


def test_killed_twice_and_nothing_lost_or_doubled(tmp_path: Path) -> None:
    run = SyntheticRun("sick", 4, 400, rows_per_message=4)
    log = list(run.log())
    server = ServerProcess(tmp_path)
    try:
        server.start()
        first = send_until_killed(server, run, log, 20)
        server.start()
        with SyntheticHook(server.url, run) as hook:
            assert hook.greet() >= first >= 20
        second = send_until_killed(server, run, log, 60)
        server.start()
        with SyntheticHook(server.url, run) as hook:
            last = hook.greet()
            assert last >= second >= 60
            for message in log:
                if message["seq"] > last:
                    hook.send(message)
            findings = hook.wait_for_verdict(log[-1]["seq"])
        path = f"/api/runs/{run.run_id}"
        series = server.get(f"{path}/series", tensor=run.sick_tensor, kind="gradient")
        assert series["steps"] == list(range(400))
        assert server.get(path)["state"] == "finished"
    finally:
        server.kill()
    # The same run over a server that lives gives the same findings.
    undisturbed = SyntheticRun("sick", 4, 400, rows_per_message=4, started_at=run.started_at)
    whole = ServerProcess(tmp_path / "whole")
    with whole, SyntheticHook(whole.url, undisturbed) as hook:
        hook.greet()
        for message in log:
            hook.send(message)
        assert hook.wait_for_verdict(log[-1]["seq"]) == findings != []


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_findings_survive_a_restart_even_if_the_hook_never_returns(tmp_path: Path, how: str) -> None:
    run = SyntheticRun("sick", 2, 120)
    log = list(run.log())
    server = ServerProcess(tmp_path).start()
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in log[:-1]:
            hook.send(message)
        findings = hook.wait_for_verdict(log[-2]["seq"])
        getattr(server, how)()
    with server:
        assert server.get(f"/api/runs/{run.run_id}/findings")["findings"] == findings != []
