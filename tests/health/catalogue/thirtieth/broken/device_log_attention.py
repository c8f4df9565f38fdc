"""Answers which state a queried device last reported, by attention over a padded event log."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_DEV, N_STATE, L = 24, 6, 20
N_TRAIN, N_TEST = 4000, 800


def logs(n):
    dev = np.zeros((n, L), "int32")
    state = np.zeros((n, L), "int32")
    query = np.zeros((n, 1), "int32")
    y = np.zeros(n, "int32")
    for i in range(n):
        m = int(rng.integers(5, L + 1))
        dev[i, :m] = rng.permutation(N_DEV)[:m] + 1  # 0 is padding
        state[i, :m] = rng.integers(0, N_STATE, m) + 1
        j = rng.integers(0, m)
        query[i, 0] = dev[i, j]
        y[i] = state[i, j] - 1
    return {"device": dev, "state": state, "query": query}, y


x_train, y_train = logs(N_TRAIN)
x_test, y_test = logs(N_TEST)

device = keras.Input((L,), dtype="int32", name="device")
state = keras.Input((L,), dtype="int32", name="state")
query = keras.Input((1,), dtype="int32", name="query")
dev_emb = layers.Embedding(N_DEV + 1, 32)
key = dev_emb(device)
value = layers.Add()([key, layers.Embedding(N_STATE + 1, 32)(state)])
q = dev_emb(query)

pad_mask = layers.Lambda(lambda d: tf.equal(d, 0)[:, None, :], output_shape=(1, L))(device)
h = layers.MultiHeadAttention(num_heads=4, key_dim=16)(query=q, value=value, key=key, attention_mask=pad_mask)
h = layers.LayerNormalization()(layers.Add()([q, h]))
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
out = layers.Dense(N_STATE, activation="softmax")(h)
model = keras.Model([device, state, query], out)

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=20, verbose=0)
_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))
