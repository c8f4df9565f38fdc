"""What is captured under `tf.distribute`, against a plain loop that computes each replica's part by itself.

TensorFlow compiles nothing by XLA for two CPUs together, so over two replicas there is no such test; over one there is.
"""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from gradwatch.protocol import STATISTICS
from tests.hook.recording import Recording
from tests.hook.training import assert_recorded

pytestmark = pytest.mark.timeout(900)  # all is trained in one fixture, on a machine that may be busy
N_STEPS = 4
N_NAN = STATISTICS.index("n_nan")
FIRST = "sequential_model/first/kernel"


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Every case of `tests.hook.replicas`, trained in a process of its own."""
    directory = tmp_path_factory.mktemp("replicas")
    out = directory / "out"
    command = [sys.executable, "-m", "tests.hook.replicas", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=850, check=False)
    assert out.exists(), done.stderr[-3000:]
    return pickle.loads(out.read_bytes())  # noqa: S301 written by ourselves just now


def stream_of(recording, optimizer):
    (found,) = [number for number, table in recording.tables.items() if table["optimizer"] == optimizer]
    return found


def replica_of(recording, stream):
    (replica,) = {tensor.get("replica") for tensor in recording.tables[stream]["tensors"]}
    return replica


TRAININGS = {
    "fitted": "adam",
    "looped": "adam",
    "looped_eagerly_with_an_optimizer_not_built": "adam",
    "clipped_and_decayed": "adam_w",
    "sparse": "sgd",
    "loss_scaled": "loss_scale_optimizer",
}


@pytest.mark.parametrize(("name", "optimizer"), TRAININGS.items())
def test_each_replica_and_what_is_applied(cases, name, optimizer):
    (messages,) = cases[name]["messages"]
    recording = Recording(messages)
    assert len(recording.tables) == 3
    applied, *own = cases[name]["result"]
    assert_recorded(recording, applied, stream=stream_of(recording, optimizer))
    for number, seen in enumerate(own):
        stream = stream_of(recording, f"{optimizer}@replica_{number}")
        assert replica_of(recording, stream) == number
        assert_recorded(recording, seen, stream=stream)
    assert replica_of(recording, stream_of(recording, optimizer)) is None
    assert recording.n_lost == 0


@pytest.mark.parametrize(("name", "optimizer"), TRAININGS.items())
def test_losses_are_each_replicas_own_and_their_mean(cases, name, optimizer):
    """In a loop that says nothing of its loss too: what its tape differentiates, and what is applied, is a sum."""
    recording = Recording(cases[name]["messages"][0])
    streams = [optimizer, f"{optimizer}@replica_0", f"{optimizer}@replica_1"]
    for stream, seen in zip(streams, cases[name]["result"], strict=True):
        loss = recording.scalar("loss", stream_of(recording, stream))
        np.testing.assert_allclose(list(loss.values()), seen["loss"], rtol=1e-4)


def test_what_a_loop_leaves_out_is_said_once_of_what_is_applied(cases):
    recording = Recording(cases["left_out"]["messages"][0])
    for optimizer, expected in {"adam": [True, True, False, False], "adam@replica_1": [False, False]}.items():
        tensors = recording.tables[stream_of(recording, optimizer)]["tensors"]
        gradients = [one for one in tensors if one["kind"] == "gradient"]
        assert [one.get("left_out", False) for one in gradients] == expected
        assert gradients[-1]["tensor"] == "sequential_model/last/bias"
    updates = recording.statistics("update", FIRST, stream_of(recording, "adam"))
    assert (updates[:, STATISTICS.index("norm")] == 0).all()
    assert len(updates) == N_STEPS


def test_operations_are_each_replicas_own(cases):
    tables = Recording(cases["looped"]["messages"][0]).tables.values()
    names = {table["optimizer"]: [operation["name"] for operation in table["operations"]] for table in tables}
    assert names["adam"] == []
    assert names["adam@replica_0"]
    assert not set(names["adam@replica_1"]) & set(names["adam@replica_0"])
    assert any("replica_1/" in name for name in names["adam@replica_1"])
    assert len(names["adam@replica_1"]) == len(names["adam@replica_0"])


@pytest.mark.parametrize("name", ["looped", "looped_eagerly_with_an_optimizer_not_built"])
def test_what_a_replica_logs_is_the_first_ones(cases, name):
    logged = Recording(cases[name]["messages"][0]).logged
    applied, first, _ = cases[name]["result"]
    np.testing.assert_allclose([logged["part"][step] for step in range(N_STEPS)], first["loss"] / 2, rtol=1e-4)
    np.testing.assert_allclose([logged["whole"][step] for step in range(N_STEPS)], applied["loss"], rtol=1e-4)


def test_the_number_of_steps_is_told_once(cases):
    assert f"healthy · {N_STEPS} steps" in cases["fitted"]["said"]


def test_which_replica_went_bad(cases):
    """Full statistics are thinned: the finite check is not, and a bad step is a full row of everything."""
    recording = Recording(cases["sick"]["messages"][0])
    applied, *own = cases["sick"]["result"]
    bad = {
        optimizer: recording.statistics("gradient", FIRST, stream_of(recording, optimizer))[:, N_NAN].tolist()
        for optimizer in ("adam", "adam@replica_0", "adam@replica_1")
    }
    assert bad["adam@replica_0"] == [0, 0, 0, 40], "its weights are NaN at the fourth step"
    assert bad["adam@replica_1"] == [0, 0, 40, 40]
    assert bad["adam"] == [0, 0, 40, 40]
    weights = recording.statistics("weight", FIRST, stream_of(recording, "adam"))
    updates = recording.statistics("update", FIRST, stream_of(recording, "adam"))
    for found, kind in ((weights, "weight"), (updates, "update")):
        np.testing.assert_array_equal(found[2:, N_NAN], applied[kind, FIRST][2:, N_NAN])
        assert np.isnan(found[1]).all(), "thinned"
    loss = recording.scalar("loss", stream_of(recording, "adam@replica_1"))
    assert np.isnan([loss[2], own[1]["loss"][2]]).all()


def test_raise_reaches_the_training_and_names_the_replica(cases):
    words = cases["raised"]["result"]
    assert "became non-finite at step 2" in words
    assert "@replica_1" in words


def test_skip_is_refused_where_the_strategy_is_known_and_else_said_once(cases):
    refusal, _ = cases["skipped"]["result"]
    assert refusal.startswith("on_nonfinite: found 'skip', expected 'record' or 'raise' under MirroredStrategy")
    assert cases["skipped"]["said"].count("on_nonfinite='skip' cannot be done") == 1


def test_two_optimizers_share_the_steps_number_in_every_replica(cases):
    recording = Recording(cases["two_optimizers"]["messages"][0])
    assert len(recording.tables) == 6
    for stream in recording.tables:
        assert recording.steps(stream) == list(range(N_STEPS))


@pytest.mark.parametrize("name", ["alone_compiled", "one_device"])
def test_one_replica_is_no_different_from_none(cases, name):
    recording = Recording(cases[name]["messages"][0])
    assert_recorded(recording, cases[name]["result"])
    assert recording.tables[recording.stream]["optimizer"] == "adam"


def test_xla_over_two_cpus_is_what_tensorflow_cannot_do(cases):
    assert "Trying to access resource" in cases["compiled_over_two"]["result"], "it can now: test the capture there"


@pytest.mark.parametrize(
    ("name", "strategy"), [("central_storage", "CentralStorageStrategy"), ("unknown", "UnknownStrategy")]
)
def test_other_strategies_are_refused_and_training_goes_on(cases, name, strategy):
    words = f"training under {strategy} is not captured; MirroredStrategy, MultiWorkerMirroredStrategy and OneDevice"
    assert cases[name]["said"].count(words) == 1
    assert Recording(cases[name]["messages"][0]).tables == {}
    watched, plain = cases[name]["result"]
    assert len(watched) == len(plain)
    for one, other in zip(watched, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_mistake_of_the_hook_in_one_replica_harms_no_training(cases):
    watched, plain = cases["broken_in_one_replica"]["result"]
    for one, other in zip(watched, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "a mistake in the hook" in cases["broken_in_one_replica"]["said"]
