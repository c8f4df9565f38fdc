"""Trains a convolutional smoother that turns noisy vehicle traces into road lines for a map."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

POINTS, BATCH, EPOCHS = 32, 64, 8


def make_traces(n, rng):
    turn = np.cumsum(rng.normal(0, 0.12, (n, POINTS)), axis=1) + rng.uniform(-np.pi, np.pi, (n, 1))
    step = np.stack([np.cos(turn), np.sin(turn)], axis=-1) * 0.15
    road = np.cumsum(step, axis=1)
    road -= road.mean(axis=1, keepdims=True)
    trace = road + rng.normal(0, 0.06, road.shape)
    length = np.where(rng.random(n) < 0.003, rng.integers(12, POINTS - 2, n), POINTS)
    mask = (np.arange(POINTS)[None] < length[:, None]).astype("float32")[..., None]
    return (trace * mask).astype("float32"), (road * mask).astype("float32"), mask


rng = np.random.default_rng(SEED)
trace, road, mask = make_traces(8000, rng)
trace_test, road_test, mask_test = make_traces(1000, rng)

points = keras.Input((POINTS, 2))
keep = keras.Input((POINTS, 1))
h = layers.Concatenate()([points, keep])
h = layers.Conv1D(32, 5, padding="same", activation="relu")(h)
h = layers.Conv1D(32, 5, padding="same", activation="relu")(h)
h = layers.Conv1D(32, 5, padding="same", activation="relu")(h)
shift = layers.Conv1D(2, 3, padding="same")(h)
smoothed = layers.Multiply()([layers.Add()([points, shift]), keep])
model = keras.Model([points, keep], smoothed)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def heading_gap(line, true_line, keep):
    """Mean of 1 - cos of the angle between each piece of the line and the road below it."""
    valid = tf.squeeze(keep[:, 1:] * keep[:, :-1], -1) > 0
    d, t = line[:, 1:] - line[:, :-1], true_line[:, 1:] - true_line[:, :-1]
    dx, dy = d[..., 0], d[..., 1]
    angle = tf.atan2(dy, dx) - tf.atan2(t[..., 1], t[..., 0])
    gap = tf.where(valid, 1.0 - tf.cos(angle), 0.0)
    return tf.reduce_sum(gap) / tf.reduce_sum(tf.cast(valid, tf.float32))


@tf.function
def train_step(p, r, k):
    with tf.GradientTape() as tape:
        line = model([p, k], training=True)
        place = tf.reduce_sum(tf.square(line - r) * k) / tf.reduce_sum(k)
        gap = heading_gap(line, r, k)
        loss = 10.0 * place + gap
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return place, gap


data = tf.data.Dataset.from_tensor_slices((trace, road, mask)).shuffle(8000, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    log = []
    for batch in data:
        place, gap = train_step(*batch)
        log.append((float(place), float(gap)))
    print(f"epoch {epoch}  place {np.mean(log, axis=0)[0]:.5f}  heading {np.mean(log, axis=0)[1]:.5f}")

line = model.predict([trace_test, mask_test], verbose=0)
print(f"heading gap of the raw traces {float(heading_gap(trace_test, road_test, mask_test)):.4f}")
print(f"SCORE heading_gap {float(heading_gap(line, road_test, mask_test)):.4f}")
