"""Life around a watched training: what is saved and copied, traced again, interrupted, watched again, left behind."""

import copy
import gc
import json
import pickle
import re
import signal
import threading
import time
import zipfile

import h5py
import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import interception
from gradwatch.errors import ConfigurationError
from gradwatch.patch import MethodPatch
from gradwatch.witness import INTERVAL_S, UNSEEN_MAX, Trained, Witness
from tests.hook import training
from tests.hook.recording import Recording
from tests.hook.test_capture import X, Y, adam, compiled, fit
from tests.hook.training import LOSS, assert_recorded, batches, reference_loop


def wait_until(condition, timeout_s=60.0):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def said(capsys):
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("gradwatch: ")]


# What is saved, cloned, copied and pickled


def contents(path):
    """What a file or folder holds that Keras or TensorFlow saved: names and texts as they are, numbers as arrays."""
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
        weights = path.with_suffix(".in.h5")
        weights.write_bytes(found.pop("model.weights.h5"))
        found["config.json"] = re.sub(rb'"shared_object_id": \d+', b"", found["config.json"])  # where it was in memory
        found["metadata.json"] = json.loads(found["metadata.json"]) | {"date_saved": None}
        return found | contents(weights)
    if path.suffix == ".h5":
        found = {}
        with h5py.File(path) as file:
            file.visititems(lambda name, item: found.update({name: item[()] if hasattr(item, "shape") else None}))
        return found
    if (path / "saved_model.pb").exists():
        loaded = tf.saved_model.load(path)
        graph = loaded.signatures["serving_default"].graph.as_graph_def()
        found = {f"node {node.name}": node.op for node in graph.node}
        found |= {f"function {one.signature.name.rsplit('_', 1)[0]}": None for one in graph.library.function}
        variables = contents(path / "variables" / "variables").values()  # numbered in no order of their own
        return found | {f"variable {one.shape}": one for one in sorted(variables, key=lambda one: str(one.shape))}
    reader = tf.train.load_checkpoint(str(path))
    names = [name for name in reader.get_variable_to_shape_map() if name != "_CHECKPOINTABLE_OBJECT_GRAPH"]
    assert b"gradwatch" not in reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    return {name: reader.get_tensor(name) for name in names}


def assert_same_contents(found, expected):
    assert list(found) == list(expected)
    for name, value in expected.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-7, err_msg=name)
        else:
            np.testing.assert_equal(found[name], value, err_msg=name)


def save_checkpoint(model, path):
    return tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(str(path))


SAVES = {
    "model.keras": lambda model, path: model.save(path),
    "model.h5": lambda model, path: model.save_weights(path.with_suffix(".weights.h5")),
    "export": lambda model, path: model.export(path, verbose=False),
    "checkpoint": save_checkpoint,
}


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_every_file_is_what_it_is_without_the_hook(watch, tmp_path):
    """Saved in the middle of watched training; then loaded, and trained on, by itself."""
    made = []
    for is_watched in (False, True):
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        model = compiled(training.functional(), keras.optimizers.Adam(0.01, name="adam"))
        watched = watch(model) if is_watched else None
        fit(model)
        folder = tmp_path / str(is_watched)
        folder.mkdir()
        for name, save in SAVES.items():
            save(model, folder / name)
        files = [folder / "model.keras", folder / "model.weights.h5", folder / "export", folder / "checkpoint"]
        made.append({path.name: contents(path) for path in files})
    for name in made[0]:
        assert_same_contents(made[1][name], made[0][name])
    for path in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert b"gradwatch" not in path.read_bytes(), path
    loaded = keras.models.load_model(tmp_path / "True" / "model.keras")
    model.load_weights(tmp_path / "True" / "model.weights.h5")
    fit(loaded, epochs=1)
    fit(model, epochs=1)
    watched.close()
    assert Recording(watched.collector.messages).steps() == list(range(12)), "the loaded model's steps are not ours"


COPIES = {
    "clone_model": keras.models.clone_model,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),  # noqa: S301 it is our own
}


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES)
def test_a_copy_is_no_part_of_the_run(watch, read, make_copy):
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    fit(model, epochs=1)
    copied = make_copy(model)
    assert not any("gradwatch" in name for name in (*vars(copied), *vars(copied.optimizer or object)))
    assert [layer.name for layer in copied.layers] == [layer.name for layer in model.layers]
    if make_copy is not keras.models.clone_model:  # which begins with weights of its own
        assert all(np.array_equal(a, b) for a, b in zip(copied.get_weights(), model.get_weights(), strict=True))
    if make_copy is not copy.copy:  # which shares its layers, and so trains what is watched
        copied.compile("sgd", LOSS)
        fit(copied, epochs=1)
    assert b"gradwatch" not in pickle.dumps(model)
    assert b"gradwatch" not in pickle.dumps(model.optimizer.get_config())
    fit(model, epochs=1)
    assert read(watched).steps() == list(range(8))


