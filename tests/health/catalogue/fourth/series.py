"""Series over time: machines, sales, rivers, alarms."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches
from tests.health.catalogue.play import Watch


def shop_sales(seed, n=2400, days=14):
    rng = np.random.default_rng(seed)
    rate = rng.gamma(2.0, 2.0, size=n)
    past = rng.poisson(rate[:, None], size=(n, days)).astype("float32")
    nxt = rng.poisson(rate).astype("float32")
    idle = np.zeros(n, "float32")
    gone = rng.random(n) < 0.35
    past[gone], nxt[gone] = 0.0, 0.0
    idle[gone] = rng.integers(14, 400, gone.sum())
    x = np.concatenate([past / 4.0, idle[:, None] / 30.0], axis=1)
    return x.astype("float32"), (nxt / 4.0)[:, None].astype("float32")


def sales_forecast(watch: Watch, seed: int) -> None:
    """A normal likelihood without a floor under its deviation: a third of the products is no longer sold, their
    error is exactly 0, and the deviation falls until softplus underflows.
    """
    keras.utils.set_random_seed(seed)
    x, y = shop_sales(seed)
    inp = keras.Input((15,))
    h = layers.Dense(48, activation="relu", name="hist1")(inp)
    h = layers.Dense(48, activation="relu", name="hist2")(h)
    level = layers.Dense(1, activation="relu", name="level")(h)
    spread = layers.Dense(1, activation="softplus", name="spread")(h)
    model = keras.Model(inp, [level, spread])
    optimizer = keras.optimizers.Adam(2e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            mu, sigma = model(xb, training=True)
            loss = tf.reduce_mean(tf.math.log(sigma) + 0.5 * tf.square((yb - mu) / sigma))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        w.log(loss=loss)
        return loss

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 64, 400):
        train_step(x[idx], y[idx])


def machine_states(seed, n=1500, longest=24):
    rng = np.random.default_rng(seed)
    x = np.zeros((n, longest), "float32")
    y = np.zeros((n, 1), "float32")
    for i in range(n):
        size = rng.integers(14, longest + 1)
        flips = rng.random(size) < rng.uniform(0.05, 0.6)
        flips[0] = False
        on = (np.cumsum(flips) + rng.integers(0, 2)) % 2
        x[i, :size] = on
        y[i] = flips.sum() / 4.0
    return x[..., None], y


def machine_switching(watch: Watch, seed: int) -> None:
    """Masking by 0 is meant for the padding, and off is 0 too: every step that is off is left out."""
    keras.utils.set_random_seed(seed)
    x, y = machine_states(seed)
    model = keras.Sequential(
        [
            keras.Input((24, 1)),
            layers.Masking(mask_value=0.0, name="padding"),
            layers.GRU(32, name="reader"),
            layers.Dense(16, activation="relu", name="mix"),
            layers.Dense(1, name="switches"),
        ]
    )
    watch(model)
    model.compile(keras.optimizers.Adam(4e-3), loss="mse")
    model.fit(x, y, batch_size=50, epochs=10, verbose=0)


def sensor_bags(seed, n=2400, items=16, feats=6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, items, feats)).astype("float32")
    x[..., 0] = 0.2 * x[..., 0]
    which = rng.integers(0, items, n)
    x[np.arange(n), which, 0] += 2.0
    v = x[np.arange(n), which]
    y = (v[:, 1] > 0).astype("int32") + 2 * (v[:, 2] > 0).astype("int32")
    return x, y


def alarm_source(watch: Watch, seed: int) -> None:
    """Attention by a softmax over the last axis, which has length one: every weight is 1, whatever the scores."""
    keras.utils.set_random_seed(seed)
    x, y = sensor_bags(seed)
    inp = keras.Input((16, 6))
    h = layers.Dense(32, activation="relu", name="item")(inp)
    score = layers.Dense(1, name="score")(layers.Dense(16, activation="tanh", name="key")(h))
    weight = layers.Softmax(name="weight")(score)
    pooled = layers.Lambda(lambda t: tf.reduce_sum(t[0] * t[1], axis=1), output_shape=(32,), name="pooled")([h, weight])
    out = layers.Dense(4, name="cause")(layers.Dense(32, activation="relu", name="mix")(pooled))
    model = keras.Model(inp, out)
    watch(model)
    model.compile(
        keras.optimizers.Adam(4e-3),
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, batch_size=64, epochs=10, verbose=0)


def river(seed, n=3000):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 6)).astype("float32")
    level = 0.3 * np.sin(3 * x[:, 0]) + 0.2 * x[:, 1] * x[:, 2]
    noise = 0.005 + 0.02 * np.abs(x[:, 3])
    y = level + noise * rng.normal(size=n)
    return x, y[:, None].astype("float32")


def river_level(watch: Watch, seed: int) -> None:
    """The likelihood of a density: the loss falls further and further below 0, the deviation has a floor."""
    keras.utils.set_random_seed(seed)
    x, y = river(seed)
    inp = keras.Input((6,))
    h = layers.Dense(64, activation="tanh", name="rain1")(inp)
    h = layers.Dense(64, activation="tanh", name="rain2")(h)
    level = layers.Dense(1, name="level")(h)
    spread = layers.Dense(1, activation="softplus", name="spread")(h)
    model = keras.Model(inp, [level, spread])
    optimizer = keras.optimizers.Adam(3e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            mu, sigma = model(xb, training=True)
            sigma = sigma + 0.003
            loss = tf.reduce_mean(tf.math.log(sigma) + 0.5 * tf.square((yb - mu) / sigma))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 64, 400):
        w.log(loss=float(train_step(x[idx], y[idx])))


def chaos(seed, n=1600, window=20):
    rng = np.random.default_rng(seed)
    z = np.zeros(n + window + 60)
    z[:18] = 1.2 + 0.1 * rng.normal(size=18)
    for t in range(18, len(z)):
        z[t] = z[t - 1] + 0.2 * z[t - 18] / (1 + z[t - 18] ** 10) - 0.1 * z[t - 1]
    z = (z[60:] - 0.9) / 0.25
    x = np.stack([z[i : i + window] for i in range(n - 6)])
    y = np.array([z[i + window + 5] for i in range(n - 6)])
    return x[..., None].astype("float32"), y[:, None].astype("float32")


def echo_series(watch: Watch, seed: int) -> None:
    """A reservoir: the recurrent layer is frozen on purpose, 9,408 of 9,505 weights never change."""
    keras.utils.set_random_seed(seed)
    x, y = chaos(seed)
    model = keras.Sequential(
        [
            keras.Input((20, 1)),
            layers.SimpleRNN(
                96,
                name="pool",
                trainable=False,
                kernel_initializer=keras.initializers.RandomUniform(-0.5, 0.5),
                recurrent_initializer=keras.initializers.Orthogonal(gain=0.95),
            ),
            layers.Dense(1, name="readout"),
        ]
    )
    watch(model)
    model.compile(keras.optimizers.Adam(1e-2), loss="mse")
    model.fit(x, y, batch_size=64, epochs=14, verbose=0)
