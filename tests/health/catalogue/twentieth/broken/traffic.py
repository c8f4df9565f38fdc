"""Forecast which service class a subscriber cell will saturate with, from raw interface counters."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(55)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(55)
PORTS, HOURS, CLASSES = 6, 12, 4


class Counters:
    """Hourly packet counters of a cell (in thousands of packets)."""

    def __init__(self, n):
        self.label = rng.integers(0, CLASSES, n)
        profile = PROFILES[self.label]
        level = rng.lognormal(0.0, 0.55, (n, 1, 1))
        self.counters = 60.0 * level * np.exp(profile + 0.45 * rng.normal(size=(n, HOURS, PORTS)))

    def tensors(self):
        return self.counters.astype("float32"), self.label.astype("int32")


class PowerPool(keras.layers.Layer):
    """Root-mean-square over the hours, per channel, beside the mean."""

    def call(self, x):
        total = tf.reduce_sum(x * x, axis=1)
        rms = tf.sqrt(total / x.shape[1] + 1e-3)
        return tf.concat([rms, tf.reduce_mean(x, axis=1)], -1)


PROFILES = 0.6 * np.random.default_rng(1).normal(size=(CLASSES, HOURS, PORTS)) * np.linspace(0.2, 1, HOURS)[
    :, None
] + 0.5 * np.random.default_rng(2).normal(size=(CLASSES, 1, PORTS))
x, y = Counters(6000).tensors()
xv, yv = Counters(1200).tensors()

inp = keras.Input((HOURS, PORTS))
h = PowerPool()(inp)
h = keras.layers.Rescaling(1 / 100.0, dtype="float32")(h)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, keras.layers.Dense(CLASSES, dtype="float32")(h))
base = keras.optimizers.Adam(3e-3)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def update(xb, yb):
    with tf.GradientTape() as tape:
        loss = criterion(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    base.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model, base)
for epoch in range(8):
    order = rng.permutation(len(x))
    for k in range(0, len(x) - 63, 64):
        j = order[k : k + 64]
        loss = update(x[j], y[j])
logits = model.predict(xv, verbose=0)
ok = np.isfinite(logits).all(1) & (logits.argmax(1) == yv)
print(f"loss {float(loss):.4f}  held-out accuracy {ok.mean():.3f}")
