"""The step of an eager loop as a graph: the slips that are found in it, and that it does the training no harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.origin import GRADIENT_SCOPE, layer_of
from gradwatch.sketch import CONSTANT_MAX, OPERATIONS_MAX, Sketch
from tests.hook.diagnosis import diagnose

CAPTURE = ("gradient", "operation")
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(320, 4)).astype(np.float32)
Y = X @ np.array([1.0, -2.0, 0.5, 0.0], np.float32)
PIECES = ("broadcasts", "cuts", "reshapes", "slips", "loss_source")

Loss = Callable[[Any, Any, Any], Any]


def crossed(model: Any, x: Any, y: Any) -> Any:
    return tf.reduce_mean(tf.square(model(x, training=True) - y))


def rounded(model: Any, x: Any, y: Any) -> Any:
    return tf.reduce_mean(tf.square(tf.round(model(x, training=True)[:, 0]) - y) + 0.0 * tf.reduce_sum(model(x)))


def signed(model: Any, x: Any, y: Any) -> Any:
    return tf.reduce_mean(tf.square(tf.sign(model(x, training=True))[:, 0] - y))


def softened(model: Any, x: Any, y: Any) -> Any:
    scores = tf.nn.softmax(model(x, training=True))
    return tf.reduce_mean(tf.square(tf.reduce_sum(scores * model(x), axis=-1) - y))


def turned(model: Any, x: Any, y: Any) -> Any:
    places = tf.reshape(tf.tile(model(x, training=True), [1, 6]), [-1, 2, 3])
    return tf.reduce_mean(tf.square(tf.reduce_sum(tf.reshape(places, [-1, 3, 2])[:, 0], axis=-1) - y))


def penalised(model: Any, x: Any, y: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = model(x, training=True)
    slope = tape.gradient(out, x)
    norm = tf.sqrt(tf.reduce_sum(tf.square(slope)))
    return tf.reduce_mean(tf.square(out[:, 0] - y)) + tf.reduce_mean(tf.square(norm * out - 1.0))


def train(watch: Any, loss: Loss, wrap: Callable[[Any], Any], n_steps: int = 12) -> Any:
    keras.utils.set_random_seed(0)
    stack = [keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.1), keras.layers.Dense(1)]
    model = keras.Sequential(stack)
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    begun = watch(model)

    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            value = loss(model, x, y)
        gradients = tape.gradient(value, model.trainable_variables)
        pairs = zip(gradients, model.trainable_variables, strict=True)
        optimizer.apply_gradients([(gradient, one) for gradient, one in pairs if gradient is not None])

    step = wrap(step)
    for i in range(n_steps):
        rows = np.arange(32 * i, 32 * i + 32) % len(X)
        step(tf.constant(X[rows]), tf.constant(Y[rows]))
    return begun


def told(recording: Any) -> dict[str, Any]:
    """What the step's graph told, without names."""
    (table,) = recording.tables.values()
    found = {}
    for piece in PIECES[:-1]:
        entries = [{k: v for k, v in one.items() if k not in ("name", "layer")} for one in table[piece]]
        found[piece] = sorted(map(repr, entries))
    return found | {PIECES[-1]: table[PIECES[-1]]}


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.parametrize("loss", [crossed, rounded, signed, softened, turned, penalised])
def test_an_eager_step_tells_the_same_as_a_graph(watch: Any, read: Any, loss: Loss) -> None:
    eagerly = told(read(train(watch, loss, lambda step: step)))
    in_graph = told(read(train(watch, loss, tf.function)))
    assert eagerly == in_graph
    assert any(eagerly[piece] for piece in PIECES[:-1])
    assert eagerly["loss_source"]["file"] == __file__


def test_an_eager_loop_is_told_of_its_broadcast(watch: Any, read: Any) -> None:
    found = diagnose(read(train(watch, crossed, lambda step: step, n_steps=140))).findings()
    assert [one.source["code"] for one in found if one.source][:1] == [
        "return tf.reduce_mean(tf.square(model(x, training=True) - y))"
    ]


@pytest.mark.parametrize("n_steps", [1, 2])
def test_a_loop_that_ends_soon_has_its_table_too(watch: Any, read: Any, n_steps: int) -> None:
    recording = read(train(watch, crossed, lambda step: step, n_steps=n_steps))
    assert len(recording.tables) == 1
    assert list(recording.steps()) == list(range(n_steps))
    assert told(recording)["broadcasts"]


def test_without_operations_nothing_is_drawn(watch: Any, read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sketch, "draw", lambda *_: pytest.fail("drawn"))
    begun = train(lambda model: watch(model, capture=("gradient",)), crossed, lambda step: step)
    assert told(read(begun))["broadcasts"] == []


