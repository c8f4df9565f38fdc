import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED + 3)

WINDOW = 64
CLASSES = 3


def make_windows(n):
    t = np.arange(WINDOW) / WINDOW
    label = rng.integers(0, CLASSES, n)
    speed = np.array([4.0, 7.0, 11.0])[label] + rng.normal(0, 0.4, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    gain = rng.uniform(0.3, 3.0, n)
    wave = gain[:, None] * np.sin(2 * np.pi * speed[:, None] * t + phase[:, None])
    wave += rng.normal(0, 0.2, (n, WINDOW)) * gain[:, None]
    stopped = rng.random(n) < 0.06
    wave[stopped] = 0.0
    label[stopped] = 0
    return wave[..., None].astype("float32"), label.astype("int32")


class InstanceNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        var = tf.reduce_mean(tf.square(x - mean), axis=1, keepdims=True)
        return (x - mean) / tf.sqrt(var + tf.cast(self.epsilon, x.dtype))


def build():
    signal = keras.Input((WINDOW, 1), name="signal")
    x = InstanceNorm(name="window_norm", dtype="float32")(signal)
    x = keras.layers.Conv1D(12, 9, strides=2, activation="relu", name="conv_1")(x)
    x = keras.layers.Conv1D(16, 5, strides=2, activation="relu", name="conv_2")(x)
    x = keras.layers.GlobalAveragePooling1D(name="pool")(x)
    x = keras.layers.Dense(24, activation="relu", name="fc")(x)
    out = keras.layers.Dense(CLASSES, activation="softmax", dtype="float32", name="state")(x)
    return keras.Model(signal, out)


x_train, y_train = make_windows(2400)
x_test, y_test = make_windows(600)

model = build()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])

probs = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean(np.argmax(probs, axis=-1) == y_test)))
