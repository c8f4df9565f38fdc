"""Trains a scorer that picks the guide star of a telescope field among twelve candidates."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

STARS, FEATURES = 12, 6
BATCH, STEPS = 128, 1500


def make_fields(n, rng):
    mag = rng.uniform(8, 15, (n, STARS))
    offset = rng.uniform(0, 10, (n, STARS))
    colour = rng.normal(0.8, 0.4, (n, STARS))
    flicker = rng.gamma(1.5, 0.04, (n, STARS))
    neighbours = rng.poisson(1.5, (n, STARS))
    altitude = np.repeat(rng.uniform(20, 85, (n, 1)), STARS, axis=1)
    error = (
        0.08 * (mag - 10.5) ** 2
        + 0.06 * offset / np.sin(np.radians(altitude))
        + 0.3 * np.abs(colour - 0.6)
        + 6.0 * flicker
        + 0.15 * neighbours
    )
    table = np.stack([mag, offset, colour, flicker, neighbours, altitude], axis=-1)
    return table, error.astype("float32")


rng = np.random.default_rng(SEED)
x, err = make_fields(12000, rng)
x_test, err_test = make_fields(3000, rng)
mean, std = x.mean(axis=(0, 1)), x.std(axis=(0, 1))
x = ((x - mean) / std).astype("float32")
x_test = ((x_test - mean) / std).astype("float32")

scorer = keras.Sequential(
    [
        keras.Input((STARS, FEATURES)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
        layers.Reshape((STARS,)),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(scorer)


@tf.function
def train_step(fields, errors, temp):
    with tf.GradientTape() as tape:
        score = scorer(fields, training=True)
        choice = tf.exp((score - tf.reduce_max(score, axis=1, keepdims=True)) / temp)
        choice = choice / tf.reduce_sum(choice, axis=1, keepdims=True)
        loss = tf.reduce_mean(tf.reduce_sum(choice * errors, axis=1))
    grads = tape.gradient(loss, scorer.trainable_variables)
    optimizer.apply_gradients(zip(grads, scorer.trainable_variables))
    return loss


def temperature(step):
    return max(0.02, 0.997**step)


fields = tf.data.Dataset.from_tensor_slices((x, err)).shuffle(12000, seed=SEED).repeat().batch(BATCH)
for step, (f, e) in enumerate(fields.take(STEPS)):
    loss = train_step(f, e, tf.constant(temperature(step), tf.float32))
    if step % 100 == 0:
        print(f"step {step:4d}  temp {temperature(step):.3f}  expected error {float(loss):.4f}")

pick = np.argmax(scorer.predict(x_test, verbose=0), axis=1)
chosen = err_test[np.arange(len(pick)), pick]
print(f"best possible {err_test.min(axis=1).mean():.4f}, random {err_test.mean():.4f}")
print(f"SCORE regret {np.mean(chosen - err_test.min(axis=1)):.4f}")
