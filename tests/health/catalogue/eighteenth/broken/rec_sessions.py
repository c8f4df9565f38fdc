import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
ITEMS, LENGTH = 120, 9

# Shoppers drift between neighbouring products of one aisle; an aisle is a ring of 12 products.
aisle = np.arange(ITEMS) // 12


def sessions(n):
    seq = np.zeros((n, LENGTH), "int32")
    cur = rng.integers(0, ITEMS, n)
    pace = rng.integers(1, 4, n)
    for t in range(LENGTH):
        seq[:, t] = cur
        nxt = aisle[cur] * 12 + (cur % 12 + pace) % 12
        cur = np.where(rng.random(n) < 0.12, rng.integers(0, ITEMS, n), nxt)
    return seq[:, :-1], seq[:, -1]


def recommender():
    s = keras.Input((LENGTH - 1,), dtype="int32")
    e = layers.Embedding(ITEMS, 32)(s)
    h = layers.GRU(64)(e)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(s, layers.Dense(ITEMS)(h))


x, y = sessions(8000)
xv, yv = sessions(2000)
net = recommender()
net.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
plan = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.3, patience=1, mode="max", min_lr=0.0)
gradwatch.watch(net)
h = net.fit(x, y, batch_size=128, epochs=14, verbose=2, callbacks=[plan])
top = np.argsort(-net.predict(xv, verbose=0), 1)[:, :5]
print(
    "loss %.4f  held-out hit@5 %.4f  hit@1 %.4f"
    % (h.history["loss"][-1], np.mean((top == yv[:, None]).any(1)), np.mean(top[:, 0] == yv))
)