class Interrupt(keras.callbacks.Callback):
    """A Ctrl+C, or an error, after so many batches."""

    def __init__(self, after, error=None):
        super().__init__()
        self.n_left, self.error = after, error

    def on_train_batch_end(self, batch, logs=None):
        self.n_left -= 1
        if self.n_left == 0 and self.error is not None:
            raise self.error
        if self.n_left == 0:
            signal.raise_signal(signal.SIGINT)


def train_with_checkpoints(model, folder):
    """Three epochs, of which the second breaks off and is done again, from the backup."""

    def callbacks():
        checkpoint = keras.callbacks.ModelCheckpoint(folder / "{epoch}.keras", monitor="loss")
        return [checkpoint, keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)]

    options = {"batch_size": training.BATCH, "epochs": 3, "shuffle": False, "verbose": 0}
    with pytest.raises(RuntimeError, match="preempted"):
        model.fit(X, Y, callbacks=[*callbacks(), Interrupt(6, RuntimeError("preempted"))], **options)
    history = model.fit(X, Y, callbacks=callbacks(), **options)
    assert history.epoch == [1, 2]


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras' own, as it saves
def test_checkpoints_and_a_restored_backup_are_those_of_a_training_without_the_hook(watch, read, tmp_path):
    made = []
    for is_watched in (False, True):
        keras.backend.clear_session()
        model = compiled(training.sequential(), keras.optimizers.Adam(0.01, name="adam"))
        watched = watch(model) if is_watched else None
        folder = tmp_path / str(is_watched)
        train_with_checkpoints(model, folder)
        paths = sorted(path for path in folder.rglob("*") if path.suffix in (".keras", ".h5"))
        made.append({str(path.relative_to(folder)): contents(path) for path in paths})
    assert {"1.keras", "2.keras", "3.keras"} < set(made[0])
    assert any("backup" in name for name in made[0])
    for name in made[0]:
        assert_same_contents(made[1][name], made[0][name])
    assert read(watched).steps() == list(range(6 + 8)), "one run, and what was done again is counted again"


# Traced again


def lengths():
    x = keras.Input((None, training.WIDTH))
    hidden = training.dense(8, "first", "tanh")(x)
    pooled = keras.layers.GlobalAveragePooling1D(name="pool")(hidden)
    return keras.Model(x, training.dense(training.N_CLASSES, "last", seed=2)(pooled), name="lengths_model")


def test_new_shapes_are_traced_again_and_recorded_on(watch, read):
    random = np.random.default_rng(3)
    shapes = [(16, 4), (16, 4), (16, 7), (5, 7), (16, 4), (1, 2)]
    given = [(random.normal(size=(n, length, training.WIDTH)).astype(np.float32), Y[:n]) for n, length in shapes]
    seen = reference_loop(lengths(), adam(), given)
    model = compiled(lengths(), adam())
    watched = watch(model)
    for x, y in given:
        model.train_on_batch(x, y)
    assert_recorded(read(watched), seen)


def test_eagerly_and_in_a_graph_in_turn(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y, epochs=3))
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    for run_eagerly in (False, True, False):
        model.run_eagerly = run_eagerly
        model.train_function = None
        fit(model, epochs=1)
    assert_recorded(read(watched), seen)


# One run or several


def test_fit_again_goes_on_with_the_run_and_a_new_watch_begins_another(watch, collectors):
    model = compiled(training.sequential(), adam())
    first = watch(model)
    fit(model, epochs=1)
    fit(model, epochs=1)
    second = watch(model)
    assert (first.is_closed, second.is_closed) == (True, False)
    fit(model, epochs=1)
    second.close()
    with watch(model) as third:
        fit(model, epochs=1)
    fit(model, epochs=1)
    recordings = [Recording(collector.messages) for collector in collectors]
    assert [one.steps() for one in recordings] == [list(range(8)), list(range(4)), list(range(4))]
    assert [one.states[-1]["state"] for one in recordings] == ["finished"] * 3
    assert third.is_closed


