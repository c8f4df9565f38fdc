"""The operation that a bad step of an eager training began with, from what its tape differentiated."""

import threading

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from gradwatch import eager
from gradwatch.tape import BACKWARD_MAX
from gradwatch_server import messages
from tests.hook.test_replay import line_of, model_with, origins_of
from tests.hook.training import dense

X = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")


def train(model, loss_of, n_steps=5, *, wait=lambda step: None):
    optimizer = keras.optimizers.Adam(1e-3)
    for step in range(n_steps):
        with tf.GradientTape() as tape:
            loss = loss_of(model(tf.constant(X), training=True), step)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        wait(step)


def small():
    return keras.Sequential([keras.Input((4,)), dense(4, "before"), dense(2, "after", "tanh")], name="model")


def broken_root(y, step):
    return tf.reduce_mean(tf.sqrt(tf.square(y) * (1.0 if step < 2 else 0.0)))  # root


def half_precision_product(layer, x, is_on):
    half = tf.cast(x, tf.float16) * tf.cast(1 + 999 * is_on, tf.float16)
    return x + tf.cast(tf.matmul(half, half, transpose_b=True), tf.float32)[:, : x.shape[-1]]


def test_a_product_that_overflows_in_a_layer(watch):
    model = model_with(half_precision_product)
    begun = watch(model)
    train(model, lambda y, step: tf.reduce_mean(tf.square(y)))
    (origin,) = origins_of(begun)
    operation = origin["operation"]
    assert (origin["step"], operation["type"], operation["is_gradient"]) == (2, "MatMul", False)
    assert operation["source"]["line"] == line_of(half_precision_product, "tf.matmul(half")
    assert operation["layer"] == "model/made"
    assert operation["dtype"] == "float16"
    assert (origin["n_nonfinite_in"], origin["n_elements"]) == (0, 36)
    messages.Origin.model_validate(origin)


def scaled(x):
    return (x - tf.reduce_mean(x, 0)) / tf.math.reduce_std(x, 0)  # scaled


def test_what_data_alone_are_made_bad_by_is_known_from_the_first_step(watch):
    model, optimizer = small(), keras.optimizers.Adam(1e-3)
    begun = watch(model)
    for step in range(5):
        x = X.copy()
        x[:, 1] *= step < 2
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(scaled(tf.constant(x)), training=True)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"]) == (2, "RealDiv")
    assert origin["operation"]["source"]["line"] == line_of(scaled, "# scaled")
    assert (origin["n_nonfinite"], origin["n_nonfinite_in"], origin["numbers"]) == (6, 0, {})
    assert [link["type"] for link in origin["chain"]] == ["RealDiv", "MatMul"]
    messages.Origin.model_validate(origin)


def test_what_is_told_of_the_slope_of_a_root(watch):
    model = small()
    begun = watch(model)
    train(model, broken_root)
    (origin,) = origins_of(begun)
    assert origin["step"] == 2
    assert (origin["operation"]["type"], origin["operation"]["forward"]["type"]) == ("SqrtGrad", "Sqrt")
    assert origin["operation"]["source"]["line"] == line_of(broken_root, "# root")
    assert (origin["n_nonfinite"], origin["n_nonfinite_in"], origin["n_elements"]) == (12, 0, 12)
    assert origin["numbers"]["n_singular"] == origin["numbers"]["n_in"] == 12
    assert origin["numbers"]["margin"] == 0
    types = [link["type"] for link in origin["chain"]]
    assert types[0] == "SqrtGrad"
    assert types[-1] in ("MatMulGrad", "BiasAddGrad", "ReadVariableOpGrad")
    assert len(types) <= eager.CHAIN_MAX
    messages.Origin.model_validate(origin)


@pytest.mark.parametrize("n_steps", [1, 2])
def test_the_last_step_of_all_is_looked_at(watch, n_steps):
    """A loop that ends at a NaN; the lines are known from the first step on."""
    model = small()
    begun = watch(model)
    train(model, lambda y, step: broken_root(y, step + 3 - n_steps), n_steps)
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"]) == (n_steps - 1, "SqrtGrad")
    assert origin["operation"]["source"]["line"] == line_of(broken_root, "# root")


