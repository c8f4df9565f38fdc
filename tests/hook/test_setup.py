"""How a training is set up: what layers hold as a `tf.Variable` that nobody trains, and the optimizer's settings."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import find_line

CAPTURE = ("gradient",)

X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
Y = X[:, :1] * 2


class Mixer(keras.layers.Layer):
    """Holds weights in every way in which a layer can, those that Keras knows too."""

    def __init__(self):
        super().__init__(name="mixer")
        self.w = tf.Variable(np.eye(4, dtype=np.float32))
        self.many = [tf.Variable(tf.ones([4])), {"deep": tf.Variable(tf.ones([4]))}]
        self.counter = tf.Variable(0, dtype=tf.int64)
        self.temperature = tf.Variable(1.0)
        self.average = tf.Variable(tf.zeros([4]), trainable=False)
        self.known = self.add_weight(shape=(4,), initializer="ones", name="known")
        self.dense = keras.layers.Dense(4)

    def call(self, x):
        mixed = (x @ self.w) * self.many[0] * self.many[1]["deep"] * self.temperature
        return self.dense(mixed + self.average) * self.known


def model_of(mixer):
    return keras.Sequential([keras.Input((4,)), mixer, keras.layers.Dense(1)])


NAMES = ["mixer/many/0", "mixer/many/1/deep", "mixer/w"]


def untracked(recording):
    return [sorted(name.split("/", 1)[1] for name in table["untracked"]) for table in recording.tables.values()]


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}], ids=["graph", "eager"])
def test_what_keras_does_not_know_of_is_named(watch, read, options):
    model = model_of(Mixer())
    model.compile(optimizer="sgd", loss="mse", **options)
    watched = watch(model)
    model.fit(X, Y, epochs=1, verbose=0)
    assert untracked(read(watched)) == [NAMES]


def test_what_an_optimizer_is_given_is_not_named(watch, read):
    mixer = Mixer()
    model, optimizer = model_of(mixer), keras.optimizers.SGD(0.1)
    watched = watch(model)
    variables = [*model.trainable_variables, mixer.w]

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        optimizer.apply(tape.gradient(loss, variables), variables)

    step(tf.constant(X), tf.constant(Y))
    assert untracked(read(watched)) == [["mixer/many/0", "mixer/many/1/deep"]]


def test_a_model_of_keras_alone_has_none(watch, read):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.BatchNormalization(), keras.layers.Dropout(0.1), keras.layers.Dense(1)]
    )
    model.compile(optimizer="adam", loss="mse")
    watched = watch(model)
    model.fit(X, Y, epochs=1, verbose=0)
    assert untracked(read(watched)) == [[]]


def settings(recording):
    return [table["settings"] for table in recording.tables.values()]


def fit(watch, optimizer, **options):
    model = model_of(Mixer())
    model.compile(optimizer=optimizer, loss="mse", **options)
    watched = watch(model)
    model.fit(X, Y, epochs=1, verbose=0)
    return watched


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"jit_compile": True}], ids=["graph", "eager", "jit"])
def test_settings_are_those_of_keras(watch, read, options):
    optimizer = keras.optimizers.Adam(0.25, beta_1=0.5, use_ema=True, ema_overwrite_frequency=7, clipnorm=2.0)
    (found,) = settings(read(fit(watch, optimizer, **options)))
    expected = {key: one for key, one in optimizer.get_config().items() if one is not None and key != "name"}
    assert found == expected | {"class": "Adam"}
    assert (found["beta_1"], found["ema_overwrite_frequency"], found["use_ema"]) == (0.5, 7, True)


def test_settings_are_those_of_the_optimizer_within_a_loss_scale(watch, read):
    inner = keras.optimizers.SGD(0.5, momentum=0.75)
    (found,) = settings(read(fit(watch, keras.optimizers.LossScaleOptimizer(inner))))
    assert (found["class"], found["momentum"]) == ("SGD", 0.75)
    assert "inner_optimizer" not in found


def test_a_schedule_is_no_setting(watch, read):
    schedule = keras.optimizers.schedules.CosineDecay(1e-2, 100)
    (found,) = settings(read(fit(watch, keras.optimizers.Adam(schedule))))
    assert "learning_rate" not in found
    assert found["beta_2"] == 0.999


class Shy(keras.optimizers.SGD):
    """Does not know its own configuration."""

    def get_config(self):
        raise NotImplementedError("none of your business")


def test_an_optimizer_that_does_not_tell_has_a_class_alone(watch, read):
    assert settings(read(fit(watch, Shy(0.1)))) == [{"class": "Shy"}]


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"jit_compile": True}], ids=["graph", "eager", "jit"])
@pytest.mark.parametrize("is_broken", [True, False])
def test_weights_that_are_broken_before_training_are_named(watch, read, options, is_broken):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="first"), keras.layers.Dense(1)])
    if is_broken:
        kernel, bias = model.layers[0].get_weights()
        kernel[1, 2] = np.nan
        model.layers[0].set_weights([kernel, bias])
    model.compile(optimizer="sgd", loss="mse", **options)
    watched = watch(model)
    model.fit(X, Y, epochs=1, verbose=0)
    (table,) = read(watched).tables.values()
    assert [name.split("/", 1)[1] for name in table["broken"]] == (["first/kernel"] if is_broken else [])


def lines_of_losses(recording):
    return [table["loss_source"] and table["loss_source"]["line"] for table in recording.tables.values()]


def halved(y, output):
    error = tf.square(output - y)
    return tf.reduce_mean(error) / 2  # halved


@pytest.mark.parametrize(
    ("loss", "marker"), [("mse", None), (halved, "halved")], ids=["a loss of Keras'", "a loss of one's own"]
)
def test_the_line_of_a_loss_in_fit(watch, read, loss, marker):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", loss)
    watched = watch(model, capture=CAPTURE)
    model.fit(X, Y, epochs=1, verbose=0)
    line = None if marker is None else find_line(marker, sys.modules[__name__])
    assert lines_of_losses(read(watched)) == [line]


def test_the_lines_of_two_losses(watch, read):
    models = [keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)]) for _ in range(2)]
    optimizers = [keras.optimizers.SGD(0.1) for _ in models]
    watched = watch(*models, capture=CAPTURE)

    @tf.function
    def step(x, y):
        with tf.GradientTape(persistent=True) as tape:
            first = keras.losses.MeanSquaredError()(y, models[0](x))  # first
            second = tf.reduce_mean(tf.abs(models[1](x) - y))  # second
        for optimizer, model, loss in zip(optimizers, models, (first, second), strict=True):
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(X, Y)
    assert lines_of_losses(read(watched)) == [find_line(name, sys.modules[__name__]) for name in ("first", "second")]