def test_a_run_ends_with_its_models(watch):
    """Nobody can train them any more, and the run must not keep their memory."""
    first, second = compiled(training.sequential(), adam()), compiled(training.functional(), adam())
    watched = watch(first, second)
    fit(first)
    del first
    gc.collect()
    fit(second, epochs=1)
    assert not watched.is_closed
    del second
    gc.collect()
    wait_until(lambda: watched.collector.is_closed)
    recording = Recording(watched.collector.messages)
    assert sorted(map(len, (recording.steps(stream) for stream in recording.tables))) == [4, 8]
    assert recording.states[-1]["state"] == "finished"
    assert not interception.active_observers()


def classes():
    """Every class of Keras and TensorFlow in this process, with all that stands in its body."""
    found, pending = {}, [object]
    while pending:
        cls = pending.pop()
        if cls in found:
            continue
        found[cls] = dict(vars(cls))
        pending.extend(type.__subclasses__(cls))
    return {
        (cls, name): value
        for cls, body in found.items()
        if str(cls.__module__).partition(".")[0] in ("keras", "tensorflow", "tf_keras")
        for name, value in body.items()
    }


def test_a_watch_that_begins_while_another_ends_is_not_undone_with_it(watch, read, monkeypatch):
    is_ending, may_go_on = threading.Event(), threading.Event()
    restore = MethodPatch.restore

    def restore_slowly(patch):
        is_ending.set()
        may_go_on.wait(60)
        restore(patch)

    first, model, begun = watch(compiled(training.sequential(), adam())), compiled(training.sequential(), adam()), []
    monkeypatch.setattr(MethodPatch, "restore", restore_slowly)
    ending = threading.Thread(target=first.close)
    beginning = threading.Thread(target=lambda: begun.append(watch(model)))
    ending.start()
    assert is_ending.wait(60)
    beginning.start()
    beginning.join(0.5)  # it would be through by now
    may_go_on.set()
    for thread in (ending, beginning):
        thread.join(60)
    fit(model, epochs=1)
    assert read(begun[0]).steps() == [0, 1, 2, 3]


def test_close_restores_every_class_exactly(watch):
    model = compiled(training.sequential(), adam())
    fit(model, epochs=1)
    before = classes()
    watched = watch(model)
    changed = [(cls, name) for (cls, name), value in classes().items() if before.get((cls, name)) is not value]
    assert {"apply", "compute_loss"} <= {name for _, name in changed}
    assert all(callable(before[one]) for one in changed), "only methods, and none is new"
    watched.close()
    after = classes()
    assert after.keys() == before.keys()
    assert [one for one, value in after.items() if before[one] is not value] == []


# Interrupted


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eagerly"])
def test_an_interrupt_in_the_middle_of_fit_and_going_on(watch, read, run_eagerly):
    model = compiled(training.sequential(), adam(), run_eagerly=run_eagerly)
    watched = watch(model)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, batch_size=training.BATCH, epochs=2, verbose=0, callbacks=[Interrupt(3)])
    assert not watched.is_closed
    fit(model, epochs=1)
    recording = read(watched)
    n_steps = int(model.optimizer.iterations)
    assert recording.steps() == list(range(n_steps))
    assert recording.states == recording.states[-1:]
    assert recording.states[-1]["state"] == "finished"


