"""Live, finished, crashed, lost contact: what a run's state follows from."""

from tests.serving import Server, ServerProcess, wait_until
from tests.synthetic import SyntheticHook, SyntheticRun, stream


def state_of(server: Server | ServerProcess, run: SyntheticRun) -> str:
    return server.get(f"/api/runs/{run.run_id}")["state"]


def test_live_then_crashed_with_its_error(start_server) -> None:
    server = start_server()
    run = SyntheticRun("sick", 2, 40)
    log = list(run.log(crash=True))
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        assert state_of(server, run) == "live"
        for message in log:
            hook.send(message)
        hook.wait_for_verdict(log[-1]["seq"])
    detail = server.get(f"/api/runs/{run.run_id}")
    assert detail["state"] == "crashed"
    assert detail["error"] == "InvalidArgumentError: loss is not finite"
    assert detail["ended_at"] is not None


def test_contact_is_lost_and_found(start_server) -> None:
    server = start_server(lost_contact_after_s=0.2)
    run = SyntheticRun("healthy", 2, 40)
    log = list(run.log())
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send(log[0])
        hook.wait_for_ack(0)
        assert state_of(server, run) == "live"
    wait_until(lambda: state_of(server, run) == "lost_contact", 5, "contact to be lost")
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        assert state_of(server, run) == "live"
        for message in log[1:]:
            hook.send(message)
        hook.wait_for_verdict(log[-1]["seq"])
    assert state_of(server, run) == "finished"


def test_a_short_break_goes_unnoticed(start_server) -> None:
    server = start_server(lost_contact_after_s=60)
    run = SyntheticRun("healthy", 2, 40)
    for _ in range(4):
        with SyntheticHook(server.url, run) as hook:
            hook.greet()
        assert state_of(server, run) == "live"


def test_a_break_that_ended_does_not_count_later(start_server) -> None:
    server = start_server(lost_contact_after_s=0.5)
    run, other = SyntheticRun("healthy", 2, 40), SyntheticRun("healthy", 2, 16)
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        # Another run's loss, which began later, tells that the first break's timer had its time.
        with SyntheticHook(server.url, other) as another:
            another.greet()
        wait_until(lambda: state_of(server, other) == "lost_contact", 10, "contact to be lost")
        assert state_of(server, run) == "live"


def test_a_finished_run_stays_finished_when_its_socket_goes(start_server) -> None:
    server = start_server(lost_contact_after_s=0.0)
    run = SyntheticRun("healthy", 2, 16)
    stream(server.url, run)
    # Another run's loss tells that the timer had its time.
    other = SyntheticRun("healthy", 2, 16)
    with SyntheticHook(server.url, other) as hook:
        hook.greet()
    wait_until(lambda: state_of(server, other) == "lost_contact", 5, "contact to be lost")
    assert state_of(server, run) == "finished"


def test_whoever_was_live_is_out_of_contact_after_a_restart(start_server) -> None:
    run = SyntheticRun("sick", 2, 60)
    log = list(run.log())
    first = start_server()
    with SyntheticHook(first.url, run) as hook:
        hook.greet()
        for message in log[:-1]:
            hook.send(message)
        before = hook.wait_for_verdict(log[-2]["seq"])
        first.stop()
    second = start_server()
    assert state_of(second, run) == "lost_contact"
    assert second.get(f"/api/runs/{run.run_id}")["ended_at"] is not None
    with SyntheticHook(second.url, run) as hook:
        assert hook.greet() == log[-2]["seq"]
        assert state_of(second, run) == "live"
        hook.send(log[-1])
        after = hook.wait_for_verdict(log[-1]["seq"])
    assert [finding["id"] for finding in after] == [finding["id"] for finding in before]
    assert state_of(second, run) == "finished"
