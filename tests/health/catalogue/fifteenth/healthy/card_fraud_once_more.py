"""Card fraud: about two in a hundred payments are bad; focal loss on a small network."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 130)

N_TRAIN, N_TEST = 24000, 8000
BATCH = 256
EPOCHS = 8


def payments(n):
    bad = rng.random(n) < 0.02
    amount = rng.lognormal(3.2, 1.0, n) * np.where(bad, rng.choice([0.3, 4.0], n), 1.0)
    hour = np.where(bad, rng.normal(3, 2.5, n), rng.normal(15, 4, n)) % 24
    km_from_home = rng.exponential(np.where(bad, 160, 20))
    minutes_since_last = rng.exponential(np.where(bad, 40, 600))
    tries = rng.poisson(np.where(bad, 0.8, 0.1))
    new_shop = rng.random(n) < np.where(bad, 0.7, 0.25)
    x = np.stack(
        [
            np.log(amount) - 3.2,
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            np.log1p(km_from_home) - 3.0,
            np.log1p(minutes_since_last) / 2 - 2.5,
            tries,
            new_shop,
        ],
        axis=1,
    )
    return x.astype("float32"), bad.astype("float32")


def auc(label, score):
    rank = np.empty(len(score))
    rank[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
    pos = label > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (rank[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


x_train, y_train = payments(N_TRAIN)
x_test, y_test = payments(N_TEST)
print("bad payments", int(y_train.sum()), "of", N_TRAIN)

prior = float(y_train.mean())
model = keras.Sequential(
    [
        layers.Input((x_train.shape[1],)),
        layers.Dense(32),
        layers.LeakyReLU(negative_slope=0.1),
        layers.Dense(32),
        layers.LeakyReLU(negative_slope=0.1),
        layers.Dense(
            1,
            activation="sigmoid",
            kernel_initializer="zeros",
            bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior))),
        ),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.75, gamma=2.0),
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

prob = model.predict(x_test, batch_size=2000, verbose=0)[:, 0]
print("score", round(float(auc(y_test, prob)), 4))
