"""What a person asks for while a training runs: another cadence, other kinds, everything for some steps, an end."""

import threading
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch import TrainingStoppedError, interception
from tests.hook import training
from tests.hook.recording import Recording
from tests.hook.test_capture import FIRST, FITS, LOOPS, X, Y, adam, compiled
from tests.hook.training import LOSS
from tests.serving import PATIENCE_S, Server, wait_until

KINDS = ["gradient", "weight", "update"]
REASON = "loss is NaN since step 812"


@pytest.fixture
def watch(watch):
    """As ever, but for kinds whose graphs take long to trace."""

    def begin(*targets, capture=KINDS, **options):
        return watch(*targets, capture=capture, **options)

    return begin


class Loop:
    """A custom loop that goes on step by step, as long as a test wants it to."""

    def __init__(self, compiler=tf.function):
        self.model, self.optimizer = training.sequential(), adam()
        self.step = self._step if compiler is None else compiler(self._step)
        self.batch = tf.constant(X[: training.BATCH]), tf.constant(Y[: training.BATCH])

    def _step(self, x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, self.model(x, training=True))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    def train(self, n):
        for _ in range(n):
            self.step(*self.batch)

    def train_until(self, condition):
        """Trains on until something holds; then some steps more."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            self.train(1)
        self.train(20)


def ask(watched, **wishes):
    """What a person asks for, as it comes from the server: in another thread."""
    control = {"type": "control", "id": "x", **wishes}
    thread = threading.Thread(target=watched.collector.ask, args=(control,))
    thread.start()
    thread.join()


def captures(watched):
    return [message for message in list(watched.collector.messages) if message["type"] == "capture"]


def full_steps(recording, kind, tensor=FIRST):
    """The steps with full statistics of a kind."""
    steps = np.array(recording.steps())
    return set(steps[~np.isnan(recording.statistics(kind, tensor)[:, 1])].tolist())


def test_the_cadence_is_told_at_the_beginning(watch, read):
    loop = Loop()
    watched = watch(loop.model, every=4, capture=("gradient", "weight"))
    loop.train(3)
    read(watched)
    (told,) = captures(watched)
    assert told["step"] <= 3
    assert (told["period"], told["every"], told["kinds"]) == (4, 0, ["gradient", "weight"])


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_another_cadence(watch, read, compiler):
    loop = Loop(compiler)
    watched = watch(loop.model, every=1000)
    loop.train(5)
    ask(watched, every=3)
    loop.train_until(lambda: len(captures(watched)) == 2)
    recording = read(watched)
    told = captures(watched)[-1]
    assert (told["period"], told["every"], told["reason"]) == (3, 3, "control")
    found = full_steps(recording, "weight")
    after = range(told["step"] + 2, max(recording.steps()) + 1)
    assert {step for step in found if step in after} == {step for step in after if step % 3 == 0}
    assert {step for step in found if step < told["step"] - 1 and step % 3} == set()
    assert 0 in found


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_everything_for_some_steps_and_then_as_before(watch, read, compiler):
    loop = Loop(compiler)
    watched = watch(loop.model, every=1000)
    loop.train(5)
    ask(watched, kinds=["gradient"], everything_for=30)
    loop.train_until(lambda: len(captures(watched)) == 3)
    recording = read(watched)
    _, during, after = captures(watched)
    until = during["until_step"]
    assert during["kinds"] == KINDS
    assert (during["period"], after["period"], after["until_step"]) == (1, 1000, None)
    for kind in KINDS:
        assert set(range(until - 29, until)) <= full_steps(recording, kind), "one may have begun before"
    last = max(recording.steps())
    assert last > after["step"] + 2
    assert not full_steps(recording, "gradient") & set(range(after["step"] + 2, last + 1))
    assert after["kinds"] == ["gradient"], "what was chosen before holds again"


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_kinds_are_switched_off_and_on_again_in_a_graph_traced_long_ago(watch, read, compiler):
    loop = Loop(compiler)
    watched = watch(loop.model)
    seen = []
    for chosen in (["weight"], ["update"], KINDS):
        n = len(captures(watched))
        ask(watched, kinds=chosen)
        loop.train_until(lambda n=n: len(captures(watched)) > n)
        seen.append(captures(watched)[-1]["step"])
    recording = read(watched)
    assert [told["kinds"] for told in captures(watched)][-3:] == [["gradient", "weight"], ["gradient", "update"], KINDS]
    first, second, third = seen
    last = max(recording.steps()) + 1
    spans = [range(first + 2, second - 20), range(second + 2, third - 20), range(third + 2, last)]
    for kind, expected in (("gradient", (1, 1, 1)), ("weight", (1, 0, 1)), ("update", (0, 1, 1))):
        found = full_steps(recording, kind)
        for span, is_on in zip(spans, expected, strict=True):
            assert found & set(span) == (set(span) if is_on else set()), (kind, span)
    updates = recording.statistics("update", FIRST)[[recording.steps().index(step) for step in spans[2]]]
    weights = recording.statistics("weight", FIRST)[[recording.steps().index(step) for step in spans[2]]]
    assert (updates[:, 0] < weights[:, 0]).all(), "updates are differences again, not weights"


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_a_kind_switched_in_the_middle_of_a_step_harms_nothing(watch, read, compiler):
    """What was decided before the weights changed holds after it too."""
    loop = Loop(compiler)
    watched = watch(loop.model)
    loop.train(1)
    is_over = threading.Event()

    def switch():
        while not is_over.wait(0.0005):
            watched._cadence.set_kinds(["gradient"])
            watched._cadence.set_kinds(KINDS)

    thread = threading.Thread(target=switch)
    thread.start()
    try:
        loop.train(200 if compiler is None else 1000)
    finally:
        is_over.set()
        thread.join()
    recording = read(watched)
    updates, weights = (recording.statistics(kind, FIRST)[:, 0] for kind in ("update", "weight"))
    is_known = ~np.isnan(updates) & ~np.isnan(weights)
    assert is_known[0]
    assert (updates[is_known] < weights[is_known] / 2).all(), "never the weights themselves"


class StopAt(keras.callbacks.Callback):
    """A person who asks for the end once so many batches are done."""

    def __init__(self, watched, batch):
        super().__init__()
        self.watched, self.batch = watched, batch

    def on_train_batch_end(self, batch, logs=None):
        if self.batch is not None and batch >= self.batch:
            self.batch = None
            ask(self.watched, stop=REASON)


def assert_stopped(watched):
    assert watched.is_closed
    (state,) = [message for message in watched.collector.messages if message["type"] == "state"]
    assert (state["state"], state["error"]) == ("finished", f"Stopped by a person: {REASON}")
    assert watched.collector.messages[-1] is state
    assert state["last_step"] == max(Recording(watched.collector.messages).steps())


@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_fit_ends_at_the_next_step_boundary(watch, options):
    model = compiled(training.sequential(), adam(), **options)
    watched = watch(model)
    x, y = np.tile(X, (50, 1)), np.tile(Y, 50)
    history = model.fit(x, y, batch_size=16, epochs=100, verbose=0, callbacks=[StopAt(watched, 20)])
    assert len(history.epoch) == 1
    assert int(model.optimizer.iterations) <= 21 + options.get("steps_per_execution", 1)
    assert_stopped(watched)
    assert not interception.active_observers()
    # What is trained from here on is nobody's business any more.
    n_messages = len(watched.collector.messages)
    model.fit(X, Y, verbose=0)
    assert len(watched.collector.messages) == n_messages


def test_a_stop_between_two_fits_ends_the_next(watch):
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    model.fit(X, Y, verbose=0)
    ask(watched, stop=REASON)
    assert not watched.is_closed
    model.fit(X, Y, epochs=1_000_000, verbose=0)
    assert_stopped(watched)


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_a_custom_loop_ends_by_an_error_of_its_own_name(watch, compiler):
    loop = Loop(compiler)
    watched = watch(loop.model)
    loop.train(3)
    ask(watched, stop=REASON)
    with pytest.raises(TrainingStoppedError, match=REASON), watched:
        loop.train_until(lambda: False)
    assert_stopped(watched)


@pytest.mark.parametrize("compiler", [tf.function, None], ids=["tf.function", "eager loop"])
def test_a_loop_that_catches_the_error_has_ended_its_run(watch, compiler):
    """A notebook: the cell has failed, and the process lives on."""
    loop = Loop(compiler)
    watched = watch(loop.model)
    loop.train(1)  # traced: who is stopped while the first step is traced has taken none
    ask(watched, stop=REASON)
    with pytest.raises(TrainingStoppedError):
        loop.train_until(lambda: False)
    wait_until(lambda: watched.is_closed, PATIENCE_S)
    wait_until(lambda: watched.collector.is_closed, PATIENCE_S)
    assert_stopped(watched)


def test_who_trains_no_more_is_not_disturbed(watch):
    loop = Loop()
    watched = watch(loop.model)
    loop.train(3)
    wait_until(lambda: watched._reader.last_step == 2, PATIENCE_S)
    ask(watched, stop=REASON)
    looks = []
    watched._witness.look = lambda: looks.append(time.monotonic())
    wait_until(lambda: len(looks) > 5, PATIENCE_S)
    with pytest.raises(TrainingStoppedError):
        loop.train_until(lambda: False)


def test_a_control_that_makes_no_sense_is_said_and_nothing_else(watch, read, capsys):
    """Whatever raises in a control is told once by the sender; here its place is taken by the collector."""
    loop = Loop()
    watched = watch(loop.model)
    with pytest.raises(gradwatch.ProtocolError, match="control: expected every"):
        watched.collector.ask({"type": "control", "id": "x", "every": "often"})
    loop.train(3)
    assert len(read(watched).steps()) == 3


def test_from_the_server_to_the_training_and_back(tmp_path):
    """The whole way: REST, the hook's socket, the training, and the answer in REST again."""
    model = compiled(training.sequential(), adam())
    with Server(tmp_path / "server") as server:
        watch = gradwatch.watch(model, url=server.url, capture=KINDS, budget=0, every=1000)
        path = f"/api/runs/{watch.run_id}"
        took_s = []

        def post(**wishes):
            answer = wait_until(
                lambda: (a := server.request("POST", f"{path}/controls", json=wishes)).status_code == 202 and a,
                PATIENCE_S,
            )
            took_s.append(-time.monotonic())
            return answer.json()

        def person():
            assert post(everything_for=20, kinds=["gradient", "activation"])["not_captured"] == ["activation"]
            wait_until(lambda: any(one["until_step"] for one in server.get(f"{path}/capture")["capture"]), PATIENCE_S)
            took_s[-1] += time.monotonic()
            post(stop=REASON)

        thread = threading.Thread(target=person)

        class Begin(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if epoch == 1:
                    thread.start()

        model.fit(X, Y, batch_size=16, epochs=1_000_000, verbose=0, callbacks=[Begin()])
        thread.join()
        assert watch.is_closed
        run = wait_until(lambda: (r := server.get(path))["state"] == "finished" and r, PATIENCE_S)
        assert run["error"] == f"Stopped by a person: {REASON}"
        reasons = [one["reason"] for one in server.get(f"{path}/capture")["capture"]]
        assert reasons[:2] == ["budget", "control"]
        assert run["last_step"] < 3_999_999
