"""The hook's socket: order, acknowledgement, resumption, and a clear error for each way of getting it wrong."""

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from gradwatch.protocol import decode, encode, scalars_message
from tests.serving import Server, connect
from tests.synthetic import SyntheticHook, SyntheticRun, stream


def make_run(**fields) -> SyntheticRun:
    return SyntheticRun(**{"layers": 2, "steps": 24, **fields})


def talk(server: Server, *messages: dict | bytes | str) -> dict:
    """Sends messages as they are, and returns the first error that comes back with the code of the close."""
    with connect(server.ws_url + "/ws/ingest") as socket:
        for message in messages:
            socket.send(encode(message) if isinstance(message, dict) else message)
        while True:
            answer = decode(socket.recv(timeout=60))
            if answer["type"] == "error":
                with pytest.raises(ConnectionClosed) as closed:
                    socket.recv(timeout=60)
                return {**answer, "close": closed.value.rcvd.code}


def test_a_whole_run_arrives_with_its_numbers(server: Server) -> None:
    run = make_run(kind="healthy", config={"rate": float("inf"), "nested": {"deep": 1}})
    findings = stream(server.url, run)
    assert findings == []
    detail = server.get(f"/api/runs/{run.run_id}")
    assert detail["state"] == "finished"
    assert detail["last_step"] == 23
    assert detail["streams"] == [{"stream": 0, "optimizer": "adam", "n_tensors": 12, "worker": 0, "replica": None}]
    # A number that JSON cannot hold is still told.
    assert detail["config"] == {"rate": "+inf", "nested": {"deep": 1}}


def test_acknowledges_what_came_and_sends_findings_with_the_newest(server: Server) -> None:
    run = make_run(kind="sick", steps=200)
    log = list(run.log())
    with SyntheticHook(server.url, run) as hook:
        assert hook.greet() == -1
        for message in log:
            hook.send(message)
        findings = hook.wait_for_verdict(log[-1]["seq"])
        assert hook.acked == hook.through_seq == log[-1]["seq"]
    assert findings
    assert findings == server.get(f"/api/runs/{run.run_id}/findings")["findings"]
    assert {finding["worker"] for finding in findings} == {0}


def test_resumes_where_it_stopped_and_passes_over_what_is_repeated(server: Server) -> None:
    run = make_run()
    log = list(run.log())
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in log[:3]:
            hook.send(message)
        hook.wait_for_ack(2)
    with SyntheticHook(server.url, run) as hook:
        assert hook.greet() == 2
        for message in log[1:]:
            hook.send(message)
        hook.wait_for_verdict(log[-1]["seq"])
    series = server.get(f"/api/runs/{run.run_id}/series", kind="scalar", tensor="loss")
    assert series["steps"] == list(range(24))


def test_a_hook_that_returns_with_nothing_new_is_told_the_findings(server: Server) -> None:
    run = make_run(kind="sick", steps=200)
    findings = stream(server.url, run)
    with SyntheticHook(server.url, run) as hook:
        last = hook.greet()
        assert hook.wait_for_verdict(last) == findings != []


def test_a_repeated_message_alone_is_acknowledged_again(server: Server) -> None:
    run = make_run()
    log = list(run.log())
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in (log[0], log[1], log[0]):
            hook.send(message)
        hook.wait_for_ack(1)
        hook.acked = -1
        hook.send(log[1])
        hook.wait_for_ack(1)


def test_two_workers_keep_their_own_order(server: Server) -> None:
    run = make_run()
    log = list(run.log())
    for worker in (0, 1):
        with SyntheticHook(server.url, run) as hook:
            hook.send({**run.hello(), "worker": worker})
            assert hook.receive()["last_seq"] == -1
            for message in log[:-1]:
                hook.send(message)
            hook.wait_for_verdict(log[-2]["seq"])
    # Replicas: the first worker stands for both, nothing is doubled.
    assert server.get(f"/api/runs/{run.run_id}/series", kind="scalar", tensor="loss")["steps"] == list(range(24))


