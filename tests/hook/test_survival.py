"""Whatever happens around it, the training goes on; and what was recorded arrives once."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch import interception, session
from gradwatch.governor import Governor
from gradwatch.probe import Stream
from gradwatch.protocol import decode, encode
from gradwatch.ring import Ring
from gradwatch.sender import deliver
from gradwatch.spool import spools
from tests.hook import training
from tests.hook.ingest_server import IngestServer, behave, free_port, greet, never_acknowledge, raw_server
from tests.hook.recording import Recording
from tests.hook.test_capture import X, Y, adam, compiled, fit
from tests.hook.training import LOSS, batches

CAPTURE = ("gradient", "operation")
pytestmark = pytest.mark.rows


ROOT = Path(__file__).parents[2]


@pytest.fixture
def impatient(monkeypatch):
    """The end of a run waits for a silent server: not for seconds in a test."""
    monkeypatch.setattr(session, "VERDICT_TIMEOUT_S", 0.2)
    monkeypatch.setattr(session, "CLOSE_TIMEOUT_S", 0.2)


@pytest.fixture
def plain_weights():
    model = compiled(training.sequential(), adam())
    fit(model)
    return model.get_weights()


def assert_trained(model, plain_weights):
    for found, expected in zip(model.get_weights(), plain_weights, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def said(capsys):
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("gradwatch: ")]


def test_without_a_server(capsys, plain_weights, tmp_path):
    """One clear line that says how to start one; what waits is kept, and delivered when one answers."""
    url = f"http://127.0.0.1:{free_port()}"
    model = compiled(training.sequential(), adam())
    watch = gradwatch.watch(model, url=url, budget=0)
    fit(model)
    began = time.monotonic()
    watch.close()
    assert time.monotonic() - began < 5
    assert_trained(model, plain_weights)
    lines = said(capsys)
    assert sum("gradwatch serve" in line for line in lines) == 1, lines
    assert any("`gradwatch sync`" in line for line in lines)
    (path,) = spools(tmp_path / "gradwatch")
    server = IngestServer(behave)
    deliver(path, server.url, None, timeout_s=60)
    server.stop()
    recording = Recording(server.database.log)
    assert recording.steps() == list(range(8))
    assert recording.states[-1]["state"] == "finished"
    assert server.database.hello["run"]["run_id"] == watch.run_id


GARBAGE = {
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "another web server": b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
}


@pytest.mark.usefixtures("impatient")
def test_a_server_that_never_acknowledges(plain_weights):
    server = IngestServer(never_acknowledge)
    model = compiled(training.sequential(), adam())
    watch = gradwatch.watch(model, url=server.url, budget=0)
    fit(model)
    began = time.monotonic()
    watch.close()
    assert time.monotonic() - began < 10
    assert_trained(model, plain_weights)
    server.kill()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("reply", GARBAGE.values(), ids=GARBAGE)
def test_a_server_that_answers_garbage(reply, plain_weights, capsys):
    model = compiled(training.sequential(), adam())
    with raw_server(reply) as (url, _):
        watch = gradwatch.watch(model, url=url, budget=0)
        fit(model)
        watch.close()
    assert_trained(model, plain_weights)
    assert any("8 steps; no verdict" in line for line in said(capsys))


def test_a_server_killed_and_started_again_gets_every_row_once():
    server = IngestServer(behave)
    model = compiled(training.sequential(), adam())
    watch = gradwatch.watch(model, url=server.url, budget=0)
    model.train_on_batch(X[:16], Y[:16])
    fit(model)
    server.kill()
    fit(model)
    second = IngestServer(behave, server.database, port=server.port)
    fit(model)
    # Findings of a server of another version may lack what we look for: the end of a run is no place to fail.
    assert watch.findings(timeout_s=60)[0].keys() == {"kind", "n_messages"}
    watch.close()
    second.stop()
    recording = Recording(server.database.log)
    assert recording.steps() == list(range(25))
    assert recording.n_lost == 0
    assert recording.states[-1]["last_step"] == 24


FAILURES = {
    "before the step": (Stream, "before"),
    "after the step": (Stream, "after"),
    "reading the ring": (Ring, "read"),
    "governing": (Governor, "observe"),
    "writing the ring": (Ring, "write"),
}


@pytest.mark.parametrize(
    ("owner", "name", "run_eagerly"),
    [(*where, False) for where in FAILURES.values()] + [(Stream, "before", True), (Stream, "after", True)],
    ids=[*FAILURES, "before an eager step", "after an eager step"],
)
def test_the_hook_fails_and_training_goes_on(watch, monkeypatch, capsys, plain_weights, owner, name, run_eagerly):
    def fail(*arguments, **options):
        raise RuntimeError("broken inside")

    monkeypatch.setattr(owner, name, fail)
    model = compiled(training.sequential(), adam(), run_eagerly=run_eagerly)
    watched = watch(model)
    fit(model)
    watched.close()
    assert_trained(model, plain_weights)
    assert int(model.optimizer.iterations) == 8, "each step once"
    lines = [line for line in said(capsys) if "broken inside" in line]
    n_rings = 2 if owner is Ring and name == "write" else 1  # the step's, and that in which a bad one is kept
    assert len(lines) == len(set(lines)) == n_rings, "each said once"
    assert all("RuntimeError: broken inside · training goes on, unwatched where this happens" in one for one in lines)


def test_a_stranger_kind_of_optimizer_is_let_be(watch, capsys):
    """Something within the hook's assumptions breaks: the optimizer has no learning rate to read."""
    model = training.sequential()
    optimizer = adam()
    compiled(model, optimizer, run_eagerly=True)
    watched = watch(model)
    type(optimizer).learning_rate, kept = property(lambda self: 1 / 0), type(optimizer).__dict__.get("learning_rate")
    try:
        with pytest.raises(ZeroDivisionError):  # Keras needs it too: the error is its own, not swallowed by the hook
            fit(model, epochs=1)
    finally:
        if kept is None:
            del type(optimizer).learning_rate
        else:
            type(optimizer).learning_rate = kept
    watched.close()
    assert any("ZeroDivisionError" in line for line in said(capsys))


