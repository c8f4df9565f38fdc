"""Trains a small network that raises an alarm for a volcanic eruption within 24 h from seismic tremor features."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BATCH = 64
BANDS = 12
EPOCHS = 14


def make_windows(n):
    """Log band energies, their slope over six hours, gas flux and tilt."""
    energy = rng.normal(0.0, 1.0, (n, BANDS))
    slope = rng.normal(0.0, 1.0, (n, BANDS))
    gas = rng.normal(0.0, 1.0, (n, 1))
    tilt = rng.normal(0.0, 1.0, (n, 1))
    drive = (
        1.6 * energy[:, :4].mean(axis=1, keepdims=True)
        + 1.2 * slope[:, 2:5].mean(axis=1, keepdims=True)
        + 0.9 * gas * (tilt > 0)
        + 0.5 * np.abs(tilt)
    )
    drive = drive[:, 0] + rng.normal(0.0, 0.25, n)
    x = np.concatenate([energy, slope, gas, tilt], axis=1).astype("float32")
    return x, drive


x_all, drive = make_windows(16000)
threshold = np.quantile(drive, 0.92)
y_all = (drive > threshold).astype("float32")
x_train, y_train = x_all[:13000], y_all[:13000]
x_test, y_test = x_all[13000:], y_all[13000:]

inputs = keras.Input((x_all.shape[1],))
h = keras.layers.Dense(320, activation="relu")(inputs)
h = keras.layers.Dense(160, activation="relu")(h)
outputs = keras.layers.Dense(1)(h)
model = keras.Model(inputs, outputs, name="alarm")
optimizer = keras.optimizers.Adam(5e-4)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(13000, seed=seed).batch(BATCH, drop_remainder=True)
)


def balanced_loss(labels, logits):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    quiet = 1.0 - labels
    miss = tf.reduce_sum(ce * labels) / tf.reduce_sum(labels)
    false_alarm = tf.reduce_sum(ce * quiet) / tf.reduce_sum(quiet)
    return 0.5 * (miss + false_alarm)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = tf.squeeze(model(xb, training=True), axis=-1)
        loss = balanced_loss(yb, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

step = 0
for epoch in range(EPOCHS):
    total = 0.0
    for xb, yb in dataset:
        loss = float(train_step(xb, yb))
        step += 1
        total += loss
    print(f"epoch {epoch + 1} step {step} loss {total / len(dataset):.4f}")

scores = model.predict(x_test, verbose=0)[:, 0]
auc = keras.metrics.AUC()
auc.update_state(y_test, tf.sigmoid(scores))
ok = bool(np.isfinite(scores).all())
print("SCORE auc", float(auc.result()) if ok else float("nan"))
