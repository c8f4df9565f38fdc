"""Steps that the host tells whether full statistics are due in them, as it does where there is a GPU."""

import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import cadence, shared
from gradwatch.call import find_called
from gradwatch.tap import enclosing_graphs
from tests.hook.test_replay import origins_of
from tests.hook.training import LOSS, batches, data, dense, sequential
from tests.numerics.reference import NAMES

MIN = NAMES.index("min")


def pretend(monkeypatch, is_there):
    """As if there were a GPU, or none, for what asks for the sake of the cadence."""
    for module in (cadence, shared):
        monkeypatch.setattr(module, "has_gpu", lambda: is_there)


@pytest.fixture(autouse=True)
def _told(monkeypatch):
    pretend(monkeypatch, True)


def full_steps(recording, kind="gradient", stream=None):
    """The steps with full statistics of every tensor of a kind; of each step all have them or none has."""
    rows = [recording.statistics(kind, tensor, stream)[:, MIN] for tensor in recording.tensors(kind, stream)]
    known = ~np.isnan(np.stack(rows))
    assert (known == known[0]).all()
    return [step for step, is_full in zip(recording.steps(stream), known[0], strict=True) if is_full]


def make_step(model, optimizer, **options):
    @tf.function(**options)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return step


def fit(model, **options):
    model.compile(keras.optimizers.Adam(1e-2), LOSS, **options)
    model.fit(*data(), batch_size=16, epochs=3, shuffle=False, verbose=0)


def loop(model, **options):
    step = make_step(model, keras.optimizers.Adam(1e-2), **options)
    for x, y in batches(*data(), epochs=3):
        step(x, y)


@pytest.mark.parametrize(
    ("train", "options"),
    [
        pytest.param(fit, {"jit_compile": False}, id="fit-graph"),
        pytest.param(fit, {"jit_compile": True}, id="fit-jit"),
        pytest.param(loop, {"jit_compile": False}, id="loop-graph"),
        pytest.param(loop, {"jit_compile": True}, id="loop-jit", marks=pytest.mark.thorough),
    ],
)
def test_rows_are_those_of_a_step_that_finds_out_by_itself(watch, read, monkeypatch, train, options):
    found = []
    for is_told in (True, False):
        pretend(monkeypatch, is_told)
        model = sequential()
        begun = watch(model, every=5)
        train(model, **options)
        found.append(read(begun))
    told, alone = found
    assert told.steps() == alone.steps() == list(range(12))
    (tables, others) = (one.tables[one.stream]["tensors"] for one in found)
    assert [(one["kind"], one["tensor"]) for one in tables] == [(one["kind"], one["tensor"]) for one in others]
    for one in tables:
        key = one["kind"], one["tensor"]
        np.testing.assert_allclose(told.statistics(*key), alone.statistics(*key), 1e-5, 1e-7, err_msg=str(key))
    for kind in ("gradient", "weight", "update", "activation", "backprop", "input"):
        assert full_steps(told, kind) == [0, 5, 10], kind


COMPILED = """
import keras, numpy as np, gradwatch
from gradwatch import cadence, shared

cadence.has_gpu = shared.has_gpu = lambda: {is_told}
layers = [keras.layers.Dense(256) for _ in range(4)]
model = keras.Sequential([keras.Input((5,)), *layers, keras.layers.Dense(3)])
model.compile("adam", "mse", jit_compile=True)
with gradwatch.watch(model, url="http://127.0.0.1:9", every=100, budget=0):
    model.fit(np.zeros((4096, 5)), np.zeros((4096, 3)), batch_size=1024, verbose=0)
"""


@pytest.mark.parametrize(
    ("is_told", "expected"),
    [(True, [(0, 1), (3, 0)]), pytest.param(False, [(3, 1)], marks=pytest.mark.thorough)],
)
def test_where_nothing_is_due_xla_comes_to_no_condition(tmp_path, is_told, expected):
    """But to a loop that only a bad step enters; one that finds out by itself comes to one for each group of layers."""
    flags = f"--xla_dump_to={tmp_path / 'programs'} --xla_dump_hlo_as_text"
    environment = os.environ | {"XLA_FLAGS": flags, "GRADWATCH_DIR": str(tmp_path / "gradwatch")}
    subprocess.run([sys.executable, "-c", COMPILED.format(is_told=is_told)], env=environment, check=True)
    programs = [path.read_text() for path in (tmp_path / "programs").glob("*after_optimizations.txt")]
    entries = [program[program.index("\nENTRY ") :] for program in programs]
    entries = [entry for entry in entries if "gradwatch" in entry]
    found = sorted((entry.count(" conditional("), entry.count(" while(")) for entry in entries)
    assert found == expected


def test_a_period_that_is_set_meanwhile(watch, read):
    x, y = batches(*data())[0]
    model = sequential()
    step = make_step(model, keras.optimizers.SGD(1e-2))
    begun = watch(model, every=4)
    for i in range(16):
        if i == 6:
            begun._cadence.set_period(2)
        if i == 10:
            begun._cadence.set_kinds(["gradient", "weight"])
        step(x, y)
    recording = read(begun)
    assert full_steps(recording) == [0, 4, 6, 8, 10, 12, 14]
    assert full_steps(recording, "weight") == [0, 4, 6, 8, 10, 12, 14]
    assert full_steps(recording, "activation") == [0, 4, 6, 8]


