"""The server is killed in the middle: nothing that was acknowledged is lost, nothing is there twice."""

from contextlib import suppress
from pathlib import Path

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


def test_killed_twice_and_nothing_lost_or_doubled(tmp_path: Path, start_server) -> None:
    run = SyntheticRun("sick", 4, 240, rows_per_message=4)
    log = list(run.log())
    path = f"/api/runs/{run.run_id}"
    server = ServerProcess(tmp_path / "killed")
    try:
        server.start()
        acknowledged = send_until_killed(server, run, log, 20)
        assert acknowledged >= 20
        server.start()
        assert server.get(path)["state"] == "lost_contact"
        with SyntheticHook(server.url, run) as hook:
            last = hook.greet()
            assert last >= acknowledged
            for message in log[last + 1 : -1]:
                hook.send(message)
            findings = hook.wait_for_verdict(log[-2]["seq"])
            server.kill()
        server.start()
        # What was found is there before the hook returns, and if it never does.
        assert server.get(f"{path}/findings")["findings"] == findings != []
        with SyntheticHook(server.url, run) as hook:
            assert hook.greet() == log[-2]["seq"]
            hook.send(log[-1])
            assert hook.wait_for_verdict(log[-1]["seq"]) == findings
        series = server.get(f"{path}/series", tensor=run.sick_tensor, kind="gradient")
        assert series["steps"] == list(range(240))
        assert server.get(path)["state"] == "finished"
    finally:
        server.kill()
    # A server that was never killed finds the same.
    whole = start_server()
    with SyntheticHook(whole.url, run) as hook:
        hook.greet()
        for message in log:
            hook.send(message)
        assert hook.wait_for_verdict(log[-1]["seq"]) == findings
