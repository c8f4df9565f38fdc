"""Steps that a script applies itself, without an optimizer: seen as those of an optimizer are."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import NonFiniteError
from tests.hook.training import assert_close, batches, data
from tests.numerics.reference import block

X, Y = data()
RATE = 0.05
COMPILERS = [None, tf.function, lambda step: tf.function(step, jit_compile=True)]


def made():
    w = tf.Variable(tf.random.stateless_normal((X.shape[1], 1), (1, 2)), name="w")
    return w, tf.Variable(tf.zeros(1), name="b")


def loss_of(w, b, x):
    return tf.reduce_mean((x @ w + b - 1.0) ** 2)


def by_subtraction(w, b, gradients):
    w.assign_sub(RATE * gradients[0])
    b.assign_sub(RATE * gradients[1])


def by_addition(w, b, gradients):
    for variable, gradient in zip((w, b), gradients, strict=True):
        variable.assign_add(-RATE * gradient)


def anew(w, b, gradients):
    clipped, _ = tf.clip_by_global_norm(gradients, 1e9)
    b.assign(b - RATE * clipped[1])
    w.assign(w - RATE * clipped[0])


WAYS = {
    "eager-sub": (None, by_subtraction),
    "eager-add": (None, by_addition),
    "graph-anew": (tf.function, anew),
    "jit-sub": (COMPILERS[-1], by_subtraction),
}


@pytest.mark.parametrize(("compiler", "apply"), WAYS.values(), ids=WAYS)
def test_variables_that_are_assigned_what_a_tape_gave(watch, read, compiler, apply):
    w, b = made()
    begun = watch([w, b])

    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(w, b, x)
        gradients = tape.gradient(loss, [w, b])
        apply(w, b, gradients)
        return loss, *gradients

    run = step if compiler is None else compiler(step)
    seen, weights = [], [[w.numpy(), b.numpy()]]
    for x, _ in batches(X, Y, epochs=2):
        seen.append([np.asarray(one) for one in run(tf.constant(x))])
        weights.append([w.numpy(), b.numpy()])
    recording = read(begun)
    assert recording.tensors() == ["w", "b"]
    assert recording.steps() == list(range(len(seen)))
    assert recording.tables[recording.stream]["optimizer"] == "by hand"
    np.testing.assert_allclose(list(recording.scalar("loss").values()), [one[0] for one in seen], rtol=1e-5)
    for place, path in enumerate("wb"):
        gradients = np.stack([block(one[place + 1])[0] for one in seen])
        assert_close(recording.statistics("gradient", path), gradients, path)
        after = np.stack([block(one[place])[0] for one in weights[1:]])
        assert_close(recording.statistics("weight", path), after, path)
        moved = np.stack([block(now[place] - before[place])[0] for before, now in itertools.pairwise(weights)])
        assert_close(recording.statistics("update", path), moved, path)


class Momentum:
    """An optimizer of the user's own, with a state of its own."""

    def __init__(self, variables):
        self.state = [tf.Variable(tf.zeros_like(one), trainable=False) for one in variables]

    def apply_gradients(self, pairs):
        for state, (gradient, variable) in zip(self.state, pairs, strict=True):
            state.assign(0.9 * state + gradient)
            variable.assign_sub(RATE * state)


def stepper(model, apply, compiler):
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - 1.0) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        apply(gradients, model.trainable_variables)
        return gradients

    return step if compiler is None else compiler(step)


@pytest.mark.parametrize("compiler", COMPILERS[:2], ids=["eager", "graph"])
def test_a_keras_model_with_an_optimizer_of_ones_own(watch, read, compiler):
    model = keras.Sequential([keras.Input(X.shape[1:]), keras.layers.Dense(4, "relu"), keras.layers.Dense(1)])
    own, begun = Momentum(model.trainable_variables), watch(model)
    step = stepper(
        model, lambda gradients, variables: own.apply_gradients(zip(gradients, variables, strict=True)), compiler
    )
    seen = [[np.asarray(one) for one in step(tf.constant(x))] for x, _ in batches(X, Y, epochs=1)]
    recording = read(begun)
    assert recording.tensors() == [variable.path for variable in model.trainable_variables]
    assert len(recording.tensors("activation")) == 2
    for place, path in enumerate(recording.tensors()):
        assert_close(recording.statistics("gradient", path), np.stack([block(one[place])[0] for one in seen]), path)
    assert not recording.rows[recording.stream][-1].get("assigned")


def test_weights_that_are_perturbed_for_an_optimizer_are_no_step(watch, read):
    """Sharpness-aware minimisation assigns twice what it was given, before the optimizer takes its step."""
    model = keras.Sequential([keras.Input(X.shape[1:]), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(RATE, name="sgd")
    begun, seen = watch(model), []
    for x, _ in batches(X, Y, epochs=1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - 1.0) ** 2)
        first = tape.gradient(loss, model.trainable_variables)
        for variable, gradient in zip(model.trainable_variables, first, strict=True):
            variable.assign_add(0.05 * gradient)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - 1.0) ** 2)
        second = tape.gradient(loss, model.trainable_variables)
        for variable, gradient in zip(model.trainable_variables, first, strict=True):
            variable.assign_sub(0.05 * gradient)
        optimizer.apply_gradients(zip(second, model.trainable_variables, strict=True))
        seen.append([np.asarray(one) for one in second])
    recording = read(begun)
    assert [table["optimizer"] for table in recording.tables.values()] == ["sgd"]
    for place, path in enumerate(recording.tensors()):
        assert_close(recording.statistics("gradient", path), np.stack([block(one[place])[0] for one in seen]), path)


