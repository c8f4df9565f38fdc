"""Ranks a video feed: will it be opened, and how long will it be watched."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)

USERS, VIDEOS, K = 800, 400, 4
taste = rng.normal(size=(USERS, K))
topic = rng.normal(size=(VIDEOS, K))
length = np.exp(rng.normal(5.2, 0.7, VIDEOS))
patience = rng.beta(2, 2, USERS)


def impressions(n):
    u, v = rng.integers(0, USERS, n), rng.integers(0, VIDEOS, n)
    hour = rng.uniform(0, 24, n)
    affinity = 1.3 * np.sum(taste[u] * topic[v], -1) / np.sqrt(K)
    opened = rng.random(n) < 1 / (1 + np.exp(-2.0 * affinity))
    watched = length[v] * np.clip(
        patience[u] + 0.15 * np.sin(hour / 24 * 2 * np.pi) + rng.normal(0, 0.15, n), 0.02, 1.0
    )
    context = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi)], 1).astype("float32")
    inputs = {"user": u.astype("int32"), "video": v.astype("int32"), "context": context}
    targets = {"open": opened.astype("float32")[:, None], "seconds": watched.astype("float32")[:, None]}
    return inputs, targets


def build(dim=8):
    user = keras.Input((), dtype="int32", name="user")
    video = keras.Input((), dtype="int32", name="video")
    context = keras.Input((2,), name="context")
    ue = layers.Embedding(USERS, dim)(user)
    ve = layers.Embedding(VIDEOS, dim)(video)
    x = layers.Concatenate()([ue, ve, layers.Multiply()([ue, ve]), context])
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dense(32, activation="relu")(x)
    opened = layers.Dense(1, activation="sigmoid", name="open")(x)
    seconds = layers.Dense(1, name="seconds")(x)
    return keras.Model({"user": user, "video": video, "context": context}, {"open": opened, "seconds": seconds})


def auc(y, s):
    order = np.argsort(s, kind="stable")
    rank = np.empty(len(s))
    rank[order] = np.arange(1, len(s) + 1)
    n1 = y.sum()
    return (rank[y > 0.5].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(y) - n1))


train_in, train_out = impressions(120000)
test_in, test_out = impressions(10000)

model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"open": "binary_crossentropy", "seconds": "mse"},
    loss_weights={"open": 1.0, "seconds": 1.0},
)
gradwatch.watch(model)
h = model.fit(train_in, train_out, batch_size=256, epochs=15, verbose=2)

pred = model.predict(test_in, batch_size=2000, verbose=0)
score = auc(test_out["open"][:, 0], pred["open"][:, 0])
mae = np.abs(pred["seconds"] - test_out["seconds"]).mean()
print(f"loss {h.history['loss'][-1]:.4f}  held-out seconds MAE {mae:.1f}  held-out open AUC {score:.4f}")
