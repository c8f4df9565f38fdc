"""Recognises spoken digits from synthetic formant tracks, with a one-cycle learning rate."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, F, BATCH, EPOCHS = 24, 20, 64, 20
track = rng.uniform(2, F - 3, (10, 4, 2))


def make_words(n):
    y = rng.integers(0, 10, n)
    knots = track[y] + rng.normal(0, 1.0, (n, 4, 2))
    pos = np.linspace(0, 2.999, T)
    k, w = pos.astype(int), (pos % 1)[None, :, None]
    f = knots[:, k] * (1 - w) + knots[:, k + 1] * w
    b = np.arange(F)[None, None, :]
    x = sum(np.exp(-0.5 * (b - f[:, :, j : j + 1]) ** 2) for j in range(2)) + rng.normal(0, 0.6, (n, T, F))
    return x.astype("float32"), y


class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    """Linear rise to the peak over the first 30 percent, then a cosine down to a thousandth of it."""

    def __init__(self, peak, total_steps):
        self.peak, self.total_steps = peak, float(total_steps)

    def __call__(self, step):
        t = tf.minimum(tf.cast(step, tf.float32) / self.total_steps, 1.0)
        up = t / 0.3
        down = 0.5 * (1.0 + tf.cos(np.pi * (t - 0.3) / 0.7))
        return self.peak * tf.maximum(tf.where(t < 0.3, up, down), 1e-3)

    def get_config(self):
        return {"peak": self.peak, "total_steps": self.total_steps}


x_train, y_train = make_words(2560)
x_test, y_test = make_words(800)

model = keras.Sequential(
    [
        layers.Input((T, F)),
        layers.Conv1D(32, 3, activation="relu"),
        layers.MaxPooling1D(2),
        layers.GRU(32),
        layers.Dense(10, activation="softmax"),
    ]
)
gradwatch.watch(model)
model.compile(
    keras.optimizers.Adam(OneCycle(3e-3, total_steps=len(x_train) // BATCH)),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))
