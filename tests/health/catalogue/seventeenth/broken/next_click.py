"""Click prediction from what a visitor looked at before."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

N_ITEMS, N_GENRES, MAX_LEN = 600, 15, 16
PER_GENRE = N_ITEMS // N_GENRES


def item_of(genre):
    return 1 + genre + N_GENRES * rng.integers(0, PER_GENRE, genre.shape)


def visits(n):
    liked = np.argsort(rng.random((n, N_GENRES)), axis=1)[:, :2]
    pick = rng.integers(0, 2, (n, MAX_LEN))
    genre = np.where(
        rng.random((n, MAX_LEN)) < 0.8, np.take_along_axis(liked, pick, 1), rng.integers(0, N_GENRES, (n, MAX_LEN))
    )
    lengths = np.minimum(rng.poisson(7.5, n), MAX_LEN)
    hist = np.where(np.arange(MAX_LEN)[None] < lengths[:, None], item_of(genre), 0)
    label = (rng.random(n) < 0.5).astype("float32")
    cand = np.where(label > 0, item_of(liked[:, 0]), 1 + rng.integers(0, N_ITEMS, n))
    return hist.astype("int32"), cand.astype("int32"), label


class ClickModel(keras.Model):
    def __init__(self, dim=16):
        super().__init__()
        self.items = keras.layers.Embedding(N_ITEMS + 1, dim)
        self.hidden = keras.layers.Dense(48, activation="swish")
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        hist, cand = inputs
        seen = tf.cast(hist > 0, tf.float32)[..., None]
        count = tf.reduce_sum(seen, axis=1)
        total = tf.reduce_sum(self.items(hist) * seen, axis=1)
        profile = tf.where(count > 0, total / count, tf.zeros_like(total))
        target = self.items(cand)
        h = self.hidden(tf.concat([profile, target, profile * target], axis=-1))
        return tf.squeeze(self.out(h), -1)


def auc(y, s):
    return np.mean(s[y > 0.5][:, None] > s[y < 0.5][None])


h_tr, c_tr, y_tr = visits(60000)
h_te, c_te, y_te = visits(5000)

model = ClickModel()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
log = model.fit([h_tr, c_tr], y_tr, batch_size=64, epochs=9, verbose=2)

scores = model.predict([h_te, c_te], batch_size=1024, verbose=0)
value = auc(y_te, scores)
print(f"loss {log.history['loss'][-1]:.4f}  held-out AUC {value:.4f}")
