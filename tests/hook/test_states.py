"""Running statistics: what a layer keeps beside its weights, captured as a weight that has no gradient."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose
from tests.numerics.reference import row

X = np.random.default_rng(0).normal(2.0, 3.0, (64, 6)).astype("float32")
Y = np.arange(64) % 3
BATCH = 16


def network(*, is_frozen=False):
    keras.utils.set_random_seed(0)
    stack = [layers.Dense(8, name="first"), layers.BatchNormalization(name="norm"), layers.Dense(3, name="last")]
    if is_frozen:
        frozen = [layers.Dense(6, name="base"), layers.BatchNormalization(name="base_norm")]
        for layer in frozen:
            layer.trainable = False
        stack = [*frozen, *stack]
    return keras.Sequential([keras.Input((6,)), *stack], name="net")


class Seen(keras.callbacks.Callback):
    """The moving mean as it is after each step, read from outside."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.rows = layer, []

    def on_train_batch_end(self, batch, logs=None):
        self.rows.append(row(self.layer.moving_mean.numpy()))


def train(model, x=X, *, jit_compile=False, callbacks=()):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05), loss, jit_compile=jit_compile)
    model.fit(x, Y, batch_size=BATCH, epochs=2, shuffle=False, verbose=0, callbacks=list(callbacks))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_moving_statistics_are_as_they_are_after_each_step(watch, read, jit_compile):
    model = network()
    watched, seen = watch(model, capture=("gradient", "weight", "update")), Seen(model.get_layer("norm"))
    train(model, jit_compile=jit_compile, callbacks=[seen])
    recording = read(watched)
    states = [name for name in recording.tensors("weight") if name not in recording.tensors("gradient")]
    assert [name.rpartition("/")[2] for name in states] == ["moving_mean", "moving_variance"]
    found = recording.statistics("weight", states[0])
    np.testing.assert_allclose(found, np.array(seen.rows), rtol=2e-5, equal_nan=True)


@pytest.mark.parametrize(
    ("momentum", "told"),
    [
        pytest.param(0.97, {"moving_mean": 0.97, "moving_variance": 0.97}, id="a share"),
        pytest.param(1.5, {}, id="no share"),
    ],
)
def test_what_a_batch_leaves_of_running_statistics_is_told_where_it_is_a_share(watch, read, momentum, told):
    model = network()
    model.get_layer("norm").momentum = momentum
    watched = watch(model, capture=("gradient", "weight"))
    train(model)
    (table,) = read(watched).tables.values()
    assert {one["variable"]: one["momentum"] for one in table["tensors"] if "momentum" in one} == told


def test_what_is_frozen_is_no_running_statistic(watch, read):
    model = network(is_frozen=True)
    watched = watch(model, capture=("gradient", "weight"))
    train(model)
    recording = read(watched)
    assert [name for name in recording.tensors("weight") if "base" in name] == [
        "net/base/bias"
    ]  # nothing taught it yet
    (table,) = recording.tables.values()
    assert [one["tensor"] for one in table["tensors"] if one.get("frozen")] == ["net/base/bias"]


def test_without_weights_there_are_none(watch, read):
    model = network()
    watched = watch(model, capture="gradient")
    train(model)
    assert read(watched).tensors("weight") == []


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_skipped_step_leaves_the_statistics_spoiled_and_that_is_told(watch, read, jit_compile):
    sick = X.copy()
    sick[2 * BATCH] = np.nan  # one row of the third batch
    model = network()
    watched = watch(model, on_nonfinite="skip")
    train(model, sick, jit_compile=jit_compile)
    trained = [variable.numpy() for variable in model.trainable_variables]
    assert all(np.isfinite(one).all() for one in trained), "the update was left out"
    assert np.isnan(model.get_layer("norm").moving_mean.numpy()).all(), "the average was not"
    found = diagnose(read(watched)).findings()[0]
    assert (found.severity, found.first_step) == ("critical", 2)
    assert "running statistics of" in found.evidence["summary"]
    assert "evaluation and what is saved are lost" in found.evidence["summary"]
    assert not found.evidence["loss_is_false"], "training uses the batch's own statistics"


class Running(layers.Layer):
    """Keeps the largest value so far, divided by a count that is zero at first."""

    def build(self, shape):
        self.share = self.add_weight(shape=(shape[-1],), initializer="zeros", trainable=False, name="share")

    def call(self, x):
        self.share.assign(tf.reduce_max(x, axis=0) / tf.cast(tf.reduce_sum(0 * x, axis=0), x.dtype))
        return x


def test_statistics_that_break_alone_are_a_finding_of_their_own(watch, read):
    inner = [layers.Dense(8, name="first"), Running(name="running"), layers.Dense(3, name="last")]
    model = keras.Sequential([keras.Input((6,)), *inner])
    watched = watch(model)
    train(model)
    (found,) = [one for one in diagnose(read(watched)).findings() if one.kind == "nonfinite_weight"]
    assert (found.severity, found.first_step) == ("critical", 0)
    assert found.title.startswith("Running statistics of")
    assert found.layer.endswith("running")
    assert found.hypotheses[0].cause.startswith("A batch with NaN or Inf went through")