def test_logged_scalars_join_the_streams(server: Server) -> None:
    run = make_run()
    tensors = next(run.log())
    steps, values = np.array([0, 5, 9]), np.array([1.0, np.nan, -np.inf], np.float32)
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send(tensors)
        hook.send(scalars_message(seq=1, name="val_loss", steps=steps, times=steps + 1.7e9, values=values))
        hook.wait_for_verdict(1)
    assert "val_loss" in server.get(f"/api/runs/{run.run_id}/tensors")["scalars"]
    series = server.get(f"/api/runs/{run.run_id}/series", kind="scalar", tensor="val_loss")
    assert series["steps"] == [0, 5, 9]
    assert series["mean"] == [1.0, None, None]
    assert series["state"] == [None, "nan", "-inf"]
    assert series["n_nonfinite"] == [0, 1, 1]


def test_a_loss_that_is_logged_stands_before_the_streams_of_the_same_step(server: Server) -> None:
    run = make_run(run_id="two-losses", steps=6)
    tensors, rows, *_ = run.log()
    steps, values = np.array([1, 4]), np.array([100.0, 400.0], np.float32)
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send(tensors)
        hook.send(rows)
        hook.send(scalars_message(seq=2, name="loss", steps=steps, times=steps + 1.7e9, values=values))
        hook.wait_for_verdict(2)
    series = server.get(f"/api/runs/{run.run_id}/series", kind="scalar", tensor="loss")
    assert series["steps"] == list(range(6))
    assert [series["mean"][step] for step in (1, 4)] == [100.0, 400.0]
    assert max(series["mean"][step] for step in (0, 2, 3, 5)) < 50


RUN = make_run(run_id="errors")
HELLO, TENSORS, ROWS, MORE_ROWS, *_ = [RUN.hello(), *RUN.log()]


@pytest.mark.parametrize(
    ("messages", "code", "says"),
    [
        ([b"\xc1garbage"], "malformed_message", "expected a msgpack map"),
        ([encode({"type": "hello"})[:-2]], "malformed_message", "do not decode"),
        (["hello"], "text_frame", "binary msgpack message, got text starting 'hello'"),
        ([TENSORS], "expected_hello", "Expected 'hello' as the first message, got 'tensors'"),
        ([{**HELLO, "protocol": 99}], "unsupported_protocol", "Upgrade gradwatch where the server runs"),
        ([{**HELLO, "protocol": 0}], "unsupported_protocol", "Upgrade gradwatch where the training runs"),
        ([{**HELLO, "worker": -1}], "invalid_message", "hello: field worker"),
        ([{**HELLO, "run": {**HELLO["run"], "run_id": "../x"}}], "invalid_message", "field run.run_id"),
        ([{**HELLO, "run": {**HELLO["run"], "started_at": float("nan")}}], "invalid_message", "field run.started_at"),
        ([{**HELLO, "run": {**HELLO["run"], "started_at": "yesterday"}}], "invalid_message", "field run.started_at"),
        ([{**HELLO, "run": {**HELLO["run"], "config": {"x": "y" * 300_000}}}], "invalid_message", "at most 262144"),
        ([HELLO, HELLO], "unexpected_hello", "A second 'hello'"),
        ([HELLO, {"type": "gradients", "seq": 0}], "unknown_type", "expected one of tensors, rows"),
        ([HELLO, TENSORS, MORE_ROWS], "sequence_gap", "Message 2 came where 1 was expected"),
        ([HELLO, {**ROWS, "seq": 0}], "unknown_stream", "came before its 'tensors' message"),
        ([HELLO, {**TENSORS, "tensors": [{"kind": "gradient"}]}], "invalid_message", "field tensors.0.tensor"),
        ([HELLO, {**TENSORS, "tensors": TENSORS["tensors"][:1] * 2}], "invalid_message", "is listed twice"),
        ([HELLO, {**TENSORS, "operations": [{"type": "Log"}]}], "invalid_message", "field operations.0.name"),
        ([HELLO, TENSORS, {**ROWS, "operations": b"1234"}], "invalid_message", "expected operations [8, 0, 6]"),
        ([HELLO, TENSORS, {**TENSORS, "seq": 1, "scalars": []}], "stream_redefined", "another stream number"),
        ([HELLO, TENSORS, {**ROWS, "statistics": b"abc"}], "invalid_message", "expected statistics [8, 12, 12]"),
        ([HELLO, TENSORS, {**ROWS, "n_rows": 2**60}], "invalid_message", "bytes, got"),
        ([HELLO, TENSORS, {**ROWS, "n_lost": -4}], "invalid_message", "rows: field n_lost"),
        ([HELLO, TENSORS, {**ROWS, "cost": float("nan")}], "invalid_message", "rows: field cost"),
        (
            [HELLO, TENSORS, {**ROWS, "steps": np.arange(-3, 5, dtype="<i8").tobytes()}],
            "invalid_message",
            "steps from -3 to 4",
        ),
        ([HELLO, TENSORS, ROWS, {**ROWS, "seq": 2}], "steps_not_increasing", "do not increase from 7 on"),
        (
            [HELLO, {"type": "state", "seq": 0, "state": "gone", "error": None, "last_step": 3}],
            "invalid_message",
            "'finished'",
        ),
    ],
)  # fmt: skip
def test_each_mistake_has_an_error_of_its_own(server: Server, messages: list, code: str, says: str) -> None:
    # Each mistake speaks for a run of its own.
    run_id = f"errors-{abs(hash((code, says))):x}"
    sent = [
        {**one, "run": {**one["run"], "run_id": run_id}}
        if isinstance(one, dict) and one["type"] == "hello" and one["run"]["run_id"] == "errors"
        else one
        for one in messages
    ]
    error = talk(server, *sent)
    assert error["code"] == code
    assert says in error["message"]
    assert error["fatal"] is True
    assert error["close"] == 1008
    assert set(error) == {"type", "code", "message", "detail", "fatal", "close"}


