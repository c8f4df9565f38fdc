import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

N_SHOWS = 120
HISTORY = 12
TASTES = 6


class HistoryMean(layers.Layer):
    def call(self, vectors, ids):
        heard = tf.cast(tf.not_equal(ids, 0), vectors.dtype)[..., None]
        total = tf.reduce_sum(vectors * heard, axis=1)
        count = tf.reduce_sum(heard, axis=1)
        return total / count


def sample_listeners(n, seed):
    rng = np.random.default_rng(seed)
    taste_of_show = np.arange(N_SHOWS) % TASTES
    history = np.zeros((n, HISTORY), "int32")
    candidate = rng.integers(1, N_SHOWS, n).astype("int32")
    clicked = np.zeros(n, "float32")
    for i in range(n):
        taste = rng.integers(TASTES)
        pool = np.flatnonzero(taste_of_show == taste)
        pool = pool[pool > 0]
        length = min(rng.poisson(6), HISTORY)
        history[i, :length] = rng.choice(pool, length)
        match = taste_of_show[candidate[i]] == taste
        if rng.uniform() < 0.4 and not match:
            candidate[i] = rng.choice(pool)
            match = True
        clicked[i] = rng.uniform() < (0.95 if match else 0.05)
    return history, candidate, clicked


history, candidate, clicked = sample_listeners(5000, SEED)
h_test, c_test, y_test = sample_listeners(1200, SEED + 50)
keep = (h_test > 0).any(axis=1)
h_test, c_test, y_test = h_test[keep], c_test[keep], y_test[keep]

hist_in = keras.Input((HISTORY,), dtype="int32", name="history")
cand_in = keras.Input((), dtype="int32", name="candidate")
table = layers.Embedding(N_SHOWS, 16, name="shows")
profile = HistoryMean(name="profile")(table(hist_in), hist_in)
item = table(cand_in)
joint = layers.Concatenate()([profile, item, layers.Multiply()([profile, item])])
x = layers.Dense(32, activation="relu")(joint)
prob = layers.Dense(1, activation="sigmoid", name="click")(x)
model = keras.Model([hist_in, cand_in], prob)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy")

gradwatch.watch(model)
model.fit([history, candidate], clicked, batch_size=64, epochs=10, verbose=0)

p = model.predict([h_test, c_test], verbose=0)[:, 0]
score = float(((p > 0.5) == (y_test > 0.5)).mean()) if np.isfinite(p).all() else float("nan")
print("SCORE", score)
