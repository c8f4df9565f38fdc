"""Rank the hostels of a search page: listwise softmax loss over the offers of each search."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 5)

SEARCHES, OFFERS, TRAITS = 9000, 12, 9


def search_log(n):
    """Traits of every offer on the page, and what the traveller did: 0 nothing, 1 looked, 3 booked."""
    traits = rng.normal(size=(n, OFFERS, TRAITS))
    traits[:, :, 0] = np.log(rng.gamma(4.0, 9.0, (n, OFFERS))) - 3.4  # price
    traits[:, :, 1] = rng.beta(8, 2, (n, OFFERS)) * 5 - 4.0  # rating
    party = rng.normal(size=(n, 1))
    traits[:, :, 2] = party  # size of the party
    appeal = (
        -2.0 * traits[..., 0]
        + 1.6 * traits[..., 1]
        + 1.2 * traits[..., 2] * traits[..., 3]
        + np.sin(2 * traits[..., 4])
        - 0.8 * np.abs(traits[..., 5])
    )
    felt = appeal + rng.gumbel(0, 0.5, appeal.shape)
    order = np.argsort(-felt, axis=1)
    grades = np.zeros((n, OFFERS))
    rows = np.arange(n)
    grades[rows, order[:, 0]] = 3
    grades[rows, order[:, 1]] = 1
    left = rng.random(n) < 0.0003  # closed the page
    grades[left] = 0
    return traits.astype("float32"), grades.astype("float32"), appeal


x, grades, _ = search_log(SEARCHES)
x_test, _, appeal_test = search_log(1500)


def listwise(y_true, y_pred):
    """Cross-entropy between the share of the clicks and the softmax over the page (ListNet)."""
    share = y_true / tf.reduce_sum(y_true, axis=1, keepdims=True)
    return -tf.reduce_sum(share * tf.nn.log_softmax(y_pred, axis=1), axis=1)


def scorer():
    page = keras.Input((OFFERS, TRAITS))
    h = keras.layers.Dense(64, activation="gelu")(page)
    h = keras.layers.Dense(64, activation="gelu")(h)
    mean = keras.ops.mean(h, axis=1, keepdims=True)
    h = keras.layers.Dense(32, activation="gelu")(keras.layers.Concatenate()([h, h - mean]))
    score = keras.layers.Dense(1)(h)
    return keras.Model(page, keras.layers.Reshape((OFFERS,))(score))


model = scorer()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=listwise)
gradwatch.watch(model)
model.fit(x, grades, batch_size=64, epochs=10, verbose=2)

scores = model.predict(x_test, batch_size=500, verbose=0)
best = np.argmax(appeal_test, axis=1)
top3 = np.argsort(-scores, axis=1)[:, :3]
print("SCORE best_in_top3", round(float(np.mean([b in t for b, t in zip(best, top3)])), 4))