@pytest.mark.parametrize("compiler", COMPILERS[:2], ids=["eager", "graph"])
def test_two_losses_whose_gradients_are_applied_afterwards(watch, read, compiler):
    """As in a game of two: each group of variables is a stream, and both count the same steps."""
    (w, b), (v, c) = made(), made()
    begun = watch([w, b], [v, c])

    def step(x):
        with tf.GradientTape() as tape, tf.GradientTape() as other:
            loss, against = loss_of(w, b, x), loss_of(v, c, 2 * x)
        gradients, others = tape.gradient(loss, [w, b]), other.gradient(against, [v, c])
        by_subtraction(w, b, gradients)
        by_addition(v, c, others)

    run = step if compiler is None else compiler(step)
    for x, _ in batches(X, Y, epochs=1):
        run(tf.constant(x))
    recording = read(begun)
    n_steps = len(list(batches(X, Y, epochs=1)))
    assert [recording.tensors(stream=stream) for stream in recording.tables] == [["w", "b"], ["w_1", "b_1"]]
    assert [recording.steps(stream) for stream in recording.tables] == [list(range(n_steps))] * 2


def test_a_tape_that_is_asked_for_each_variable_alone(watch, read):
    w, b = made()
    begun = watch(w, b)
    for x, _ in batches(X, Y, epochs=1):
        with tf.GradientTape(persistent=True) as tape:
            loss = loss_of(w, b, x)
        for_w, for_b = tape.gradient(loss, w), tape.gradient(loss, b)
        by_subtraction(w, b, [for_w, for_b])
    recording = read(begun)
    assert recording.tensors() == ["w", "b"]
    assert recording.steps() == list(range(len(list(batches(X, Y, epochs=1)))))


def test_what_is_left_of_a_step_is_recorded_eagerly_and_told_of_a_graph(watch, read, capsys):
    """Of two variables that a tape was asked for only one is assigned."""
    w, b = made()
    begun = watch(w, b)

    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(w, b, x)
        w.assign_sub(RATE * tape.gradient(loss, [w, b])[0])

    for x, _ in batches(X, Y, epochs=1)[:3]:
        step(tf.constant(x))
    for x, _ in batches(X, Y, epochs=1)[:3]:
        tf.function(step)(tf.constant(x))
    recording = read(begun)
    assert recording.steps()[:3] == [0, 1, 2]
    assert "of 2 variables that a tape was asked for, a compiled step assigns 1 by itself" in capsys.readouterr().err


def test_what_is_assigned_otherwise_is_no_step(watch, read):
    """Another's weights, a state, a weight between two steps: no gradient of it waits to be applied."""
    w, b = made()
    target = tf.Variable(w)
    begun = watch(w, b)
    for x, _ in batches(X, Y, epochs=1)[:4]:
        with tf.GradientTape() as tape:
            loss = loss_of(w, b, x)
        gradients = tape.gradient(loss, [w, b])
        target.assign(0.9 * target + 0.1 * w)
        by_subtraction(w, b, gradients)
        w.assign(tf.clip_by_value(w, -1.0, 1.0))
    assert read(begun).steps() == [0, 1, 2, 3]


def test_nan_is_raised_where_the_next_step_begins(watch):
    w, b = made()
    watch(w, b, on_nonfinite="raise")
    x = tf.fill((4, X.shape[1]), float("nan"))

    def train():
        for _ in range(200):
            with tf.GradientTape() as tape:
                loss = loss_of(w, b, x)
            by_subtraction(w, b, tape.gradient(loss, [w, b]))

    with pytest.raises(NonFiniteError, match="step 0"):
        train()


def test_it_cannot_be_skipped_and_that_is_said(watch, read, capsys):
    w, b = made()
    begun = watch(w, b, on_nonfinite="skip")
    for x, _ in batches(X, Y, epochs=1)[:3]:
        with tf.GradientTape() as tape:
            loss = loss_of(w, b, x)
        by_subtraction(w, b, tape.gradient(loss, [w, b]))
    assert read(begun).steps() == [0, 1, 2]
    assert "on_nonfinite='skip' cannot keep the script from assigning weights itself" in capsys.readouterr().err


def test_a_loop_within_a_compiled_function(watch, read):
    w, b = made()
    begun = watch(w, b)
    given = tf.stack([x for x, _ in batches(X, Y, epochs=1)[:3]])

    @tf.function
    def train(given):
        for x in given:
            with tf.GradientTape() as tape:
                loss = loss_of(w, b, x)
            by_subtraction(w, b, tape.gradient(loss, [w, b]))

    train(given)
    train(given)
    recording = read(begun)
    assert recording.steps() == list(range(6))
    assert (recording.statistics("update", "w")[:, 0] > 0).all()


def test_a_step_in_one_branch_is_recorded_where_it_is_taken(watch, read):
    """As where a batch that is not finite is left out."""
    w, b = made()
    begun = watch(w, b)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(w, b, x)
        gradients = tape.gradient(loss, [w, b])
        if tf.math.is_finite(loss):
            by_subtraction(w, b, gradients)
        return loss

    for place, (x, _) in enumerate(batches(X, Y, epochs=1)[:4]):
        step(tf.constant(x * (float("nan") if place == 1 else 1.0)))
    recording = read(begun)
    assert recording.steps() == [0, 1, 2]
    assert np.isfinite(w.numpy()).all()
