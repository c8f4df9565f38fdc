"""Train a model of queue lengths at a signalled crossing from time stamps and counts."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

CYCLE = 90
DAY = 86400
BATCH = 64
EPOCHS = 20


def make_log(n, rng):
    stamp = 1_700_000_000 + np.sort(rng.integers(0, 21 * DAY, n))
    flow = 8.0 + 5.0 * np.sin(2 * np.pi * (stamp % DAY) / DAY - 1.5) + rng.normal(0, 1.0, n)
    rain = rng.random(n) < 0.15
    share = (stamp % CYCLE) / CYCLE
    red = np.clip(share / 0.6, 0, 1) * (share < 0.6) + np.clip((1 - share) / 0.4, 0, 1) * (share >= 0.6)
    queue = np.maximum(flow, 0) * red * (1.0 + 0.3 * rain) + rng.normal(0, 0.5, n)
    counts = np.stack([flow, rain], axis=1).astype("float32")
    order = rng.permutation(n)
    return stamp.astype("int64")[order], counts[order], queue.astype("float32")[order]


def time_features(stamp):
    angles = []
    for period in (CYCLE, DAY):
        t = tf.cast(stamp % period, tf.float32)
        angles.append(2.0 * np.pi * t / period)
    angles = tf.stack(angles, axis=-1)
    return tf.concat([tf.sin(angles), tf.cos(angles)], axis=-1)


def build_model():
    inputs = keras.Input((6,))
    x = layers.Dense(64, activation="relu", name="hidden_a")(inputs)
    x = layers.Dense(64, activation="relu", name="hidden_b")(x)
    outputs = layers.Dense(1, name="queue")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 21)
    stamp, counts, queue = make_log(5000, rng)
    cut = 4000
    c_mu, c_sd = counts[:cut].mean(axis=0), counts[:cut].std(axis=0)
    q_mu, q_sd = queue[:cut].mean(), queue[:cut].std()
    counts = (counts - c_mu) / c_sd
    target = ((queue - q_mu) / q_sd)[:, None]

    model = build_model()
    optimizer = keras.optimizers.Adam(1e-3)
    gradwatch.watch(model)

    def prepare(s, c, y):
        return tf.concat([time_features(s), c], axis=-1), y

    data = tf.data.Dataset.from_tensor_slices((stamp[:cut], counts[:cut], target[:cut]))
    data = data.shuffle(cut, seed=SEED).batch(BATCH, drop_remainder=True).map(prepare)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        losses = [float(train_step(x, y)) for x, y in data]
        print("epoch %d  mse %.4f" % (epoch, np.mean(losses)))

    x_test, y_test = prepare(stamp[cut:], counts[cut:], target[cut:])
    pred = model.predict(x_test, verbose=0)
    r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
    print("SCORE r2 %.4f" % r2)


if __name__ == "__main__":
    main()