def test_disabled(monkeypatch, capsys, plain_weights, tmp_path):
    monkeypatch.setenv("GRADWATCH_DISABLED", "1")
    model = compiled(training.sequential(), adam())
    with gradwatch.watch(model) as watch:
        assert not interception.active_observers()
        fit(model)
        watch.log(loss=1.0)
        assert watch.findings() == []
        assert watch.is_closed
    assert_trained(model, plain_weights)
    assert said(capsys) == []
    assert not (tmp_path / "gradwatch").exists()


def test_disabled_still_finds_mistakes(monkeypatch):
    monkeypatch.setenv("GRADWATCH_DISABLED", "1")
    with pytest.raises(gradwatch.TargetError):
        gradwatch.watch("model")


def test_a_function_traced_before_the_watch_is_told(watch, capsys):
    model, optimizer = training.sequential(), adam()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    x, y = (tf.constant(part) for part in batches(X, Y)[0])
    step(x, y)
    watched = watch(model)
    step(x, y)
    watched.close()
    told = said(capsys)[-1]
    assert "no training step was seen. Call gradwatch.watch(...) before the training function is" in told
    assert "or where weights are assigned whose gradients a tape was asked for" in told


SCRIPT = """
    import sys
    sys.path.insert(0, {root!r})
    import gradwatch
    from tests.hook import training
    from tests.hook.test_capture import X, Y, adam, compiled, fit

    model = compiled(training.sequential(), adam())
    gradwatch.watch(model, budget=0)
    fit(model)
    print("trained")
"""


def run_script(server, ending, tmp_path):
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(SCRIPT.format(root=str(ROOT))) + ending)
    environment = os.environ | {"GRADWATCH_URL": server.url, "GRADWATCH_DIR": str(tmp_path / "scripts")}
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", str(path)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def without_tensorflows(stderr):
    noise = ("WARNING: All log messages before absl", "I0000 ", "E0000 ", "W0000 ")
    return [line for line in stderr.splitlines() if not line.startswith(noise)]


def find_nothing():
    async def run(websocket, database):
        await greet(websocket, database)
        async for data in websocket:
            database.take(decode(data))
            await websocket.send(encode({"type": "ack", "seq": database.last_seq}))
            run_id = database.hello["run"]["run_id"]
            answer = {"type": "findings", "run_id": run_id, "through_seq": database.last_seq, "findings": []}
            await websocket.send(encode(answer))

    return run


def test_end_of_the_interpreter_closes_the_run(tmp_path):
    server = IngestServer(find_nothing())
    done = run_script(server, "", tmp_path)
    server.stop()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "trained\n"
    first, last = without_tensorflows(done.stderr)
    run_id = server.database.hello["run"]["run_id"]
    assert first == f"gradwatch: watching 'sequential_model' · {server.url}/runs/{run_id}"
    assert last == f"gradwatch: healthy · 8 steps · {server.url}/runs/{run_id}"
    recording = Recording(server.database.log)
    assert recording.steps() == list(range(8))
    assert (recording.states[-1]["state"], recording.states[-1]["error"]) == ("finished", None)
    assert not list((tmp_path / "scripts").rglob("*.db"))


def test_a_crash_of_the_script_is_told(tmp_path):
    server = IngestServer(find_nothing())
    done = run_script(server, "raise ValueError('the 3rd shard is corrupt')\n", tmp_path)
    server.stop()
    assert done.returncode == 1
    assert "ValueError: the 3rd shard is corrupt" in done.stderr
    state = Recording(server.database.log).states[-1]
    assert (state["state"], state["error"]) == ("crashed", "ValueError: the 3rd shard is corrupt")
