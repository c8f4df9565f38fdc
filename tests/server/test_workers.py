"""Several workers of one run: their numbers together and apart, how the run stands, and what they find in common."""

import numpy as np
import pytest

from gradwatch.protocol import STATISTICS
from gradwatch_server.store.team import merge_findings
from tests.serving import Server, wait_until
from tests.synthetic import SyntheticHook, SyntheticRun

NORM, N_NAN = STATISTICS.index("norm"), STATISTICS.index("n_nan")
STEPS = 40


class Team:
    """Two workers that train together: each sends what all apply and, in another stream, its own replica's."""

    def __init__(self, server: Server, name: str, *, sick: int | None = None, steps: int = STEPS) -> None:
        self.server, self.steps = server, np.arange(steps)
        self.runs = [SyntheticRun("healthy", 2, steps, run_id=name, worker=worker, seed=worker) for worker in (0, 1)]
        self.hooks = [SyntheticHook(server.url, run) for run in self.runs]
        self.tables = [next(iter(run.log())) for run in self.runs]
        self.first = self.tables[0]["tensors"][0]["tensor"]
        self.sick = sick

    def __enter__(self) -> "Team":
        for hook in self.hooks:
            hook.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for hook in self.hooks:
            hook.__exit__(*error)

    def send(self, worker: int) -> np.ndarray:
        """Sends one worker's whole log but its end; gives the statistics of what it applies."""
        hook, run, table = self.hooks[worker], self.runs[worker], self.tables[worker]
        hook.greet()
        hook.send(table)
        message = run.rows(1, self.steps)
        shape = (len(self.steps), len(run.tensors), len(STATISTICS))
        applied = np.frombuffer(message["statistics"], "<f4").reshape(shape).copy()
        hook.send(message | {"statistics": applied.tobytes()})
        own = [tensor | {"replica": worker} for tensor in table["tensors"] if tensor["kind"] == "gradient"]
        places = [place for place, tensor in enumerate(table["tensors"]) if tensor["kind"] == "gradient"]
        hook.send(table | {"seq": 2, "stream": 1, "optimizer": f"adam@replica_{worker}", "tensors": own})
        mine = applied[:, places] * 0.5
        if self.sick == worker:
            mine[10, 0, N_NAN] = 3
        scalars = np.frombuffer(message["scalars"], "<f4").reshape(len(self.steps), -1) + 100
        hook.send(message | {"seq": 3, "stream": 1, "statistics": mine.tobytes(), "scalars": scalars.tobytes()})
        return applied

    def end(self, worker: int, state: str = "finished", error: str | None = None) -> None:
        """Ends one worker's log."""
        message = {"type": "state", "seq": 4, "state": state, "error": error, "last_step": int(self.steps[-1])}
        self.hooks[worker].send(message)
        self.hooks[worker].wait_for_ack(4)

    def get(self, what: str = "", **query):
        return self.server.get(f"/api/runs/{self.runs[0].run_id}{what}", **query)


@pytest.fixture(scope="module")
def team(server: Server):
    with Team(server, "team", sick=1) as team:
        team.applied = [team.send(worker) for worker in (0, 1)]
        for worker in (0, 1):
            team.end(worker)
        yield team


def column(team: Team, worker: int, statistic: int) -> np.ndarray:
    return team.applied[worker][:, 0, statistic]


def test_each_worker_apart(team: Team) -> None:
    for worker in (0, 1):
        series = team.get("/series", tensor=team.first, worker=worker)
        np.testing.assert_array_equal(np.float32(series["mean"]), column(team, worker, NORM))
        heatmap = team.get("/heatmap", worker=worker)
        np.testing.assert_array_equal(np.float32(heatmap["values"][0]), column(team, worker, NORM))


def test_all_workers_together_are_one_band(team: Team) -> None:
    series = team.get("/series", tensor=team.first)
    both = np.stack([column(team, worker, NORM) for worker in (0, 1)])
    assert series["steps"] == team.steps.tolist()
    np.testing.assert_array_equal(np.float32(series["min"]), both.min(axis=0))
    np.testing.assert_array_equal(np.float32(series["max"]), both.max(axis=0))
    np.testing.assert_allclose(series["mean"], both.mean(axis=0, dtype=np.float64), rtol=1e-6)
    heatmap = team.get("/heatmap")
    np.testing.assert_array_equal(np.float32(heatmap["values"][0]), both.max(axis=0))
    assert len(heatmap["tensors"]) == len(set(heatmap["tensors"])) == 4


def test_a_replicas_own_gradients_are_asked_for(team: Team) -> None:
    series = team.get("/series", tensor=team.first, replica=1)
    np.testing.assert_allclose(series["mean"], column(team, 1, NORM) * 0.5, rtol=1e-6)
    assert np.flatnonzero(series["n_nonfinite"]).tolist() == [10]
    assert team.get("/heatmap", replica=0)["n_nonfinite"][0] == [0] * STEPS
    assert team.get("/series", tensor="loss", kind="scalar", replica=1)["min"][0] > 100


def test_no_workers_trouble_is_hidden(team: Team) -> None:
    lane = team.get("/nonfinite")
    assert [step for step, n in zip(lane["steps"], lane["gradient"], strict=True) if n] == [10]
    assert sum(team.get("/nonfinite", worker=0)["gradient"]) == 0
    assert sum(team.get("/nonfinite", worker=1)["gradient"]) == 3


