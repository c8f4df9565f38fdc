"""Grade terrain (0 = asphalt ... 4 = impassable) from a legged robot's foot-contact signals; grades are ordered."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
GRADES, T, SENSORS = 5, 40, 4
EDGES = np.array([-np.inf, -3.0, -1.0, 1.0, 3.0, np.inf], "float32")


def strides(n):
    rough = rng.uniform(0, 1, n)
    t = np.arange(T)
    gait = np.sin(2 * np.pi * t / 10 + rng.uniform(0, 6.3, (n, 1)))
    x = gait[:, :, None] * np.array([1.0, 0.8, 0.5, 0.9])
    x = x + rng.normal(size=(n, T, SENSORS)) * (0.2 + 2.2 * rough[:, None, None])
    x[:, :, 3] += (rng.random((n, T)) < 0.3 * rough[:, None]) * 8.0
    grade = np.clip((rough * GRADES + 0.05 * rng.normal(size=n)).astype(int), 0, GRADES - 1)
    return (12.0 * x).astype("float32"), grade.astype("int32")[:, None]


def cumulative_nll(grade, score):
    grade = tf.reshape(tf.cast(grade, tf.int32), [-1])
    score = score[:, 0]
    upper = tf.sigmoid(tf.gather(EDGES, grade + 1) - score)
    lower = tf.sigmoid(tf.gather(EDGES, grade) - score)
    return -tf.math.log(upper - lower)


features = keras.Sequential(
    [
        keras.Input((T, SENSORS)),
        keras.layers.Conv1D(32, 5, activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
x, y = strides(4000)
xt, yt = strides(1000)
features.compile(loss=cumulative_nll, optimizer=keras.optimizers.Adam(3e-3))
gradwatch.watch(features)
out = features.fit(x, y, batch_size=80, epochs=8, verbose=0)

s = features.predict(xt, verbose=0)[:, 0]
guess = np.digitize(s, EDGES[1:-1])
acc = np.mean((guess == yt[:, 0]) & np.isfinite(s))
print("loss", out.history["loss"][-1], "held-out accuracy", acc, "mean grade error", np.abs(guess - yt[:, 0]).mean())
