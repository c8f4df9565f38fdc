"""Quantile forecasts of river discharge (litres per second) by a frozen random reservoir, a trained readout and Lookahead."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DAYS, PAST, UNITS, BATCH = 5200, 40, 120, 64
QUANTILES = tf.constant([0.1, 0.5, 0.9])
rain = rng.gamma(0.4, 9.0, DAYS) * (rng.random(DAYS) < 0.35 + 0.2 * np.sin(2 * np.pi * np.arange(DAYS) / 365))
warmth = 9 + 8 * np.sin(2 * np.pi * (np.arange(DAYS) - 110) / 365) + rng.normal(0, 2, DAYS)
soil, fast, flow = 50.0, 0.0, np.zeros(DAYS)
for i in range(DAYS):
    wet = min(soil / 120, 1.0)
    fast = 0.55 * fast + rain[i] * wet
    soil = max(soil + rain[i] * (1 - wet) - 0.012 * soil - 0.12 * max(warmth[i], 0), 0)
    flow[i] = 2.0e5 * (0.4 + 0.25 * fast + 0.02 * soil) * np.exp(rng.normal(0, 0.08))

inputs = np.stack([np.log1p(rain) - 0.8, (warmth - 9) / 8, np.log(flow / 4e5)], -1).astype("float32")
starts = np.arange(DAYS - PAST)
x = np.stack([inputs[s : s + PAST] for s in starts])
y = flow[starts + PAST].astype("float32")[:, None]
cut = 4000
x_train, y_train, x_test, y_test = x[:cut], y[:cut], x[cut + PAST :], y[cut + PAST :]


class SparseSpectral(keras.initializers.Initializer):
    """Sparse random recurrence scaled to a given spectral radius, as echo state networks use."""

    def __call__(self, shape, dtype=None):
        w = rng.normal(0, 1, shape) * (rng.random(shape) < 0.1)
        w *= 0.9 / np.abs(np.linalg.eigvals(w)).max()
        return tf.constant(w, dtype or "float32")


reservoir = layers.SimpleRNN(
    UNITS,
    recurrent_initializer=SparseSpectral(),
    trainable=False,
    kernel_initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=seed),
)
model = keras.Sequential(
    [
        keras.Input((PAST, 3)),
        reservoir,
        layers.Dense(32, activation="tanh"),
        layers.Dense(3, kernel_initializer="zeros"),
        layers.Rescaling(float(y_train.std()), offset=float(y_train.mean())),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
slow = [tf.Variable(v, trainable=False) for v in model.trainable_variables]
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(cut, seed=seed).batch(BATCH, drop_remainder=True)
gradwatch.watch(model)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        error = yb - model(xb, training=True)
        loss = tf.reduce_mean(tf.maximum(QUANTILES * error, (QUANTILES - 1) * error))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def lookahead():
    for s, v in zip(slow, model.trainable_variables):
        s.assign_add(0.5 * (v - s))
        v.assign(s)


step = 0
for epoch in range(18):
    losses = []
    for xb, yb in train:
        losses.append(float(train_step(xb, yb)))
        step += 1
        if step % 6 == 0:
            lookahead()
    print(f"epoch {epoch} pinball loss {np.mean(losses):.0f}")

q = QUANTILES.numpy()


def pinball(forecast):
    e = y_test - forecast
    return np.mean(np.maximum(q * e, (q - 1) * e))


reference = pinball(np.quantile(y_train, q)[None])
persist = pinball(np.exp(x_test[:, -1, 2:3]) * 4e5)
print("skill over persistence", round(float(1 - pinball(model.predict(x_test, verbose=0)) / persist), 3))
print("SCORE pinball_skill", round(float(1 - pinball(model.predict(x_test, verbose=0)) / reference), 4))