def test_a_step_that_takes_another_way_than_the_one_that_was_listened_to(watch):
    model = small()

    def loss_of(y, step):
        if step == 3:
            return broken_root(tf.math.softplus(y) * 2.0, step)
        return broken_root(y, 0)

    begun = watch(model)
    train(model, loss_of)
    (origin,) = origins_of(begun)
    assert origin["step"] == 3
    assert origin["operation"]["source"]["line"] == line_of(broken_root, "# root")


def test_two_optimizers_each_tell_their_own(watch):
    models = [small(), keras.Sequential([keras.Input((4,)), dense(3, "other")], name="second")]
    optimizers = [keras.optimizers.SGD(0.01), keras.optimizers.SGD(0.01)]
    begun = watch(*models)
    for step in range(4):
        for place, (model, optimizer) in enumerate(zip(models, optimizers, strict=True)):
            with tf.GradientTape() as tape:
                y = model(tf.constant(X))
                loss = broken_root(y, 0) if place == 0 else tf.reduce_sum(tf.math.log(y * 0.0 + float(step < 2)))
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"], origin["operation"]["is_gradient"]) == (2, "Log", False)


def n_listening():
    return len(context.context().op_callbacks)


@pytest.mark.parametrize(("loss_of", "n_later"), [(tf.reduce_mean, 0), (lambda y: tf.reduce_mean(tf.exp(y)), 1)])
def test_nothing_is_listened_to_without_need_nor_between_steps_nor_after_the_end(watch, loss_of, n_later):
    model = small()
    within, between = [], []

    def listened(y, _):
        within.append(n_listening())
        return loss_of(y)

    begun = watch(model)
    train(model, listened, wait=lambda _: between.append(n_listening()))
    assert within == [1, *[n_later] * 4]
    assert between == [0] * 5
    gradient = tf.GradientTape.gradient.__wrapped__
    for is_watched in (True, False):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(X))
        with eager.listen_backward() as backward:
            gradient(tape, loss, model.trainable_variables)
        assert (len(backward.records) > 3) == is_watched
        begun.close()


@pytest.mark.parametrize("is_here", [True, False])
def test_a_watch_that_ends_within_a_step_listens_no_more(watch, is_here):
    model = small()
    begun = watch(model)
    with tf.GradientTape():
        y = model(tf.constant(X))
        assert n_listening() == 1
        if is_here:
            begun.close()
        else:
            closing = threading.Thread(target=begun.close)
            closing.start()
            closing.join()
            tf.square(y)
    assert n_listening() == 0


def test_what_is_kept_of_a_step_is_bounded(watch, monkeypatch):
    monkeypatch.setattr(eager, "BYTES_MAX", 100)
    model = small()
    begun = watch(model)
    train(model, broken_root)
    assert origins_of(begun) == [], "of a tensor that is not kept nothing is claimed"


def test_of_tapes_that_lead_to_no_apply_little_is_kept(watch):
    model = small()
    begun = watch(model)

    def asked():
        return sum(one.backward is not None for one in begun._tapes._asked)

    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(X))
        tape.gradient(loss, model.trainable_variables)
    assert asked() == BACKWARD_MAX
    train(model, broken_root, 3)
    assert asked() == 0, "an apply takes what was asked for its variables"
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_mean(model(x))
    tape.gradient(loss, x)
    assert asked() == 0, "a tensor is never applied"


def test_a_hook_that_fails_leaves_the_gradient_alone(watch, monkeypatch):
    def fail(*_):
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(eager.Backward, "add", fail)
    model = small()
    begun = watch(model)
    train(model, broken_root)
    assert origins_of(begun) == []
    assert not np.isfinite(model.trainable_variables[0].numpy()).all(), "the training went on as it would have"


def test_no_origin_where_the_input_was_bad():
    assert eager.find_origin([], is_whole=True, is_loss_finite=False) is None
    x = tf.constant([np.nan, 1.0])
    record = eager.Record("Log", ("T", 1), (x,), (None,), (tf.constant([1.0, 1.0]),), (1 / x,))
    assert eager.find_origin([record], is_whole=True, is_loss_finite=False) is None
