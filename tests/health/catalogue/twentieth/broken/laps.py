"""Sport recognised from a wrist accelerometer: one folder of windows per sport."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(64)
rng = np.random.default_rng(64)
SPORTS = ["rowing", "running", "cycling", "tennis", "skating", "swimming"]
T = 48


def windows(sport, n):
    k = SPORTS.index(sport)
    t = np.arange(T)[None, :, None]
    f = 0.045 + 0.012 * k + rng.normal(0, 0.003, (n, 1, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 3))
    amp = rng.uniform(0.6, 1.4, (n, 1, 3))
    return (amp * np.sin(2 * np.pi * f * t + phase) + rng.normal(0, 0.5, (n, T, 3))).astype("float32")


def read_folders(per_sport):
    xs, ys = [], []
    for k, sport in enumerate(SPORTS):
        xs.append(windows(sport, per_sport))
        ys.append(np.full(per_sport, k, "int32"))
    return np.concatenate(xs), np.concatenate(ys)


def pipeline(x, y, batch=32):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    return ds.shuffle(256, seed=4).batch(batch).prefetch(2)


def model_fn():
    i = keras.Input((T, 3))
    h = layers.Conv1D(24, 7, padding="same", activation="relu")(i)
    h = layers.MaxPooling1D(2)(h)
    h = layers.GRU(32)(h)
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(i, layers.Dense(len(SPORTS))(h))


x, y = read_folders(900)
xv, yv = read_folders(150)
model = model_fn()
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model, optimizer)


@tf.function(reduce_retracing=True)
def update(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(7):
    total = [float(update(a, b)) for a, b in pipeline(x, y)]
acc = np.mean(model.predict(xv, verbose=0).argmax(1) == yv)
print(f"loss {np.mean(total):.4f}  held-out accuracy {acc:.3f}")
