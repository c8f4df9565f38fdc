"""An input's columns and bad rows: from the hook's messages over the store to the answer."""

import contextlib
import dataclasses
import sqlite3

import numpy as np
import pytest

from gradwatch.protocol import STATISTICS, columns_message
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun

NAN = np.float32(np.nan)
TENSOR = {"layer": "", "variable": None, "shape": [None, 2], "dtype": "float32", "n_elements": 0}
TENSORS = [{"kind": "input", "tensor": name, **TENSOR} for name in ("input/age", "input/image")]


def table(seq, stream=0):
    return {
        "type": "tensors", "seq": seq, "stream": stream, "optimizer": "adam", "tensors": TENSORS, "scalars": [],
        "statistics": list(STATISTICS),
    }  # fmt: skip


def columns(seq, steps, blocks, bad=None, *, stream=0, tensor="input/age", **more):
    """The message on some steps; ``bad`` has the bad rows of each."""
    bad = bad or [[] for _ in steps]
    padded = np.array([(rows + [-1] * 8)[:8] for rows in bad], np.int64)
    return columns_message(
        seq=seq,
        stream=stream,
        tensor=tensor,
        steps=np.array(steps, np.int64),
        times=1.79e9 + np.array(steps, np.float64),
        columns=np.array(blocks, np.float32),
        bad_rows=padded,
        n_bad_rows=np.array([len(rows) for rows in bad], np.int64),
        **more,
    )


def send(server, run_id, *messages, worker=0):
    """Sends a run's log, and waits until it is committed."""

    @dataclasses.dataclass
    class Run(SyntheticRun):
        def hello(self):
            return super().hello() | {"worker": worker}

    with SyntheticHook(server.url, Run(run_id=run_id)) as hook:
        hook.greet()
        for message in messages:
            hook.send(message)
        hook.wait_for_ack(messages[-1]["seq"])


HEALTHY, SICK = [[0, -1, 4], [0, 0, 9]], [[0, -3, 2], [5, NAN, NAN]]


@pytest.fixture(scope="module")
def answer(server: Server):
    send(
        server,
        "inputs",
        table(0),
        columns(1, [0, 4], [HEALTHY, SICK], [[], [3, 17, 40]]),
        columns(2, [8], [[[1, 0, 1], [2, 5, 20]]], [list(range(10))], n_lost=2),
        columns(3, [0], np.zeros((1, 0, 3)), [[6]], tensor="input/image"),
    )

    def get(**query):
        return server.get("/api/runs/inputs/columns", **{"tensor": "input/age", **query})

    return get


def test_columns_are_summed_up_over_the_steps(answer) -> None:
    assert answer() == {
        "tensor": "input/age",
        "n_columns": 2,
        "n_steps": 3,
        "n_lost": 2,
        "first_step": 0,
        "last_step": 8,
        "n_nonfinite": [1, 7],
        "n_steps_nonfinite": [1, 2],
        "min": [-3, 0],
        "max": [4, 20],
        "rows": [
            {"step": 8, "worker": 0, "rows": [0, 1, 2, 3, 4, 5, 6, 7], "n_rows": 10},
            {"step": 4, "worker": 0, "rows": [3, 17, 40], "n_rows": 3},
        ],
    }


def test_a_range_of_steps_cuts_through_messages(answer) -> None:
    part = answer(**{"from": 1, "to": 8})
    assert (part["first_step"], part["last_step"], part["n_steps"]) == (4, 4, 1)
    assert part["n_nonfinite"] == [0, 5]
    assert part["min"] == [-3, None]  # no finite element of the second column at any of these steps
    assert [one["step"] for one in part["rows"]] == [4]


def test_an_input_too_wide_for_columns_has_its_rows(answer) -> None:
    wide = answer(tensor="input/image")
    assert (wide["n_columns"], wide["n_steps"], wide["min"]) == (0, 1, [])
    assert wide["rows"] == [{"step": 0, "worker": 0, "rows": [6], "n_rows": 1}]


