"""Card fraud from merchant, country and payment features; three in a hundred are fraud."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MERCHANTS = 6000
COUNTRIES = 40
BATCH = 128
EPOCHS = 4

popularity = 1.0 / np.arange(1, MERCHANTS + 1) ** 1.25
popularity /= popularity.sum()
merchant_risk = rng.normal(0, 1.4, MERCHANTS)
country_risk = rng.normal(0, 1.5, COUNTRIES)


def make_payments(n):
    merchant = rng.choice(MERCHANTS, size=n, p=popularity)
    country = rng.integers(0, COUNTRIES, n)
    log_amount = rng.normal(3.5, 1.1, n)
    hour = rng.integers(0, 24, n)
    new_device = (rng.random(n) < 0.12).astype(float)
    night = ((hour < 5) | (hour > 22)).astype(float)
    logit = (
        -6.0
        + merchant_risk[merchant]
        + country_risk[country]
        + 0.7 * (log_amount - 3.5)
        + 1.2 * night
        + 1.6 * new_device
    )
    label = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")
    numeric = np.stack(
        [
            (log_amount - 3.5) / 1.1,
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            new_device,
        ],
        axis=1,
    ).astype("float32")
    inputs = {
        "merchant": merchant.astype("int32"),
        "country": country.astype("int32"),
        "numeric": numeric,
    }
    return inputs, label


def rank_auc(label, prob):
    ranks = np.empty(len(prob))
    ranks[np.argsort(prob)] = np.arange(1, len(prob) + 1)
    pos = label == 1
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


x_train, y_train = make_payments(30000)
x_test, y_test = make_payments(10000)
print("fraud share %.3f" % y_train.mean())

merchant = keras.Input((), dtype="int32", name="merchant")
country = keras.Input((), dtype="int32", name="country")
numeric = keras.Input((4,), name="numeric")
h = layers.Concatenate()(
    [
        layers.Embedding(MERCHANTS, 8)(merchant),
        layers.Embedding(COUNTRIES, 4)(country),
        numeric,
    ]
)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(16, activation="relu")(h)
output = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model({"merchant": merchant, "country": country, "numeric": numeric}, output)

model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss="binary_crossentropy")
watch = gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
    class_weight={0: 1.0, 1: float((1 - y_train.mean()) / y_train.mean())},
)

prob = model.predict(x_test, verbose=0)[:, 0]
score = float(rank_auc(y_test, prob))
print("score", score)
