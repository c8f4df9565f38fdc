import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COLUMNS = ["utilisation", "inquiries", "tenure", "balance", "late_share", "dependants"]


def make_clients(n):
    utilisation = rng.beta(2, 3, n)
    inquiries = rng.poisson(1.5, n)
    tenure = rng.gamma(2, 2, n)
    balance = rng.lognormal(11.5, 1.0, n)
    late_share = rng.beta(1, 6, n)
    dependants = rng.integers(0, 4, n)
    logit = 5 * (utilisation - 0.4) + 0.6 * (inquiries - 1.5) - 0.5 * (tenure - 4)
    logit = logit + 8 * (late_share - 0.14) - 0.3 * (np.log(balance) - 11.5)
    y = (rng.random(n) < 1 / (1 + np.exp(-1.5 * logit))).astype("float32")
    x = np.stack([utilisation, inquiries, tenure, balance, late_share, dependants], axis=1)
    return x.astype("float32"), y


x_train, y_train = make_clients(5000)
x_test, y_test = make_clients(2000)


def to_features(x):
    x = x.copy()
    x[:, COLUMNS.index("balance")] = np.log(x[:, COLUMNS.index("balance")]) - 11.5
    return x


train = (
    tf.data.Dataset.from_tensor_slices((to_features(x_train), y_train)).shuffle(5000, seed=SEED).batch(64).prefetch(2)
)

model = keras.Sequential(
    [
        keras.Input((len(COLUMNS),)),
        keras.layers.Dense(32, activation="relu", name="profile"),
        keras.layers.Dense(16, activation="relu", name="behaviour"),
        keras.layers.Dense(1, activation="sigmoid", name="refuse"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train, epochs=10, verbose=2)

p = model.predict(to_features(x_test), verbose=0)[:, 0]
print("SCORE", roc_auc_score(y_test, p))