def test_steps_without_anything_captured_have_an_empty_answer(answer) -> None:
    nothing = answer(**{"from": 100})
    assert (nothing["n_columns"], nothing["n_steps"], nothing["first_step"], nothing["rows"]) == (0, 0, None, [])


def test_an_unknown_input_is_answered_with_those_there_are(server: Server, answer) -> None:
    refused = server.request("GET", "/api/runs/inputs/columns", params={"tensor": "input/agr"})
    assert (refused.status_code, refused.json()["code"]) == (404, "unknown_tensor")
    assert "did you mean input/age" in refused.json()["message"]
    missing = server.request("GET", "/api/runs/nobody/columns", params={"tensor": "input"})
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_run")


def test_only_the_newest_bad_steps_are_listed(server: Server) -> None:
    steps = list(range(30))
    send(server, "many", table(0), columns(1, steps, [SICK] * 30, [[step] for step in steps]))
    found = server.get("/api/runs/many/columns", tensor="input/age")
    assert [one["step"] for one in found["rows"]] == list(range(29, 9, -1))
    assert found["n_steps_nonfinite"] == [0, 30]


def test_workers_are_summed_up_or_taken_alone(server: Server) -> None:
    for worker, low in ((0, -1.0), (1, -7.0)):
        send(server, "two", table(0), columns(1, [5], [[[1, low, 0], [0, 0, 0]]], [[worker]]), worker=worker)
    both = server.get("/api/runs/two/columns", tensor="input/age")
    assert (both["n_steps"], both["n_nonfinite"], both["min"][0]) == (1, [2, 0], -7)
    assert [(one["step"], one["worker"]) for one in both["rows"]] == [(5, 0), (5, 1)]
    second = server.get("/api/runs/two/columns", tensor="input/age", worker=1)
    assert (second["n_nonfinite"], second["rows"][0]["rows"]) == ([1, 0], [1])


def test_a_step_that_two_streams_tell_of_counts_once(server: Server) -> None:
    same = ([3], [SICK], [[2]])
    send(server, "gan", table(0), table(1, stream=1), columns(2, *same), columns(3, *same, stream=1))
    found = server.get("/api/runs/gan/columns", tensor="input/age")
    assert (found["n_steps"], found["n_nonfinite"], len(found["rows"])) == (1, [0, 5], 1)


@pytest.mark.parametrize(
    ("message", "code", "words"),
    [
        (columns(1, [0], [SICK], stream=4), "unknown_stream", "Columns of stream 4"),
        (columns(1, [0], [SICK], tensor="target"), "invalid_message", "has no input 'target'; its tensor table has"),
        (columns(1, [3, 3], [SICK, SICK]), "steps_not_increasing", "do not increase"),
        (columns(1, [-1], [SICK]), "invalid_message", "steps from -1"),
        (columns(1, [0], [SICK]) | {"n_columns": 3}, "invalid_message", "expected columns"),
        (columns(1, [0], [SICK]) | {"n_columns": 10**9}, "invalid_message", "less than or equal to 10000"),
    ],
)
def test_what_is_not_the_contracts_is_refused(server: Server, message, code: str, words: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{code}: .*{words}"):
        send(server, f"refused-{abs(hash(words))}", table(0), message)


def test_a_deleted_run_leaves_nothing_behind(server: Server) -> None:
    send(server, "gone", table(0), columns(1, [0], [SICK]))
    assert server.request("DELETE", "/api/runs/gone").status_code == 204
    with contextlib.closing(sqlite3.connect(server.settings.dir / "gradwatch.db")) as database:
        (n,) = database.execute("SELECT count(*) FROM column_frames WHERE run_id = 'gone'").fetchone()
    assert n == 0
    with pytest.raises(RuntimeError, match="run_deleted"):
        send(server, "gone", table(0))
