"""From the training step to REST, through a real server: the numbers are the instrumented loop's."""

import threading

import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from tests.hook import training
from tests.hook.test_capture import FIRST, FITS, X, Y, adam, compiled, fit, loop
from tests.hook.training import assert_close, batches, reference_loop
from tests.numerics.reference import NAMES
from tests.serving import Server, ServerProcess


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def seen():
    return reference_loop(training.sequential(), adam(), batches(X, Y))


def train_by_fit(options):
    model = compiled(training.sequential(), adam(), **options)
    return model, lambda watch: fit(model)


def train_by_loop(compiler):
    model, optimizer = training.sequential(), adam()

    def train(watch):
        loop(model, optimizer, batches(X, Y), compiler=compiler, after=lambda loss: watch.log(loss=loss))

    return model, train


WAYS = {name: (train_by_fit, FITS[name]) for name in ("fit", "fit, jit", "fit, 4 steps in one execution")}
WAYS |= {"tf.function": (train_by_loop, tf.function), "eager loop": (train_by_loop, None)}


def series(server, run_id, tensor, kind, statistic="norm"):
    found = server.get(f"/api/runs/{run_id}/series", tensor=tensor, kind=kind, statistic=statistic, points=100_000)
    assert found["downsampled_by"] == 1
    return found


def assert_rest_equals(server, run_id, seen):
    n_steps = len(seen["loss"])
    for kind, path in [key for key in seen if isinstance(key, tuple)]:
        statistics = NAMES if path == FIRST else ("norm", "n_nan")
        found = np.array(seen[kind, path])
        for name in statistics:
            answer = series(server, run_id, path, kind, name)
            assert answer["steps"] == list(range(n_steps)), f"{kind} {path} {name}"
            assert answer["min"] == answer["mean"] == answer["max"], "one step in each point"
            found[:, NAMES.index(name)] = answer["mean"]
        assert_close(found, seen[kind, path], f"{kind} of {path}")


@pytest.mark.parametrize(("make", "option"), WAYS.values(), ids=WAYS)
def test_rest_gives_the_numbers_of_the_reference_loop(server, seen, make, option):
    model, train = make(option)
    with gradwatch.watch(model, url=server.url, name="end to end", budget=0) as watch:
        train(watch)
        findings = watch.findings(timeout_s=60)
    run = server.get(f"/api/runs/{watch.run_id}")
    assert (run["state"], run["last_step"], run["n_rows_lost"]) == ("finished", 7, 0)
    assert findings == server.get(f"/api/runs/{watch.run_id}/findings")["findings"] == []
    assert_rest_equals(server, watch.run_id, seen)
    loss = series(server, watch.run_id, "loss", "scalar")
    assert loss["steps"] == list(range(8))
    np.testing.assert_allclose(loss["mean"], seen["loss"], rtol=1e-4)
    norms = series(server, watch.run_id, "gradient_norm", "scalar")
    np.testing.assert_allclose(norms["mean"], seen["gradient_norm"], rtol=1e-3)


def test_a_server_killed_mid_run_and_started_again(tmp_path):
    """SIGKILL while rows stream in, training goes on meanwhile: nothing lost, nothing twice."""
    server = ServerProcess(tmp_path / "server").start()
    try:
        model = compiled(training.sequential(), adam())
        watch = gradwatch.watch(model, url=server.url, budget=0)
        fit(model, epochs=50)
        killer = threading.Timer(0.3, server.kill)
        killer.start()
        fit(model, epochs=100)
        killer.join()
        fit(model, epochs=50)
        server.start()
        fit(model, epochs=50)
        watch.findings(timeout_s=60)
        watch.close()
        run = server.get(f"/api/runs/{watch.run_id}")
        assert (run["state"], run["last_step"], run["n_rows_lost"]) == ("finished", 999, 0)
        for kind in ("gradient", "weight", "update"):
            assert series(server, watch.run_id, FIRST, kind)["steps"] == list(range(1000))
    finally:
        server.stop()


def test_a_sick_run_is_told_to_the_hook_and_stops(server):
    """`on_nonfinite="raise"` with the server's own words."""
    x = X.copy()
    x[32] = np.nan
    model = compiled(training.sequential(), adam())
    watch = gradwatch.watch(model, url=server.url, budget=0, on_nonfinite="raise")
    with pytest.raises(gradwatch.NonFiniteError) as caught:
        fit(model, x, epochs=5_000)
    leading = server.get(f"/api/runs/{watch.run_id}/findings")["findings"][0]
    assert leading["first_step"] == 2
    assert watch.run_id in str(caught.value)
    watch.close(caught.value)
    run = server.get(f"/api/runs/{watch.run_id}")
    assert run["state"] == "crashed"
    assert run["health"]["level"] == "critical"
    assert run["error"].startswith("NonFiniteError: ")