def test_an_interrupt_within_a_step(watch, read, monkeypatch):
    """Between the ops before ``apply`` and those after it: that step has no row, the next ones have."""
    model = compiled(training.sequential(), adam(), run_eagerly=True)
    watched = watch(model)
    fit(model, epochs=1)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(keras.optimizers.Adam, "update_step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(model)
    fit(model, epochs=1)
    assert read(watched).steps() == [0, 1, 2, 3, 5, 6, 7, 8]


def test_an_interrupt_while_a_step_is_traced(watch, read, monkeypatch):
    model = compiled(training.sequential(), adam())
    watched = watch(model)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(keras.optimizers.Adam, "update_step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(model)
    compiled(model, adam())  # Keras keeps the function, and the optimizer, that it could not make
    fit(model)
    recording = read(watched)
    assert recording.steps(max(recording.tables)) == list(range(8))


# Not seen


def old_step(model, optimizer):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    return step


@pytest.mark.parametrize("target", ["model", "optimizer"])
def test_a_function_traced_before_is_told_while_it_trains(watch, read, capsys, target):
    model, optimizer = training.sequential(), adam()
    x, y = (tf.constant(part) for part in batches(X, Y)[0])
    step = old_step(model, optimizer)
    step(x, y)
    watched = watch(model if target == "model" else optimizer)
    lines = []

    def is_told():
        step(x, y)
        lines.extend(line for line in said(capsys) if "its steps are not seen" in line)
        return lines

    wait_until(is_told)
    name = model.name if target == "model" else optimizer.name
    assert lines[0].startswith(
        f"gradwatch: {name} is trained, and its steps are not seen. A tf.function that was traced"
    )
    assert "`step = tf.function(step.python_function)`" in lines[0]
    again = tf.function(step.python_function)
    for _ in range(3):
        again(x, y)
    assert read(watched).steps() == [0, 1, 2]
    assert not [line for line in said(capsys) if "not seen" in line], "said once"


def test_witness():
    now, found, lines = [0.0], [], []
    witness = Witness(lambda: found, lines.append, clock=lambda: now[0])

    def look(mark, n_rows):
        now[0] += INTERVAL_S
        found[:] = [Trained("key", "it", mark, n_rows)]
        witness.look()

    look(None, 0)  # not built yet
    for mark in range(10):
        look(mark, mark)  # seen
    for mark in range(10, 10 + UNSEEN_MAX - 1):
        look(mark, 9)  # loaded, or exchanged for averages and back
    look(20, 10)
    for _ in range(10):
        look(21, 11)  # nothing moves
    assert lines == []
    for mark in range(30, 40):
        look(mark, 11)
    look(40, 12)  # a step that is seen, among others
    for mark in range(50, 60):
        look(mark, 12)
    assert len(lines) == 1
    found[:] = []
    witness.look()  # at once again: it does not look
    assert lines[0].startswith("it is trained, and its steps are not seen")


# Threads


def test_training_in_another_thread(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    thread = threading.Thread(target=fit, args=(model,))
    thread.start()
    thread.join()
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eagerly"])
def test_two_models_trained_at_once_keep_their_losses(watch, read, run_eagerly):
    models = [
        compiled(build(), adam(), run_eagerly=run_eagerly) for build in (training.sequential, training.functional)
    ]
    seen = [reference_loop(build(), adam(), batches(X, Y)) for build in (training.sequential, training.functional)]
    watches = [watch(model) for model in models]
    threads = [threading.Thread(target=fit, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for watched, expected in zip(watches, seen, strict=True):
        recording = read(watched)
        assert_recorded(recording, expected)
        np.testing.assert_allclose(list(recording.scalar("loss").values()), expected["loss"], rtol=1e-3)


# What is logged


def test_a_logged_variable_is_taken_as_it_is_now(watch, read):
    model = training.sequential()  # a watch ends with its model
    watched = watch(model)
    values = [tf.Variable(1.0), keras.Variable(1.0), np.ones(3)]
    watched.log(a=values[0], b=values[1], c=values[2])
    for value in values[:2]:
        value.assign(2.0)
    values[2][:] = 2.0
    assert {name: logged[0] for name, logged in read(watched).logged.items()} == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_a_tensor_that_left_its_function_is_a_mistake_told_at_once(watch, read):
    model = training.sequential()  # a watch ends with its model
    watched, kept = watch(model), []

    @tf.function
    def leak(x):
        kept.append(tf.identity(x))
        return x

    leak(tf.constant(1.0))
    with pytest.raises(
        ConfigurationError, match=r"log\(loss=...\): found 'Identity:0, a tensor of a function being tr"
    ):
        watched.log(loss=kept[0])
    watched.log(loss=2.0)
    assert list(read(watched).logged["loss"].values()) == [2.0]


def test_logging_while_something_is_traced(watch, read):
    """The number is Python's, so it belongs to the trace; what is kept for the reader is never a symbol of it."""
    model, optimizer = training.sequential(), adam()
    optimizer.build(model.trainable_variables)  # so that one trace is enough
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.init_scope():
            watched.log(traces=1.0)
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for x, y in batches(X, Y, epochs=1):
        step(tf.constant(x), tf.constant(y))
    recording = read(watched)
    assert recording.steps() == [0, 1, 2, 3]
    assert set(recording.logged["traces"].values()) == {1.0}


def test_an_optimizer_for_every_step_is_not_followed_for_ever(watch, read, capsys):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    watched = watch(model)
    for _ in range(20):
        optimizer = keras.optimizers.SGD(0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(tf.ones([8, 4])) - 1.0))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
    assert len(read(watched).tables) == 12
    assert capsys.readouterr().err.count("expected one that is made once, before the loop") == 1
    assert int(optimizer.iterations) == 1
