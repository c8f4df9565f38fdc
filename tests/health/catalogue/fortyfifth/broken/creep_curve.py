"""Trains a neural rate law for the creep and ageing of an alloy by integrating it over the test time."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

STATES, KNOBS = 3, 3
TIMES, DT = 100, 0.05
BATCH, UPDATES = 64, 500


def true_rates(s, k):
    strain, hard, damage = s[:, 0], s[:, 1], s[:, 2]
    stress, heat, nickel = k[:, 0], k[:, 1], k[:, 2]
    flow = np.tanh(stress - hard + 0.5 * damage)
    return np.stack(
        [
            0.6 * flow + 0.2 * heat * flow,
            0.8 * flow - (0.5 + 0.2 * heat) * hard + 0.2 * nickel,
            0.15 * (1 + flow) - 0.3 * damage * (1 + 0.3 * nickel),
        ],
        axis=1,
    )


def make_tests(n, rng):
    start = rng.normal(0, 0.5, (n, STATES))
    knobs = rng.normal(0, 1, (n, KNOBS))
    s, path = start.copy(), []
    for _ in range(TIMES):
        s = s + DT * true_rates(s, knobs)
        path.append(s)
    path = np.stack(path, axis=1) + rng.normal(0, 0.02, (n, TIMES, STATES))
    return start.astype("float32"), knobs.astype("float32"), path.astype("float32")


rng = np.random.default_rng(SEED)
start, knobs, path = make_tests(3000, rng)
start_test, knobs_test, path_test = make_tests(500, rng)

rates = keras.Sequential(
    [
        keras.Input((STATES + KNOBS,)),
        layers.Dense(64, activation="gelu"),
        layers.Dense(64, activation="gelu"),
        layers.Dense(STATES),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(rates)


def integrate(state, knobs):
    out = tf.TensorArray(tf.float32, size=TIMES)
    for i in tf.range(TIMES):
        state = state + rates(tf.concat([state, knobs], axis=1))
        out = out.write(i, state)
    return tf.transpose(out.stack(), [1, 0, 2])


@tf.function
def train_step(s0, k, measured):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(integrate(s0, k) - measured))
    grads = tape.gradient(loss, rates.trainable_variables)
    optimizer.apply_gradients(zip(grads, rates.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((start, knobs, path)).shuffle(3000, seed=SEED).repeat()
for update, batch in enumerate(data.batch(BATCH).take(UPDATES)):
    loss = train_step(*batch)
    if update % 50 == 0:
        print(f"update {update:4d}  loss {float(loss):.5g}")

guess = tf.function(integrate)(tf.constant(start_test), tf.constant(knobs_test)).numpy()
rmse = np.sqrt(np.mean((guess - path_test) ** 2))
print(f"spread of the measured states {path_test.std():.4f}")
print(f"SCORE rmse {rmse:.4f}")