def test_the_loss_is_the_workers_and_no_replicas(team: Team) -> None:
    apart = [team.get("/series", tensor="loss", kind="scalar", worker=worker)["mean"] for worker in (0, 1)]
    together = team.get("/series", tensor="loss", kind="scalar")
    np.testing.assert_allclose(together["mean"], np.mean(apart, axis=0), rtol=1e-6)
    assert max(together["max"]) < 100
    assert team.get("/tensors")["scalars"] == ["loss", "learning_rate", "gradient_norm"]
    (listed,) = [run for run in team.server.get("/api/runs")["runs"] if run["id"] == "team"]
    assert max(listed["sparkline"]["loss"]) < 100


def test_a_bad_step_of_the_loss_counts_once_for_all_workers(server: Server) -> None:
    with Team(server, "twice", steps=8) as team:
        for worker in (0, 1):
            team.send(worker)
            log = {"type": "scalars", "seq": 4, "name": "mine", "n_rows": 8}
            steps, times = np.arange(8, dtype="<i8"), np.arange(8, dtype="<f8")
            values = np.array([1, 2, np.nan, 4, 5, 6, 7, 8], "<f4") + worker
            blocks = {"steps": steps.tobytes(), "times": times.tobytes(), "values": values.tobytes()}
            team.hooks[worker].send(log | blocks)
            team.hooks[worker].wait_for_ack(4)
        series = team.get("/series", tensor="mine", kind="scalar", points=4)
    assert (series["downsampled_by"], series["n_nonfinite"]) == (2, [0, 1, 0, 0])
    assert series["state"] == [None, "nan", None, None]
    assert series["mean"] == [2, 4.5, 6, 8]


def test_streams_and_workers_are_listed(team: Team) -> None:
    run = team.get()
    keys = [(one["worker"], one["replica"], one["optimizer"]) for one in run["streams"]]
    assert keys == [(0, None, "adam"), (1, None, "adam"), (0, 0, "adam@replica_0"), (1, 1, "adam@replica_1")]
    last = STEPS - 1
    assert run["workers"] == [{"worker": worker, "state": "finished", "last_step": last} for worker in (0, 1)]
    (first, *_) = team.get("/tensors")["tensors"]
    assert (first["optimizer"], first["kinds"]) == ("adam", ["gradient", "weight", "update"])


def test_a_run_is_finished_when_all_its_workers_are(server: Server) -> None:
    with Team(server, "slow") as team:
        team.send(0)
        team.send(1)
        team.end(0)
        assert (team.get()["state"], team.get()["ended_at"]) == ("live", None)
        assert [one["state"] for one in team.get()["workers"]] == ["finished", "live"]
        team.end(1)
        assert team.get()["state"] == "finished"


def test_a_worker_that_comes_after_anothers_end_brings_the_run_back(server: Server) -> None:
    with Team(server, "late") as team:
        team.send(0)
        team.end(0)
        assert team.get()["state"] == "finished"
        team.send(1)
        wait_until(lambda: team.get()["state"] == "live")
        team.end(1)
        assert team.get()["state"] == "finished"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_run_is_crashed_when_one_of_its_workers_is(server: Server, order) -> None:
    with Team(server, f"crash-{order[0]}") as team:
        for worker in order:
            team.send(worker)
        for worker in order:
            team.end(worker, *(("crashed", "ValueError: no room") if worker == 1 else ()))
        assert (team.get()["state"], team.get()["error"]) == ("crashed", "worker 1: ValueError: no room")


def finding(worker, *, kind="nonfinite_gradient", step=5, severity="critical", **evidence):
    body = {"kind": kind, "severity": severity, "first_step": step, "last_step": step + worker, "worker": worker}
    return body | {"evidence": evidence}


def test_what_began_at_one_step_in_several_workers_is_one_incident() -> None:
    merged = merge_findings({0: [finding(0)], 1: [finding(1)]})
    assert [(body["worker"], body["last_step"], body["evidence"]["workers"]) for body in merged] == [(0, 6, [0, 1])]


def test_an_incident_is_told_by_the_worker_whose_replica_it_came_from() -> None:
    (only,) = merge_findings({0: [finding(0)], 1: [finding(1, kind="singular_gradient", replica=1)]})
    assert (only["kind"], only["worker"], only["evidence"]["workers"]) == ("singular_gradient", 1, [1])


@pytest.mark.parametrize(
    "other",
    [finding(1, step=6), finding(1, severity="warning", kind="dead_units")],
    ids=["another step", "another severity"],
)
def test_what_is_apart_stays_apart(other) -> None:
    merged = merge_findings({0: [finding(0)], 1: [other]})
    assert [body["evidence"]["workers"] for body in merged] == [[0], [1]]


def test_warnings_of_another_kind_stay_apart() -> None:
    warnings = [finding(worker, severity="warning", kind=kind) for worker, kind in enumerate(["dead_units", "zero"])]
    assert len(merge_findings({0: warnings[:1], 1: warnings[1:]})) == 2


def test_findings_of_one_worker_are_never_merged() -> None:
    own = [finding(0), replace_kind(finding(0), "exploding_gradient")]
    assert len(merge_findings({0: own, 1: [finding(1)]})) == 2


def replace_kind(body, kind):
    return body | {"kind": kind}
