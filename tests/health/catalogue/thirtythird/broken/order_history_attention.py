"""Attention over a customer's padded order history, to answer how an asked product was last delivered."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


N_PROD, N_MODE, L = 30, 5, 14


def make(n):
    length = rng.integers(3, L + 1, n)
    prod = np.argsort(rng.random((n, N_PROD)), axis=1)[:, :L] + 1
    mode = rng.integers(1, N_MODE + 1, (n, L))
    pick = (rng.random(n) * length).astype(int)
    row = np.arange(n)
    asked, answer = prod[row, pick], mode[row, pick] - 1
    pad = np.arange(L)[None] >= length[:, None]
    prod[pad], mode[pad] = 0, 0
    return [prod.astype("int32"), mode.astype("int32"), asked[:, None].astype("int32")], answer.astype("int32")


x_train, y_train = make(10000)
x_test, y_test = make(2000)

prod_in = keras.Input((L,), dtype="int32", name="products")
mode_in = keras.Input((L,), dtype="int32", name="modes")
asked_in = keras.Input((1,), dtype="int32", name="asked")
prod_emb = layers.Embedding(N_PROD + 1, 32, name="product_embedding")
mode_emb = layers.Embedding(N_MODE + 1, 32, name="mode_embedding")

history = layers.Concatenate()([prod_emb(prod_in), mode_emb(mode_in)])
query = prod_emb(asked_in)
mask = keras.ops.expand_dims(keras.ops.equal(prod_in, 0), axis=1)
att = layers.MultiHeadAttention(num_heads=2, key_dim=24, name="attention")
h = att(query, history, attention_mask=mask)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="relu")(h)
out = layers.Dense(N_MODE, activation="softmax")(h)
model = keras.Model([prod_in, mode_in, asked_in], out)

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
