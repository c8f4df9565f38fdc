"""Two real processes that train together: one run, two workers, merged by step on a real server."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest

from tests.hook import training
from tests.hook.replicas import reference
from tests.hook.training import batches
from tests.hook.worker import SICK, SICK_STEP, Y
from tests.serving import Server, free_port

FIRST = "sequential_model/first/kernel"
TIMEOUT_S = 240
pytestmark = pytest.mark.timeout(3 * TIMEOUT_S)


def start(server, directory):
    """Trains in two processes; what each printed."""
    addresses = [f"127.0.0.1:{free_port()}" for _ in (0, 1)]
    processes = []
    for index in (0, 1):
        cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        told = {"TF_CONFIG": json.dumps(cluster), "GRADWATCH_URL": server.url, "GRADWATCH_DIR": str(directory)}
        command = [sys.executable, "-m", "tests.hook.worker"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen(command, env=os.environ | told, **pipes))
    try:
        said = [process.communicate(timeout=TIMEOUT_S) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return said, all(process.returncode == 0 for process in processes)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A server with the run, and the run's id; once more where another process took a port in between."""
    with Server(tmp_path_factory.mktemp("server")) as server:
        for _ in range(3):
            said, is_done = start(server, tmp_path_factory.mktemp("hook"))
            if is_done or "bind" not in said[0][1] + said[1][1]:
                break
        assert is_done, "\n".join(errors[-3000:] for _, errors in said)
        yield server, [out.split()[-1] for out, _ in said]


@pytest.fixture(scope="module")
def get(trained):
    server, (run_id, _) = trained
    return lambda what="", **query: server.get(f"/api/runs/{run_id}{what}", **query)


@pytest.fixture(scope="module")
def expected():
    return reference(training.smooth(), keras.optimizers.Adam(0.01), batches(SICK, Y, epochs=1))


def test_both_speak_for_one_run(trained, get):
    server, run_ids = trained
    assert run_ids[0] == run_ids[1]
    assert server.get("/api/runs")["total"] == 1
    run = get()
    assert run["state"] == "finished"
    assert run["workers"] == [{"worker": worker, "state": "finished", "last_step": SICK_STEP} for worker in (0, 1)]
    streams = {(one["worker"], one["replica"], one["optimizer"]) for one in run["streams"]}
    assert streams == {(0, None, "adam"), (1, None, "adam"), (0, 0, "adam@replica_0"), (1, 1, "adam@replica_1")}


@pytest.mark.parametrize("replica", [0, 1])
def test_each_replicas_own_gradients(get, expected, replica):
    seen = expected[1 + replica]["gradient", FIRST]
    series = get("/series", tensor=FIRST, kind="gradient", statistic="norm", replica=replica)
    assert series["steps"] == list(range(training.N_BATCHES))
    np.testing.assert_allclose(series["mean"][:SICK_STEP], seen[:SICK_STEP, 0], rtol=2e-3)
    assert series["n_nonfinite"] == seen[:, 5].astype(int).tolist()


@pytest.mark.parametrize("worker", [None, 0, 1])
@pytest.mark.parametrize("kind", ["gradient", "weight", "update"])
def test_what_is_applied_is_the_same_in_both(get, expected, kind, worker):
    seen = expected[0][kind, FIRST]
    place = {} if worker is None else {"worker": worker}
    series = get("/series", tensor=FIRST, kind=kind, statistic="norm", **place)
    assert series["steps"] == list(range(training.N_BATCHES))
    np.testing.assert_allclose(series["mean"][:SICK_STEP], seen[:SICK_STEP, 0], rtol=2e-3)
    assert series["n_nonfinite"] == seen[:, 5].astype(int).tolist()


def test_the_loss(get, expected):
    series = get("/series", tensor="loss", kind="scalar")
    np.testing.assert_allclose(series["mean"][:SICK_STEP], expected[0]["loss"][:SICK_STEP], rtol=1e-4)
    assert series["state"][SICK_STEP] == "nan"


def test_what_hit_both_is_one_finding_and_names_where_it_began(get):
    (finding,) = get("/findings")["findings"]
    assert (finding["severity"], finding["first_step"], finding["worker"]) == ("critical", SICK_STEP, 1)
    assert finding["evidence"]["workers"] == [1]
