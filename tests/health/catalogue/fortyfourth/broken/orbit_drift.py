"""Along-track drift of small satellites after two days of drag, from hourly space weather (continuous-time recurrent net)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, CHANNELS, UNITS = 48, 4, 32
N, BATCH, EPOCHS = 6000, 96, 20
STEP_DAYS = 0.5


def passes(n):
    flux = np.cumsum(rng.normal(0, 0.25, (n, HOURS)), 1) + rng.normal(0, 0.5, (n, 1))
    storm = (rng.random((n, HOURS)) < 0.04) * rng.gamma(2.0, 1.0, (n, HOURS))
    kp = np.zeros((n, HOURS))
    for t in range(1, HOURS):
        kp[:, t] = 0.85 * kp[:, t - 1] + storm[:, t]
    height = rng.normal(0, 1, (n, 1)).repeat(HOURS, 1)
    area = rng.normal(0, 1, (n, 1)).repeat(HOURS, 1)
    density = np.log1p(np.exp(0.5 * flux + 0.3 * kp - 0.7 * height))
    slow = np.cumsum(density * (1.0 + 0.4 * np.tanh(area)), 1) / HOURS
    drift = slow.mean(1) + rng.normal(0, 0.02, n)
    x = np.stack([flux, kp, height, area], 2)
    return x.astype("float32"), drift.astype("float32")


class Flow(layers.Layer):
    """One Euler step of dh/dt = W relu(V h + U x)."""

    def __init__(self, units, dt, **kw):
        super().__init__(**kw)
        self.units, self.dt = units, dt
        self.state_size = units
        self.inside = layers.Dense(2 * units, activation="relu")
        self.outside = layers.Dense(units)

    def build(self, shape):
        self.inside.build((shape[0], shape[-1] + self.units))
        self.outside.build((shape[0], 2 * self.units))
        super().build(shape)

    def call(self, x, states):
        h = states[0]
        slope = self.outside(self.inside(tf.concat([x, h], axis=-1)))
        h = h + self.dt * slope
        return h, [h]


x, y = passes(N)
x_test, y_test = passes(1500)
mu, sd = x.mean((0, 1)), x.std((0, 1))
x, x_test = (x - mu) / sd, (x_test - mu) / sd
m, s = y.mean(), y.std()
y, y_test = (y - m) / s, (y_test - m) / s

model = keras.Sequential(
    [
        keras.Input((HOURS, CHANNELS)),
        layers.RNN(Flow(UNITS, dt=STEP_DAYS), name="flow"),
        layers.Dense(1, name="drift"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def update(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True)[:, 0] - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(N, seed=seed).batch(BATCH, drop_remainder=True)
for epoch in range(EPOCHS):
    losses = [float(update(xb, yb)) for xb, yb in data]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.5g}")

pred = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
print("SCORE drift_rmse", round(float(np.sqrt(np.mean((pred - y_test) ** 2))), 4))
