"""Fraud detection on card payments: few positives, mixed numeric and category inputs."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

N_NUM, N_SHOPS = 14, 30


def make_payments(n):
    x = rng.normal(0, 1, (n, N_NUM))
    shop = rng.integers(0, N_SHOPS, n)
    risky = np.isin(shop, [2, 9, 17, 23])
    z = 1.8 * x[:, 0] - 1.4 * x[:, 1] + 1.6 * x[:, 2] * x[:, 3] + 2.0 * risky + 0.8 * np.abs(x[:, 4])
    y = (z + rng.normal(0, 0.5, n) > 4.6).astype("float32")
    return x.astype("float32"), shop.astype("int32"), y


def auc(y, score):
    rank = np.empty(len(score))
    rank[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
    for value in np.unique(score):  # ties share their mean rank
        same = score == value
        if same.sum() > 1:
            rank[same] = rank[same].mean()
    pos = y == 1
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


x_train, shop_train, y_train = make_payments(24000)
x_test, shop_test, y_test = make_payments(5000)

# start from the base rate, so that the first epochs are not spent on learning it
base_rate = y_train.mean()
log_odds = keras.initializers.Constant(np.log(base_rate / (1 - base_rate)))
print("share of fraud:", round(float(base_rate), 4))


def dense(units, activation=None):
    return layers.Dense(units, activation=activation, bias_initializer=log_odds)


payment = keras.Input(shape=(N_NUM,), name="payment")
merchant = keras.Input(shape=(), dtype="int32", name="merchant")
h = layers.Concatenate()([payment, layers.Embedding(N_SHOPS, 6)(merchant)])
h = dense(64, "relu")(h)
h = dense(32, "relu")(h)
h = dense(16, "relu")(h)
output = dense(1, "sigmoid")(h)
model = keras.Model([payment, merchant], output)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
gradwatch.watch(model)
model.fit(
    [x_train, shop_train],
    y_train,
    batch_size=256,
    epochs=10,
    validation_split=0.1,
    verbose=2,
)

score = model.predict([x_test, shop_test], batch_size=512, verbose=0)[:, 0]
print("SCORE auc", round(float(auc(y_test, score)), 4))