def test_what_cannot_be_drawn_does_the_training_no_harm(watch: Any, read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("drawn")

    monkeypatch.setattr(Sketch, "draw", fail)
    recording = read(train(watch, crossed, lambda step: step))
    assert len(recording.steps()) == 12
    assert told(recording)["broadcasts"] == []


def drawn(inputs: list[Any], op_type: str, attributes: list[Any], scope: str = "") -> tuple[Sketch, Any]:
    sketch, output = Sketch(), tf.zeros(32)
    sketch.n_rows = 8
    sketch.draw(op_type, inputs, attributes, [output], scope=scope, number=3)
    return sketch, sketch.find(output)


def test_small_tensors_from_outside_are_constants_and_large_ones_data() -> None:
    few, many = tf.range(float(CONSTANT_MAX)), tf.range(CONSTANT_MAX + 1.0)
    _, small = drawn([few, few], "AddV2", ["T", tf.float32])
    _, large = drawn([many, many], "AddV2", ["T", tf.float32])
    assert [one.op.type for one in (*small.op.inputs, *large.op.inputs)] == ["Const"] * 2 + ["Placeholder"] * 2
    assert large.shape.as_list() == [CONSTANT_MAX + 1]
    assert np.array_equal(tf.get_static_value(small.op.inputs[0]), few)


def test_where_tensors_are_to_be_found_in_the_step() -> None:
    few, batch = tf.constant([2.0]), tf.range(8.0)
    sketch, value = drawn([few, batch], "AddV2", ["T", tf.float32])
    constant, given = value.op.inputs
    assert (constant.op.type, given.op.type) == ("Const", "Placeholder"), "a row for each sample is data"
    assert sketch.find_place(given) == (3, False, 1)
    assert sketch.find_place(value) == (3, True, 0)
    assert sketch.find_eager(given) is batch
    assert sketch.find_eager(constant) is None
    with sketch.graph.as_default():
        assert sketch.find_place(tf.zeros(2)) is None


def test_a_variable_is_known_by_its_handle_and_a_scope_by_its_layer() -> None:
    variable = tf.Variable(tf.zeros(32))
    sketch, value = drawn([variable.handle], "ReadVariableOp", ["dtype", tf.float32], "model/dense")
    assert sketch.graph.captures[0][0] is variable.handle
    assert layer_of(value.op.name, ["model/dense"]) == "model/dense"
    assert value.op.name.startswith("model/dense/ReadVariableOp")
    _, value = drawn([tf.zeros(32)], "Neg", ["T", tf.float32], GRADIENT_SCOPE + "model/dense")
    assert layer_of(value.op.name, ["model/dense"]) == "model/dense"


def test_what_calls_a_graph_or_is_unknown_is_as_if_from_outside() -> None:
    for op_type in ("StatefulPartitionedCall", "NoSuchOperation"):
        _, value = drawn([tf.zeros(32)], op_type, ["f", "any"])
        assert value.op.type == "Placeholder"


def test_too_many_operations_are_not_drawn() -> None:
    sketch, one = Sketch(), tf.zeros(32)
    sketch._n_operations = OPERATIONS_MAX
    sketch.draw("Neg", [one], ["T", tf.float32], [tf.zeros(32)], scope="", number=0)
    assert not sketch.is_whole
    assert sketch.find("no tensor") is None
    assert not sketch.graph.get_operations()


def test_fit_that_runs_eagerly_tells_the_same_as_a_graph(watch: Any, read: Any) -> None:
    def loss(y: Any, out: Any) -> Any:
        return tf.reduce_mean(tf.square(out - y[:, 0]))

    tables = []
    for run_eagerly in (True, False):
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
        model.compile("sgd", loss, run_eagerly=run_eagerly)
        begun = watch(model)
        model.fit(X, Y[:, None], batch_size=32, verbose=0)
        tables.append(told(read(begun)))
    assert tables[0]["broadcasts"]
    assert tables[0] == tables[1]


def test_gradients_of_embeddings_are_drawn_too(watch: Any, read: Any) -> None:
    tables = []
    for wrap in (lambda step: step, tf.function):
        model = keras.Sequential(
            [keras.Input((3,), dtype="int32"), keras.layers.Embedding(9, 4), keras.layers.Dense(1)]
        )
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build(model.trainable_variables)
        begun = watch(model)

        def step(ids: Any, y: Any, model: Any = model, optimizer: Any = optimizer) -> None:
            with tf.GradientTape() as tape:
                out = model(ids, training=True)
                right = tf.cast(tf.argmax(out, axis=1), tf.float32)
                loss = tf.reduce_mean(tf.square(tf.reduce_sum(out, axis=[1, 2]) - y)) + 0.0 * tf.reduce_mean(right)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        run = wrap(step)
        for i in range(4):
            run(tf.reshape(tf.range(96) % (9 - i), [32, 3]), tf.constant(Y[:32]))
        tables.append(told(read(begun)))
    assert tables[0]["cuts"] == []
    assert tables[0] == tables[1]
