"""Variables without a gradient that a loop leaves out of what it gives the optimizer."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.protocol import STATISTICS
from tests.hook import training
from tests.hook.test_capture import sgd

N_ELEMENTS = STATISTICS.index("n_elements")
X = np.ones((4, 3), np.float32)


class TwoHeads(keras.Model):
    """A layer, and two heads upon it; the gradient may be stopped between them."""

    def __init__(self):
        super().__init__(name="two_heads")
        self.body = training.dense(4, "body", "tanh")
        self.left, self.right = training.dense(1, "left", seed=2), training.dense(1, "right", seed=3)

    def call(self, x, is_stopped=True):
        hidden = self.body(x)
        hidden = tf.stop_gradient(hidden) if is_stopped else hidden
        return self.left(hidden), self.right(hidden)


def present(model, loss, tape):
    variables = model.trainable_variables
    pairs = zip(tape.gradient(loss, variables), variables, strict=True)
    return [(gradient, variable) for gradient, variable in pairs if gradient is not None]


def entries(table, kind):
    return {
        one["tensor"].rpartition("two_heads/")[2]: one.get("left_out", False)
        for one in table["tensors"]
        if one["kind"] == kind
    }


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
def test_what_a_loop_leaves_out_is_in_the_table(watch, read, compiler):
    model, optimizer = TwoHeads(), sgd()
    model(X)
    before = model.body.kernel.numpy()
    watched = watch(model)

    @compiler
    def step(x):
        with tf.GradientTape() as tape:
            left, right = model(x)
            loss = tf.reduce_mean(left**2 + right**2)
        optimizer.apply_gradients(present(model, loss, tape))

    for _ in range(3):
        step(tf.constant(X))
    recording = read(watched)
    given, left_out = ["left/kernel", "left/bias", "right/kernel", "right/bias"], ["body/kernel", "body/bias"]
    assert list(recording.tables) == [0]
    for kind in ("gradient", "weight", "update"):
        assert entries(recording.tables[0], kind) == dict.fromkeys(given, False) | dict.fromkeys(left_out, True)
    # In order of depth: they come before what stands behind them.
    assert [name.rpartition("two_heads/")[2] for name in recording.tensors("gradient")] == [*left_out, *given]
    for path in left_out:
        name = f"two_heads/{path}"
        rows = recording.statistics("gradient", name)
        assert rows[:, N_ELEMENTS].tolist() == [0, 0, 0]
        assert np.isnan(rows[:, STATISTICS.index("norm")]).all()
        assert (recording.statistics("update", name)[:, STATISTICS.index("norm")] == 0).all()
    norm = recording.statistics("weight", "two_heads/body/kernel")[-1][STATISTICS.index("norm")]
    np.testing.assert_allclose(norm, np.linalg.norm(before), rtol=1e-6)
    assert (recording.statistics("gradient", "two_heads/left/kernel")[:, N_ELEMENTS] == 4).all()


def test_what_nobody_asked_for_is_not_left_out(watch, read):
    model, optimizer = TwoHeads(), sgd()
    model(X)
    watched = watch(model)
    heads = [*model.left.trainable_variables, *model.right.trainable_variables]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            left, right = model(x)
            loss = tf.reduce_mean(left**2 + right**2)
        optimizer.apply(tape.gradient(loss, heads), heads)

    step(tf.constant(X))
    table = read(watched).tables[0]
    assert not any(entries(table, "gradient").values())
    assert len(entries(table, "gradient")) == 4
    assert table["untrained"] == ["two_heads/body/kernel", "two_heads/body/bias"]


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
def test_what_no_optimizer_is_given_is_named_until_one_is(watch, read, compiler):
    model, optimizers, other = TwoHeads(), [sgd(name="of_left"), sgd(name="of_body")], TwoHeads()
    model(X)
    other(X)
    model.right.trainable = False
    watched = watch(model, other)
    parts = [model.left.trainable_variables, model.body.trainable_variables]

    @compiler
    def step(x):
        with tf.GradientTape() as tape:
            left, _ = model(x, is_stopped=False)
            loss = tf.reduce_mean(left**2)
        gradients = tape.gradient(loss, parts)
        for optimizer, *one in zip(optimizers, gradients, parts, strict=True):
            optimizer.apply(*one)

    step(tf.constant(X))
    tables = read(watched).tables
    # Neither what is frozen, nor another model's, nor what an earlier stream trains.
    assert [table["untrained"] for table in tables.values()] == [["two_heads/body/kernel", "two_heads/body/bias"], []]


def test_what_another_tape_of_the_step_reaches_is_not_left_out(watch, read):
    model, optimizers = TwoHeads(), [sgd(name="of_left"), sgd(name="of_right")]
    model(X)
    watched = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            outputs = model(x, is_stopped=False)
            losses = [tf.reduce_mean(one**2) for one in outputs]
        pairs = [present(model, loss, tape) for loss in losses]
        for optimizer, one in zip(optimizers, pairs, strict=True):
            optimizer.apply_gradients(one)

    step(tf.constant(X))
    recording = read(watched)
    assert [len(entries(table, "gradient")) for table in recording.tables.values()] == [4, 4]
    assert not any(any(entries(table, "gradient").values()) for table in recording.tables.values())


@pytest.mark.parametrize("n_micro_steps", [None, 2])
def test_what_clipping_leaves_is_measured_of_what_is_given(watch, read, n_micro_steps):
    model = TwoHeads()
    model(X)
    optimizer = keras.optimizers.SGD(0.1, global_clipnorm=0.01, gradient_accumulation_steps=n_micro_steps)
    watched = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            left, right = model(x)
            loss = tf.reduce_mean(left**2 + 3 * right**2)
        optimizer.apply_gradients(present(model, loss, tape))

    for _ in range(4):
        step(tf.constant(X))
    recording = read(watched)
    clipped = recording.scalar("clipped_norm")
    assert list(clipped) == ([0, 1, 2, 3] if n_micro_steps is None else [1, 3])
    np.testing.assert_allclose(list(clipped.values()), 0.01, rtol=1e-5)
    assert set(recording.scalar("clipped_share").values()) == {1.0}


def test_a_variable_that_two_watched_models_share_is_left_out_once(watch, read):
    model, optimizer = TwoHeads(), sgd()
    model(X)
    whole = keras.Sequential([keras.Input((3,)), model.body, keras.layers.Dense(1, name="other")], name="whole")
    watched = watch(model, whole)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            left, right = model(x)
            loss = tf.reduce_mean(left**2 + right**2)
        optimizer.apply_gradients(present(model, loss, tape))

    step(tf.constant(X))
    table = read(watched).tables[0]
    assert [name for name, is_left_out in entries(table, "gradient").items() if is_left_out] == [
        "body/kernel",
        "body/bias",
    ]


def test_what_cannot_be_told_apart_by_its_path_is_left_alone(watch, read):
    """Two models of the same layers, of which one step trains one, and leaves the other out."""
    models = [TwoHeads(), TwoHeads()]
    for model in models:
        model(X)
    optimizer = sgd()
    watched = watch(*models)
    variables = [variable for model in models for variable in model.trainable_variables]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            left, right = models[0](x, is_stopped=False)
            loss = tf.reduce_mean(left**2 + right**2)
        pairs = zip(tape.gradient(loss, variables), variables, strict=True)
        optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])

    step(tf.constant(X))
    found = entries(read(watched).tables[0], "gradient")
    assert len(found) == 6
    assert not any(found.values())