def test_each_function_counts_its_own_calls(watch, read):
    """Else every second step of two that take turns would never be due."""
    x, y = batches(*data())[0]
    models = [sequential(), keras.Sequential([keras.Input((5,)), dense(3, "only")])]
    steps = [make_step(model, keras.optimizers.SGD(1e-2)) for model in models]
    begun = watch(*models, every=2)
    for _ in range(6):
        for step in steps:
            step(x, y)
    recording = read(begun)
    assert [full_steps(recording, stream=stream) for stream in (0, 1)] == [[0, 2, 4], [0, 2, 4]]


def test_micro_steps(watch, read):
    """Weights change at the last of three: what was due at any of them is taken there."""
    model = sequential()
    model.compile(keras.optimizers.SGD(1e-2, gradient_accumulation_steps=3, clipvalue=1e-3), LOSS)
    begun = watch(model, every=4)
    model.fit(*data(), batch_size=16, epochs=3, verbose=0)
    recording = read(begun)
    assert full_steps(recording) == [0, 4, 8]
    assert full_steps(recording, "weight") == [2, 5, 8]
    assert list(recording.scalar("clipped_share")) == [2, 5, 8]


def test_the_steps_of_a_loop_are_one_call(watch, read):
    """There the graph finds out by itself."""
    model = sequential()
    model.compile(keras.optimizers.SGD(1e-2), LOSS, steps_per_execution=4, jit_compile=False)
    begun = watch(model, every=3)
    model.fit(*data(), batch_size=16, epochs=3, verbose=0)
    assert full_steps(read(begun)) == [0, 3, 6, 9]


def test_a_function_that_is_called_in_a_branch_of_another(watch, read):
    """Traced by itself, and then within: TensorFlow can tell a branch nothing late, the function around it can."""
    x, y = map(tf.constant, batches(*data())[0])
    model = sequential()
    inner = make_step(model, keras.optimizers.SGD(1e-2))

    @tf.function
    def outer(is_wanted, x, y):
        return tf.cond(is_wanted, lambda: inner(x, y), lambda: tf.constant(0.0))

    begun = watch(model, every=4)
    for _ in range(4):
        inner(x, y)
    for i in range(8):
        outer(tf.constant(i % 2 == 0), x, y)
    recording = read(begun)
    assert recording.steps() == list(range(8))
    assert full_steps(recording) == [0, 4, 6]  # of the calls around it, which count on, the first, fifth and so on


def test_a_function_within_another_and_a_branch_within_a_function(watch, read):
    x, y = map(tf.constant, batches(*data())[0])
    model, optimizer = sequential(), keras.optimizers.SGD(1e-2)
    forward = tf.function(lambda x: tf.cond(tf.size(x) > 0, lambda: model(x, training=True), lambda: tf.zeros([16, 3])))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, forward(x))
        variables = model.trainable_variables
        gradients = tape.gradient(loss, variables)
        if tf.math.is_finite(loss):
            optimizer.apply(gradients, variables)
        return loss

    begun = watch(model, every=3, capture=("gradient", "weight", "update", "input"))
    for _ in range(7):
        step(x, y)
    assert full_steps(read(begun)) == [0, 3, 6]


def test_shapes_that_are_traced_one_by_one(watch, read):
    x, y = data()
    model = sequential()
    step = make_step(model, keras.optimizers.SGD(1e-2))
    begun = watch(model, every=3)
    for i in range(12):
        n = 16 if i % 2 else 8
        step(x[:n], y[:n])
    assert full_steps(read(begun)) == [0, 1, 6, 7]


class Sick(keras.layers.Layer):
    """Takes the logarithm of 0 in the eighth step."""

    def build(self, shape):
        self.calls = self.add_weight(shape=(), name="calls", trainable=False, initializer="zeros")

    def call(self, x):
        self.calls.assign_add(1.0)
        return tf.math.log(tf.abs(x) + 1 - 99 * tf.cast(self.calls >= 8, x.dtype))


@pytest.mark.parametrize("options", [{"jit_compile": False}, {"jit_compile": True}], ids=["graph", "jit"])
def test_a_bad_step_in_which_nothing_is_due(watch, read, options):
    x, y = batches(*data())[0]
    model = keras.Sequential([keras.Input((5,)), dense(4, "first"), Sick(name="sick"), dense(3, "out")])
    step = make_step(model, keras.optimizers.SGD(1e-2), **options)
    begun = watch(model, every=100)
    for _ in range(9):
        step(x, y)
    recording = read(begun)
    n_nan = recording.statistics("gradient", recording.tensors()[0])[:, NAMES.index("n_nan")]
    assert n_nan.tolist() == [0] * 7 + [20, 20]
    assert [(one["step"], one["operation"]["type"]) for one in origins_of(begun)][:1] == [(7, "Log")]


def test_eagerly_all_parts_of_a_step_go_by_its_number(watch, read):
    x, y = map(tf.constant, batches(*data())[0])
    model, optimizer = sequential(), keras.optimizers.SGD(1e-2)
    begun = watch(model, every=3)
    for _ in range(7):
        make_step(model, optimizer).python_function(x, y)
    recording = read(begun)
    assert full_steps(recording) == full_steps(recording, "input") == [0, 3, 6]


def test_a_graph_without_a_function_is_told_nothing():
    with tf.Graph().as_default():
        assert find_called(enclosing_graphs()) is None