def test_what_was_in_order_before_a_mistake_is_kept(server: Server) -> None:
    run = make_run()
    log = list(run.log())
    talk(server, run.hello(), *log[:3], b"\xc1")
    with SyntheticHook(server.url, run) as hook:
        assert hook.greet() == 2


def test_too_large_a_message_is_refused_with_the_limit(start_server) -> None:
    server = start_server(message_limit_bytes=20_000)
    run = make_run(layers=20)
    error = talk(server, run.hello(), {**next(run.log()), "padding": b"x" * 25_000})
    assert error["code"] == "message_too_large"
    assert "at most 20000 are taken" in error["message"]
    # Far beyond the limit the library hangs up without reading it all.
    with connect(server.ws_url + "/ws/ingest") as socket:
        socket.send(b"x" * 50_000)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=60)
    assert closed.value.rcvd.code == 1009


def test_a_bad_client_does_not_disturb_another_run(server: Server) -> None:
    good, bad = make_run(kind="healthy"), make_run()
    log = list(good.log())
    with SyntheticHook(server.url, good) as hook:
        hook.greet()
        for message in log[:-1]:
            hook.send(message)
            talk(server, {**bad.hello(), "run": {**bad.hello()["run"], "run_id": "bad"}}, b"\xc1")
        hook.send(log[-1])
        assert hook.wait_for_verdict(log[-1]["seq"]) == []
    detail = server.get(f"/api/runs/{good.run_id}")
    assert (detail["state"], detail["last_step"]) == ("finished", 23)


def test_a_deleted_run_tells_its_hook_to_stop(server: Server) -> None:
    run = make_run()
    log = list(run.log())
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        hook.send(log[0])
        hook.wait_for_ack(0)
        assert server.request("DELETE", f"/api/runs/{run.run_id}").status_code == 204
        hook.send(log[1])
        with pytest.raises(RuntimeError, match="run_deleted"):
            hook.wait_for_ack(1)
    assert server.request("GET", f"/api/runs/{run.run_id}").status_code == 404


def test_a_small_inbox_only_slows_a_hook_down(start_server) -> None:
    server = start_server(inbox_limit_bytes=1)
    run = make_run(steps=80)
    stream(server.url, run)
    assert server.get(f"/api/runs/{run.run_id}")["last_step"] == 79
