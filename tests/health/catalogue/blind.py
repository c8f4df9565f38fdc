"""Trainings that were written by someone who had not seen the rules, and that became cases when they had played.

How many of them were found at their first play stands in docs/catalogue.md; the rules have been mended since.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, optimizers

from tests.health.catalogue.broken import BROKEN, NONFINITE, broken
from tests.health.catalogue.healthy import HEALTHY, healthy
from tests.health.catalogue.play import Watch
from tests.health.catalogue.tools import (
    CELLS,
    COURSE,
    DIGITS,
    IMAGES,
    LABELS,
    PATIENTS,
    cross_entropy,
    fit,
    loop,
    mlp,
    one_hot,
)

__all__ = ["BROKEN", "HEALTHY"]

SCALED = ((CELLS - CELLS.mean(0)) / CELLS.std(0)).astype("float32")
BLIND = "written blind"


@broken(
    "x / 0",
    BLIND,
    "exploding_gradient",
    *NONFINITE,
    operations=("RealDiv",),
    code="scores / heat",
    cause=("by exactly 0",),
)
def temperature_that_falls_to_zero(watch: Watch, seed: int) -> None:
    model = mlp()
    heat = tf.Variable(1.0, trainable=False)

    def loss_of(y: Any, x: Any) -> Any:
        scores = model(x, training=True)
        soft = scores / heat
        heat.assign(tf.maximum(heat - 1 / 128, 0.0))
        return cross_entropy(y, soft)

    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizers.Adam(1e-3), n_steps=150, seed=seed)


@broken("outlier in the data", BLIND, *NONFINITE, cause=("out of all proportion",), layer="column 3")
def a_row_in_other_units(watch: Watch, seed: int) -> None:
    model = mlp(10, 1)
    chosen = np.random.default_rng(seed).integers(len(PATIENTS), size=32 * 140)
    x, y = PATIENTS[chosen].copy(), COURSE[chosen]
    x[120 * 32 + 5, 3] = 1e22
    model.compile(optimizers.Adam(1e-3), "mse", jit_compile=False)
    watch(model)
    model.fit(x, y, batch_size=32, epochs=1, shuffle=False, verbose=0)


@broken("learning rate too high", BLIND, "exploding_gradient", "lr_too_high", "dead_units", *NONFINITE)
def a_schedule_that_rises(watch: Watch, seed: int) -> None:
    schedule = optimizers.schedules.ExponentialDecay(0.01, 5, 1.3)  # meant 0.96
    fit(
        watch,
        mlp(10, 1),
        "mse",
        (PATIENTS, COURSE),
        optimizer=optimizers.SGD(schedule),
        seed=seed,
        n_steps=180,
    )


@broken("loss without a bottom", BLIND, "exploding_gradient", *NONFINITE, cause=("no lower bound",))
def critic_without_a_constraint(watch: Watch, seed: int) -> None:
    model = mlp(64, 1, n_layers=3)
    sign = np.where(LABELS > 4, 1, -1).astype("float32")

    def loss_of(y: Any, x: Any) -> Any:
        return tf.reduce_mean(model(x, training=True)[:, 0] * y)

    loop(watch, model, loss_of, (DIGITS, sign), optimizer=optimizers.SGD(0.01), n_steps=300, seed=seed)


class Standardize(keras.layers.Layer):
    """With running statistics, and without an epsilon."""

    def build(self, shape: Any) -> None:
        self.mean = self.add_weight(shape=(shape[-1],), initializer="zeros", trainable=False, name="mean")
        self.var = self.add_weight(shape=(shape[-1],), initializer="ones", trainable=False, name="var")

    def call(self, x: Any) -> Any:
        mean, var = tf.nn.moments(x, axes=[0])
        self.mean.assign(0.4 * self.mean + 0.6 * mean)
        self.var.assign(0.4 * self.var + 0.6 * var)
        return (x - self.mean) / tf.sqrt(self.var)


@broken("0 / 0", BLIND, *NONFINITE, operations=("RealDiv", "Sqrt"), code="tf.sqrt(self.var)", cause=("by exactly 0",))
def running_variance_of_a_unit_that_never_fires(watch: Watch, seed: int) -> None:
    hidden = layers.Dense(64, "relu", name="hidden")
    model = keras.Sequential(
        [keras.Input((64,)), hidden, Standardize(name="standardize"), layers.Dense(10, name="out")]
    )
    kernel = hidden.kernel.numpy().copy()
    kernel[:, 7] = -abs(kernel[:, 7])
    hidden.kernel.assign(kernel)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizers.SGD(0.02), seed=seed, n_steps=150)


@broken("sqrt(0)", BLIND, *NONFINITE, operations=("SqrtGrad", "Sqrt", "RealDiv"), code="tf.norm(gap", cause=("norm",))
def a_pair_of_the_same_image(watch: Watch, seed: int) -> None:
    net = mlp(64, 8)
    random = np.random.default_rng(seed)
    i, j = random.integers(len(DIGITS), size=(2, 32 * 125))
    j = np.where(i == j, (i + 1) % len(DIGITS), j)
    j[110 * 32 + 3] = i[110 * 32 + 3]
    same = (LABELS[i] == LABELS[j]).astype("float32")
    same[110 * 32 + 3] = 0.0  # said to be different
    optimizer, watched = optimizers.Adam(1e-3), watch(net)

    @tf.function
    def step(a: Any, b: Any, s: Any) -> None:
        with tf.GradientTape() as tape:
            gap = net(a, training=True) - net(b, training=True)
            distance = tf.norm(gap, axis=1)
            pulled, pushed = s * tf.square(distance), (1 - s) * tf.square(tf.nn.relu(2.0 - distance))
            loss = tf.reduce_mean(pulled + pushed)
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        watched.log(loss=loss)

    for k in range(125):
        chosen = slice(32 * k, 32 * k + 32)
        step(*(tf.constant(part[chosen]) for part in (DIGITS[i], DIGITS[j], same)))


@broken("float16 underflow", BLIND, "zero_gradient", cause=("underflow in float16",))
def half_precision_and_a_small_weight_of_the_loss(watch: Watch, seed: int) -> None:
    policy = keras.DTypePolicy("mixed_float16")
    hidden = [layers.Dense(32, "relu", dtype=policy, name=f"hidden_{i}") for i in range(3)]
    model = keras.Sequential([keras.Input((64,)), *hidden, layers.Dense(10, dtype=policy, name="out")])

    def loss_of(y: Any, x: Any) -> Any:
        return 1e-7 * cross_entropy(y, tf.cast(model(x, training=True), tf.float32))

    optimizer = optimizers.Adam(1e-3, epsilon=1e-12)
    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizer, n_steps=120, seed=seed)


@broken("one side of a game wins", BLIND, "vanishing_gradient", cause=("one side has won",))
def discriminator_that_wins(watch: Watch, seed: int) -> None:
    generator, critic = mlp(8, 64, last="sigmoid"), mlp(64, 1, width=64, last="sigmoid")
    first, second = optimizers.Adam(1e-2), optimizers.Adam(1e-4)
    watched = watch(critic, generator)

    @tf.function
    def step(real: Any, z: Any) -> None:
        with tf.GradientTape() as tape:
            good, bad = critic(real, training=True), critic(generator(z, training=True), training=True)
            loss = -tf.reduce_mean(tf.math.log(good + 1e-8) + tf.math.log(1 - bad + 1e-8))
        variables = critic.trainable_variables
        first.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        with tf.GradientTape() as tape:
            own = tf.reduce_mean(tf.math.log(1 - critic(generator(z, training=True), training=True) + 1e-8))
        variables = generator.trainable_variables
        second.apply_gradients(zip(tape.gradient(own, variables), variables, strict=True))
        watched.log(critic_loss=loss, generator_loss=own)

    random = np.random.default_rng(seed)
    for _ in range(220):
        real = DIGITS[random.integers(len(DIGITS), size=32)] * 4
        step(tf.constant(real), tf.constant(random.normal(size=(32, 8)).astype("float32")))


@broken("an axis taken for another", BLIND, "loss_plateau", cause=("broadcast",))
def distances_that_broadcast_over_the_batch(watch: Watch, seed: int) -> None:
    model = mlp(64, 5, last="tanh")
    kernel = model.get_layer("out").kernel
    kernel.assign(kernel * 0.05)

    def loss_of(y: Any, x: Any) -> Any:
        u = model(x, training=True)
        centres = 0.5 * tf.one_hot(y % 5, 5)
        gap = tf.reduce_sum(tf.square(u[:, None] - centres[None]), axis=2)
        room = 1.0 - tf.reduce_sum(tf.square(u), axis=1)
        distance = tf.math.acosh(1.0 + 2.0 * gap / (room[:, None] * 0.75))
        return cross_entropy(y, -distance)

    data = DIGITS, LABELS % 5
    loop(watch, model, loss_of, data, optimizer=optimizers.Adam(2e-3), n_steps=250, seed=seed)


@broken("NaN in the weights", BLIND, "nonfinite_weight", layer="words", cause=("before training began",))
def embedding_with_a_row_of_nan(watch: Watch, seed: int) -> None:
    words = (DIGITS[:, 16:48] * 16).astype("int32")
    random = np.random.default_rng(seed)
    chosen = random.integers(len(words), size=32 * 130)
    x, y = words[chosen].copy(), LABELS[chosen]
    x[110 * 32 + 9, 4] = 18
    table = random.normal(size=(20, 16)).astype("float32") * 0.3
    table[18] = np.nan
    embedding = layers.Embedding(20, 16, name="words")
    stack = [embedding, layers.Flatten(), layers.Dense(32, "relu", name="hidden"), layers.Dense(10, name="out")]
    model = keras.Sequential([keras.Input((32,), dtype="int32"), *stack])
    embedding.embeddings.assign(table)
    model.compile(optimizers.Adam(1e-3), cross_entropy, jit_compile=False)
    watch(model)
    model.fit(x, y, batch_size=32, epochs=1, shuffle=False, verbose=0)


@broken("a router that collapses", BLIND, "zero_gradient", layer="expert_", cause=("nothing reads",))
def experts_that_are_never_asked(watch: Watch, seed: int) -> None:
    gate = layers.Dense(6, name="gate")
    experts = [layers.Dense(16, "relu", name=f"expert_{i}") for i in range(6)]
    x = keras.Input((64,))

    def route(scores: Any) -> Any:
        p = tf.nn.softmax(scores)
        return p * tf.one_hot(tf.argmax(p, axis=1), 6)

    def mix(parts: Any) -> Any:
        return tf.einsum("be,beh->bh", parts[0], tf.stack(parts[1:], axis=1))

    mixed = layers.Lambda(mix)([layers.Lambda(route)(gate(x)), *[expert(x) for expert in experts]])
    model = keras.Model(x, layers.Dense(10, name="out")(mixed))
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(3e-3), n_steps=200, seed=seed)


class PowerMean(keras.layers.Layer):
    """Generalized-mean pooling."""

    def build(self, _: Any) -> None:
        self.p = self.add_weight(shape=(), initializer=keras.initializers.Constant(3.0), name="p")

    def call(self, x: Any) -> Any:
        raised = tf.reduce_mean(tf.pow(x, self.p), axis=[1, 2])
        return tf.pow(raised, 1.0 / self.p)


@broken("power of 0", BLIND, *NONFINITE, "steep_gradient", operations=("Pow", "Log"), code="tf.pow(", cause=("power",))
def generalized_mean_pooling(watch: Watch, seed: int) -> None:
    bias = keras.initializers.Constant(0.6)
    conv = layers.Conv2D(16, 3, activation="relu", bias_initializer=bias, name="conv")
    model = keras.Sequential([keras.Input((8, 8, 1)), conv, PowerMean(name="pool"), layers.Dense(10, name="out")])
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=optimizers.Adam(0.02), seed=seed, n_steps=180)


@broken("0 / 0", BLIND, *NONFINITE, operations=("RealDiv", "Mul"), code="count", cause=("division", "0 times"))
def weights_by_the_inverse_of_a_count(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        hot = tf.one_hot(y, 10)
        count = tf.reduce_sum(hot, axis=0)
        weight = 6.4 / count
        likelihood = -tf.nn.log_softmax(model(x, training=True))
        return tf.reduce_mean(tf.reduce_sum(hot * weight * likelihood, axis=1))

    data = DIGITS, LABELS
    loop(watch, model, loss_of, data, optimizer=optimizers.Adam(1e-3), n_steps=160, seed=seed, batch=68)


@broken("exploding gradient", BLIND, "exploding_gradient", "dead_units", "lr_too_high", *NONFINITE)
def recurrence_of_relus(watch: Watch, seed: int) -> None:
    cell = layers.SimpleRNN(32, activation="relu", recurrent_initializer="identity", name="rnn")
    model = keras.Sequential([keras.Input((32, 2)), cell, layers.Dense(10, name="out")])
    data = DIGITS.reshape(-1, 32, 2), LABELS
    fit(watch, model, cross_entropy, data, optimizer=optimizers.SGD(0.03), n_steps=130, seed=seed)


# -- healthy ----------------------------------------------------------------------------------------------------------


@healthy
def quantiles(watch: Watch, seed: int) -> None:
    def pinball(y: Any, p: Any) -> Any:
        error, q = y - p, tf.constant([0.05, 0.5, 0.95])
        return tf.reduce_mean(tf.maximum(q * error, (q - 1) * error))

    data = PATIENTS, COURSE[:, None]
    fit(watch, mlp(10, 3), pinball, data, optimizer=optimizers.Adam(2e-3), n_steps=180, seed=seed, batch=8)


@healthy
def raw_target_with_huber(watch: Watch, seed: int) -> None:
    data = PATIENTS, (COURSE * 77 + 152).astype("float32")
    huber = keras.losses.Huber(delta=20.0)
    fit(watch, mlp(10, 1), huber, data, optimizer=optimizers.Adam(0.01), n_steps=200, seed=seed, batch=16)


@healthy
def smoothed_labels_and_much_dropout(watch: Watch, seed: int) -> None:
    stack = [layers.Dense(128, "relu"), layers.Dropout(0.8), layers.Dense(10)]
    model = keras.Sequential([keras.Input((64,)), *stack])
    smoothed = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2)
    data = DIGITS, one_hot(LABELS)
    fit(watch, model, smoothed, data, optimizer=optimizers.Adam(3e-3), n_steps=160, seed=seed)


class Triangle(optimizers.schedules.LearningRateSchedule):
    """A rate that goes up and down."""

    def __call__(self, step: Any) -> Any:
        phase = tf.math.floormod(tf.cast(step, tf.float32), 80.0) / 40.0
        return 0.002 + 0.15 * (1 - tf.abs(phase - 1))

    def get_config(self) -> dict[str, Any]:
        return {}


@healthy
def cyclical_rate(watch: Watch, seed: int) -> None:
    optimizer = optimizers.SGD(Triangle(), momentum=0.9)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizer, n_steps=250, seed=seed)


@healthy
def several_labels_in_tiny_batches(watch: Watch, seed: int) -> None:
    data = DIGITS, ((LABELS[:, None] >> np.arange(4)) & 1).astype("float32")
    model = mlp(64, 4, last="sigmoid")
    fit(watch, model, "binary_crossentropy", data, optimizer=optimizers.Adam(2e-3), n_steps=250, seed=seed, batch=4)


@healthy
def decay_and_clip_by_value(watch: Watch, seed: int) -> None:
    optimizer = optimizers.AdamW(2e-3, weight_decay=0.5, clipvalue=0.002)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizer, n_steps=180, seed=seed)


@healthy
def long_warm_up_from_zero(watch: Watch, seed: int) -> None:
    schedule = optimizers.schedules.CosineDecay(0.0, 50, warmup_target=2e-3, warmup_steps=180)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(schedule), n_steps=240, seed=seed)


@healthy
def one_example_at_a_time(watch: Watch, seed: int) -> None:
    stack = [layers.Dense(32), layers.LayerNormalization(), layers.ReLU(), layers.Dense(10)]
    model = keras.Sequential([keras.Input((64,)), *stack])
    data = DIGITS, LABELS
    fit(watch, model, cross_entropy, data, optimizer=optimizers.SGD(0.02), n_steps=250, seed=seed, batch=1)


@healthy
def mixture_density(watch: Watch, seed: int) -> None:
    model = mlp(1, 9, activation="tanh", start="glorot_uniform")
    random = np.random.default_rng(seed)
    x = random.uniform(-2, 2, size=(5000, 1)).astype("float32")
    y = (np.sin(2 * x[:, 0]) + 0.05 * random.normal(size=5000)).astype("float32")

    def loss_of(y: Any, x: Any) -> Any:
        raw, mean, s = tf.split(model(x, training=True), 3, axis=1)
        sigma = tf.nn.softplus(s) + 5e-2
        logs = tf.nn.log_softmax(raw) - 0.5 * tf.square((y[:, None] - mean) / sigma) - tf.math.log(sigma)
        return -tf.reduce_mean(tf.reduce_logsumexp(logs, axis=1))

    loop(watch, model, loss_of, (x, y), optimizer=optimizers.Adam(0.005), n_steps=250, seed=seed)


@healthy
def pairs_with_a_margin(watch: Watch, seed: int) -> None:
    net = mlp(64, 8)
    random, optimizer, watched = np.random.default_rng(seed), optimizers.Adam(1e-3), watch(net)

    @tf.function
    def step(a: Any, b: Any, s: Any) -> None:
        with tf.GradientTape() as tape:
            gap = net(a, training=True) - net(b, training=True)
            distance = tf.sqrt(tf.reduce_sum(tf.square(gap), axis=1) + 1e-6)
            loss = tf.reduce_mean(s * tf.square(distance) + (1 - s) * tf.square(tf.nn.relu(1.0 - distance)))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        watched.log(loss=loss)

    for _ in range(180):
        i, j = random.integers(len(DIGITS), size=(2, 32))
        j[:2] = i[:2]
        step(tf.constant(DIGITS[i]), tf.constant(DIGITS[j]), tf.constant((LABELS[i] == LABELS[j]).astype("float32")))
