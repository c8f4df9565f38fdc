"""Learns item representations from shopping sessions by hiding items and predicting them (BERT4Rec style)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ITEMS, LEN, MASK = 120, 16, 0
follow = np.stack([rng.permutation(N_ITEMS) for _ in range(3)])


def make_sessions(n):
    out = np.zeros((n, LEN), dtype="int32")
    out[:, 0] = rng.integers(0, N_ITEMS, n)
    for t in range(1, LEN):
        which = rng.choice(3, size=n, p=[0.8, 0.15, 0.05])
        out[:, t] = follow[which, out[:, t - 1]]
    return out + 1  # 0 is kept for the mask token


def hide_items(sessions, rate=0.2):
    inputs = sessions
    hidden = rng.random(sessions.shape) < rate
    inputs[hidden] = MASK
    return inputs, sessions, hidden.astype("float32")


train = make_sessions(6000)
test = make_sessions(800)
x_train, y_train, w_train = hide_items(train)

d = 48
tokens = keras.Input((LEN,), dtype="int32")
positions = layers.Embedding(LEN, d)(tf.range(LEN)[None])
h = layers.Embedding(N_ITEMS + 1, d)(tokens) + positions
for _ in range(2):
    a = layers.MultiHeadAttention(2, d // 2)(h, h)
    h = layers.LayerNormalization()(h + a)
    f = layers.Dense(2 * d, activation="gelu")(h)
    f = layers.Dense(d)(f)
    h = layers.LayerNormalization()(h + f)
logits = layers.Dense(N_ITEMS + 1)(h)
model = keras.Model(tokens, logits)

gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x_train, y_train, sample_weight=w_train, batch_size=64, epochs=8, verbose=2)

place = rng.integers(1, LEN - 1, len(test))
rows = np.arange(len(test))
truth = test[rows, place].copy()
asked = test.copy()
asked[rows, place] = MASK
pred = model.predict(asked, verbose=0)[rows, place]
top5 = np.argsort(-pred, axis=-1)[:, :5]
print("SCORE hit_at_5", float(np.mean(np.any(top5 == truth[:, None], axis=1))))
