"""What an eager step runs, heard operation by operation: the same is told of it as of a step that is a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from gradwatch import heard
from gradwatch.heard import HEARD_MAX, Pattern
from gradwatch.protocol import STATISTICS
from gradwatch.sketch import Place
from tests.hook.diagnosis import diagnose, known_in

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(320, 4)).astype(np.float32)
Y = np.square(X[:, :1]) + 0.1
MAX, MEAN, N_NAN = (STATISTICS.index(name) for name in ("max", "mean", "n_nan"))


def root_of_distance(y: Any, out: Any) -> Any:
    return tf.reduce_mean(tf.sqrt(tf.square(out - y) + 1e-3))


def log_likelihood(y: Any, out: Any) -> Any:
    return -tf.reduce_mean(y * tf.math.log(tf.nn.sigmoid(out) + 1e-6) + tf.sqrt(tf.abs(out - y)))


def network() -> Any:
    return keras.Sequential(
        [
            keras.layers.Dense(8, "relu"),
            keras.layers.BatchNormalization(name="normal"),
            keras.layers.Dropout(0.1, seed=1),
            keras.layers.Dense(1),
        ],
        name="network",
    )


def train(
    watch: Any,
    loss_of: Callable[[Any, Any], Any],
    wrap: Callable[[Any], Any] = lambda step: step,
    *,
    n_rows: int = 32,
    n_steps: int = 9,
    is_built: bool = True,
    targets: Any = Y,
    convert: Callable[[Any], Any] = tf.constant,
) -> Any:
    keras.utils.set_random_seed(0)
    model, optimizer = network(), keras.optimizers.SGD(0.01)
    if is_built:
        model(X[:1])
        optimizer.build(model.trainable_variables)
    begun = watch(model, every=1, budget=0)

    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step = wrap(step)
    for i in range(n_steps):
        rows = np.arange(n_rows * i, n_rows * i + n_rows) % len(X)
        step(convert(X[rows]), convert(targets[rows]))
    return begun


def blocks(recording: Any, name: str) -> Any:
    """A field of all rows of the only stream, in the order of the steps."""
    (messages,) = recording.rows.values()
    return np.concatenate([message[name] for message in messages])


def known_operations(table: Any) -> list[Any]:
    return [(one["type"], one["is_gradient"], one["layer"], one["source"]) for one in table["operations"]]


def column_of(table: Any, name: str) -> int:
    (place,) = [i for i, one in enumerate(table["tensors"]) if one["tensor"] == name]
    return place


@pytest.mark.parametrize("loss_of", [root_of_distance, log_likelihood])
def test_operations_and_targets_of_an_eager_step_are_those_of_a_graph(watch: Any, read: Any, loss_of: Any) -> None:
    eager, graph = read(train(watch, loss_of)), read(train(watch, loss_of, tf.function))
    (of_eager,), (of_graph,) = eager.tables.values(), graph.tables.values()
    assert len(of_graph["operations"]) > 2
    order = [known_operations(of_eager).index(one) for one in known_operations(of_graph)]
    assert sorted(order) == list(range(len(of_eager["operations"])))
    measured = blocks(eager, "operations")[:, order]
    assert np.isnan(measured[0]).all(), "the first step is heard, and tells where to look"
    np.testing.assert_allclose(measured[1:], blocks(graph, "operations")[1:], rtol=2e-4, atol=1e-5)

    target = blocks(eager, "statistics")[:, column_of(of_eager, "target")]
    rows = np.stack([Y[32 * i : 32 * i + 32].astype(np.float64) for i in range(9)])
    np.testing.assert_allclose(target[:, MAX], rows.max((1, 2)), rtol=1e-6)
    np.testing.assert_allclose(target[:, MEAN], rows.mean((1, 2)), rtol=1e-6)
    assert of_eager["scalars"] == of_graph["scalars"]
    place = of_eager["scalars"].index("target_correlation")
    held = [blocks(one, "scalars")[:, place] for one in (eager, graph)]
    np.testing.assert_allclose(held[0], held[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n_rows", [8, 20])
def test_a_small_batch_and_one_of_numpy_and_a_model_that_is_not_made_yet(watch: Any, read: Any, n_rows: int) -> None:
    begun = train(watch, root_of_distance, n_rows=n_rows, is_built=False, convert=np.array)
    recording = read(begun)
    (table,) = recording.tables.values()
    names = [one["tensor"] for one in table["tensors"] if one["kind"] == "input"]
    assert names == ["input", "target"]
    assert not np.isnan(blocks(recording, "statistics")[:, column_of(table, "target"), MEAN]).any()
    assert not np.isnan(blocks(recording, "operations")[1:, :, 0]).any()


def test_fit_that_runs_eagerly_tells_its_operations(watch: Any, read: Any) -> None:
    model = network()
    model.compile("sgd", root_of_distance, run_eagerly=True, metrics=["mae"])
    begun = watch(model, every=1, budget=0)
    model.fit(X, Y, batch_size=32, epochs=2, verbose=0, validation_data=(X[:64], Y[:64]))
    recording = read(begun)
    (table,) = recording.tables.values()
    assert [one["source"]["code"] for one in table["operations"] if one["type"] == "Sqrt"] == [
        "return tf.reduce_mean(tf.sqrt(tf.square(out - y) + 1e-3))"
    ]
    assert not np.isnan(blocks(recording, "operations")[1:, :, 0]).any()


@pytest.mark.parametrize("is_at_once", [True, False])
def test_two_that_take_turns_are_both_heard(watch: Any, read: Any, is_at_once: bool) -> None:
    maker, judge = (keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(n)]) for n in (4, 1))
    optimizers = [keras.optimizers.SGD(0.01), keras.optimizers.SGD(0.01)]
    begun = watch(maker, judge, every=1, budget=0)

    def apply(tape: Any, loss: Any, place: int) -> None:
        variables = (maker, judge)[place].trainable_variables
        optimizers[place].apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    def losses() -> Any:
        real, made = judge(tf.constant(X[:32])), judge(maker(tf.random.normal((32, 6))))
        of_judge = tf.reduce_mean(tf.math.log(1 + tf.exp(-real)) + tf.math.log(1 + tf.exp(made)))
        return tf.reduce_mean(tf.math.log(1 + tf.exp(-made))), of_judge

    for _ in range(7):
        if is_at_once:
            with tf.GradientTape() as first, tf.GradientTape() as second:
                of_maker, of_judge = losses()
            apply(first, of_judge, 1)
            apply(second, of_maker, 0)
            continue
        for _ in range(2):
            with tf.GradientTape() as tape:
                _, of_judge = losses()
            apply(tape, of_judge, 1)
        with tf.GradientTape() as tape:
            of_maker, _ = losses()
        apply(tape, of_maker, 0)
    recording = read(begun)
    assert [len(table["operations"]) > 2 for table in recording.tables.values()] == [True, True]
    for messages in recording.rows.values():
        measured = np.concatenate([message["operations"] for message in messages])
        assert not np.isnan(measured[2:, :, 0]).any()


def test_of_a_step_that_runs_something_else_nothing_is_picked(watch: Any, read: Any) -> None:
    step = iter(range(100))

    def loss_of(y: Any, out: Any) -> Any:
        return root_of_distance(y, tf.identity(out) if next(step) % 3 == 2 else out)

    recording = read(train(watch, loss_of))
    is_known = ~np.isnan(blocks(recording, "operations")[:, :, 0]).all(1)
    assert is_known.tolist() == [i > 0 and i % 3 != 2 for i in range(9)]
    (table,) = recording.tables.values()
    assert (np.isnan(blocks(recording, "statistics")[1:, column_of(table, "target"), MEAN]) == ~is_known[1:]).all()


def test_where_nothing_is_due_nothing_is_heard(watch: Any) -> None:
    listening = []

    def loss_of(y: Any, out: Any) -> Any:
        listening.append(len(context.context().op_callbacks))
        return root_of_distance(y, out)

    train(lambda model, **_: watch(model, every=4, budget=0), loss_of)
    assert listening == [1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_targets_with_nan_are_told_of_an_eager_loop(watch: Any, read: Any) -> None:
    targets = Y.copy()
    targets[200:210] = np.nan
    found = diagnose(read(train(watch, root_of_distance, targets=targets))).findings()
    assert (found[0].kind, found[0].tensor, found[0].first_step) == ("nonfinite_input", "target", 6)


@pytest.mark.parametrize("broken", ["Whole.add", "Whole.draw", "Ear.pick"])
def test_what_fails_in_hearing_does_the_training_no_harm(
    watch: Any, read: Any, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("broken on purpose")

    monkeypatch.setattr(f"gradwatch.heard.{broken}", fail)
    recording = read(train(watch, root_of_distance))
    assert len(recording.steps()) == 9
    (table,) = recording.tables.values()
    assert not np.isnan(blocks(recording, "statistics")[:, column_of(table, "input"), MEAN]).any()


def test_whole_steps_are_heard_a_few_times_at_most(watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    n_whole = []
    monkeypatch.setattr(heard, "Whole", lambda ran, made=heard.Whole: n_whole.append(1) or made(ran))
    spare = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    train(lambda model, **options: watch(model, spare, **options), root_of_distance, n_steps=HEARD_MAX + 3)
    assert len(n_whole) == HEARD_MAX


def test_a_pattern_knows_which_operations_it_wants() -> None:
    ran = [("Neg", number - 1) for number in range(6)]
    pattern = Pattern(ran, [3, None], {"target": Place(1, is_output=False, position=0)}, {}, {})
    assert pattern.numbers == {1, 3}
    assert pattern.narrow(lambda kind: kind == "operation")[:3] == (ran[:4], [3, None], {})
    assert pattern.narrow(lambda kind: kind == "input")[:3] == (ran[:2], [None, None], pattern.targets)
    assert pattern.narrow(lambda kind: kind == "activation").numbers == set()


class Loop:
    """A loop that is written step by step, so that something can be done between two of them."""

    def __init__(self, watch: Any) -> None:
        keras.utils.set_random_seed(0)
        self.model, self.optimizer = network(), keras.optimizers.SGD(0.0)
        self.model(X[:1])
        self.begun = watch(self.model, every=1, budget=0)

    def run(self, i: int, *, factor: float = 1.0, is_applied: bool = True, loss_of: Any = root_of_distance) -> None:
        rows = slice(32 * i, 32 * i + 32)
        with tf.GradientTape() as tape:
            loss = loss_of(tf.constant(factor * Y[rows]), self.model(tf.constant(X[rows]), training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        if is_applied:
            self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))


def means_of_target(recording: Any) -> Any:
    (table,) = recording.tables.values()
    return blocks(recording, "statistics")[:, column_of(table, "target"), MEAN]


def test_what_was_not_applied_is_not_told_of_the_step_that_follows(watch: Any, read: Any) -> None:
    loop = Loop(watch)
    for i in range(6):
        loop.run(i)
        if i == 3:
            loop.run(i, factor=1e3, is_applied=False)
    expected = [Y[32 * i : 32 * i + 32].mean() for i in range(6)]
    expected[4] = np.nan
    np.testing.assert_allclose(means_of_target(read(loop.begun)), expected, rtol=1e-5)


def stray_tape(loop: Loop) -> None:
    x = tf.constant(X[:8])
    with tf.GradientTape() as tape:
        tape.watch(x)
        score = tf.reduce_sum(loop.model(x))
    tape.gradient(score, x)


def interrupted(_: Loop) -> None:
    def stop() -> None:
        with tf.GradientTape():
            tf.square(tf.constant(X))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()


def another_training(_: Loop) -> None:
    other, optimizer = tf.Variable(tf.ones([3])), keras.optimizers.SGD(0.1)
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(other))
        optimizer.apply([tape.gradient(loss, other)], [other])


@pytest.mark.parametrize("between", [stray_tape, interrupted, another_training])
def test_tapes_of_another_kind_before_and_between_steps(watch: Any, read: Any, between: Callable[[Loop], None]) -> None:
    loop = Loop(watch)
    for i in range(5):
        between(loop)
        loop.run(i)
    recording = read(loop.begun)
    np.testing.assert_allclose(
        means_of_target(recording), [Y[32 * i : 32 * i + 32].mean() for i in range(5)], rtol=1e-5
    )
    assert not np.isnan(blocks(recording, "operations")[1:, :, 0]).any()


def test_a_step_that_is_made_of_the_same_operations_in_another_way(watch: Any, read: Any) -> None:
    def other_way(y: Any, out: Any) -> Any:
        return tf.reduce_mean(tf.sqrt(tf.square(y - out) + 1e-3))

    loop = Loop(watch)
    for i in range(6):
        loop.run(i, loss_of=other_way if i % 2 else root_of_distance)
    is_known = ~np.isnan(blocks(read(loop.begun), "operations")[:, :, 0]).all(1)
    assert is_known.tolist() == [False, False, True, False, True, False]


def test_what_ends_a_gradient_is_drawn(watch: Any, read: Any) -> None:
    def straight(y: Any, out: Any) -> Any:
        passed = out + tf.stop_gradient(tf.round(out)) - out
        return tf.reduce_mean(tf.square(passed - y)) + 1e-3 * tf.reduce_mean(tf.square(out))

    for wrap in (lambda step: step, tf.function):
        assert known_in(read(train(watch, straight, wrap)), "cancels")


def test_what_picks_an_output_is_no_target_of_it(watch: Any, read: Any) -> None:
    def picked(y: Any, out: Any) -> Any:
        actions = tf.cast(y[:, 0] > 0.5, tf.int32).numpy()
        chosen = tf.reduce_sum(tf.concat([out, -out], 1) * tf.one_hot(actions, 2), axis=1)
        return tf.reduce_mean(tf.square(chosen - y[:, 0]))

    table = read(train(watch, picked)).tables[0]
    assert [tuple(one["shape"]) for one in table["tensors"] if one["tensor"].startswith("target")] == [(None, 1)]


def test_hearing_ends_where_nothing_is_ever_applied(watch: Any) -> None:
    model = network()
    model(X[:1])
    begun = watch(model, every=1, budget=0)
    listening = []
    for _ in range(4 * HEARD_MAX + 6):
        with tf.GradientTape() as tape:
            loss = root_of_distance(Y[:8], model(tf.constant(X[:8]), training=True))
            listening.append(len(context.context().op_callbacks))
        tape.gradient(loss, model.trainable_variables)
    assert listening[0] == 1
    assert listening[-4:] == [0] * 4
    begun.close()
