"""Calibrate a low-cost gas sensor box against a reference analyser that is not always online."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)

HOURS, CHANNELS = 6, 8
N_TRAIN, N_TEST = 14000, 3000


def make(n):
    level = np.abs(rng.normal(size=(n, HOURS + 4))).cumsum(1)
    no2 = 20 + 12 * np.sin(level / 2) + 6 * rng.normal(size=(n, 1)) + 5 * rng.normal(size=(n, HOURS + 4))
    no2 = (no2[:, 1:] + no2[:, :-1]) / 2
    no2 = no2[:, -HOURS:]
    temp = rng.normal(18, 7, size=(n, 1)) + rng.normal(0, 1, size=(n, HOURS))
    hum = rng.uniform(25, 95, size=(n, 1)) + rng.normal(0, 2, size=(n, HOURS))
    chans = []
    for k in range(CHANNELS - 2):
        gain = 0.6 + 0.1 * k
        drift = 0.02 * k * (temp - 18) + 0.01 * (hum - 50)
        chans.append(gain * no2 / 10 * (1 + 0.01 * (temp - 18)) + drift + rng.normal(0, 0.25, size=no2.shape))
    x = np.stack(chans + [temp / 10, hum / 50], axis=-1)
    y = no2[:, -1].copy()
    y[rng.random(n) < 0.6] = np.nan
    return x.astype("float32"), y.astype("float32")


x_train, y_train = make(N_TRAIN)
x_test, y_test = make(N_TEST)

mu, sd = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd
y_mu, y_sd = np.nanmean(y_train), np.nanstd(y_train)
online_train = np.isfinite(y_train).astype("float32")
y_train = np.nan_to_num((y_train - y_mu) / y_sd, nan=0.0)

model = tf.keras.Sequential(
    [
        layers.Input((HOURS, CHANNELS)),
        layers.Conv1D(32, 3, activation="relu", padding="same"),
        layers.Conv1D(32, 3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
gradwatch.watch(model, optimizer)


@tf.function
def train_step(x, y, online):
    with tf.GradientTape() as tape:
        error = tf.square(model(x, training=True) - y[:, None])
        loss = tf.reduce_mean(online * error)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train, online_train))
ds = ds.shuffle(N_TRAIN, seed=5).batch(64, drop_remainder=True).prefetch(2)

for epoch in range(20):
    losses = [float(train_step(*batch)) for batch in ds]
    print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}")

ok = np.isfinite(y_test)
pred = model.predict(x_test[ok], verbose=0)[:, 0] * y_sd + y_mu
truth = y_test[ok]
r2 = 1 - np.mean((pred - truth) ** 2) / np.var(truth)
print(f"loss {np.mean(losses):.4f}  held-out R2 {r2:.4f}")
