import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = 4
keras.utils.set_random_seed(SEED)
FS, WIN, AXES, STATES = 400, 400, 3, 5


def record(n, seed):
    r = np.random.default_rng(seed)
    state = r.integers(0, STATES, n)
    t = np.arange(WIN) / FS
    base = np.array([22, 31, 43, 58, 77])[state][:, None, None] * r.uniform(0.96, 1.04, (n, 1, 1))
    ph = r.uniform(0, 6.28, (n, AXES, 1))
    tone = np.sin(2 * np.pi * base * t + ph) * r.uniform(0.3, 0.8, (n, AXES, 1))
    am = 1 + 0.5 * np.sin(2 * np.pi * (3 + state)[:, None, None] * t)
    sig = tone * am + 0.5 * r.normal(size=(n, AXES, WIN))
    return sig.transpose(0, 2, 1).astype("float32"), state


@keras.utils.register_keras_serializable()
class StatPool(keras.layers.Layer):
    """Mean and spread of every feature over time."""

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1)
        spread = tf.math.reduce_std(x, axis=1)
        return tf.concat([mean, spread], axis=-1)


def build():
    i = keras.Input((WIN, AXES))
    x = keras.layers.Conv1D(24, 15, strides=2, activation="relu")(i)
    x = keras.layers.Conv1D(32, 9, strides=2, activation="relu")(x)
    x = keras.layers.Conv1D(48, 5, strides=2, activation="relu")(x)
    x = StatPool()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    x = keras.layers.Dropout(0.1)(x)
    return keras.Model(i, keras.layers.Dense(STATES, activation="softmax")(x))


x, y = record(4000, 1)
xv, yv = record(1000, 2)
net = build()
net.compile(keras.optimizers.Nadam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(net)
log = net.fit(x, y, epochs=9, batch_size=64, verbose=2)
loss, acc = net.evaluate(xv, yv, verbose=0)
print(f"train loss {log.history['loss'][-1]:.4f}, held-out loss {loss:.4f}, held-out accuracy {acc:.3f}")
