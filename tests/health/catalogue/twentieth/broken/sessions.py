"""Will a web session end in a sign-up?  Small transformer over page ids and dwell times."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
PAGES, T, D = 40, 20, 32


def make_sessions(n):
    pages = rng.integers(1, PAGES, size=(n, T))
    dwell = rng.gamma(2.0, 0.5, size=(n, T)).astype("float32")
    # pricing (3) and docs (7), weighted by the time spent on them
    pages[rng.random((n, T)) < 0.08] = 3
    pages[rng.random((n, T)) < 0.08] = 7
    s = ((pages == 3) * dwell).sum(1) - ((pages == 7) * dwell).sum(1)
    y = (s + rng.normal(0, 0.3, n) > 0).astype("float32")
    return pages.astype("int32"), dwell[..., None], y[:, None]


class Noam(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup):
        self.d_model, self.warmup = float(d_model), float(warmup)

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return self.d_model**-0.5 * tf.minimum(step**-0.5, step * self.warmup**-1.5)


def block(x):
    a = layers.MultiHeadAttention(4, D // 4)(x, x)
    x = layers.LayerNormalization()(x + a)
    f = layers.Dense(64, activation="relu")(x)
    f = layers.Dense(D)(f)
    return layers.LayerNormalization()(x + f)


def build():
    p = keras.Input((T,), dtype="int32")
    d = keras.Input((T, 1))
    x = layers.Embedding(PAGES, D)(p) + layers.Dense(D)(d)
    x = block(block(x))
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model([p, d], layers.Dense(1)(x))


p, d, y = make_sessions(6000)
pv, dv, yv = make_sessions(1500)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(Noam(D, warmup=20), beta_2=0.98, epsilon=1e-9),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
)
gradwatch.watch(model)
h = model.fit([p, d], y, batch_size=64, epochs=5, verbose=0)
acc = np.mean((model.predict([pv, dv], verbose=0) > 0) == (yv > 0.5))
print(f"loss {h.history['loss'][-1]:.4f}  held-out accuracy {acc:.3f}")
