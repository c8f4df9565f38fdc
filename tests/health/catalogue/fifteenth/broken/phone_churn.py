"""Which subscribers leave next month? Call records, one row per line."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 10)

N_TRAIN, N_TEST = 14000, 4000
BATCH = 64
EPOCHS = 3


def subscribers(n):
    tenure = rng.gamma(2.0, 14.0, n)
    fee = rng.choice([9.0, 19.0, 29.0, 49.0], n)
    calls = 1 + rng.poisson(rng.lognormal(3.4, 0.5, n))
    just_ported = rng.random(n) < 0.0008
    calls[just_ported] = 0
    drop_rate = rng.beta(1.3, 12.0, n)
    dropped = rng.binomial(calls, drop_rate)
    helpline = rng.poisson(0.3 + 6.0 * drop_rate)
    data_gb = rng.lognormal(1.0, 0.9, n)
    roaming = (rng.random(n) < 0.12).astype(float)
    risk = (
        14.0 * drop_rate
        + 0.5 * helpline
        - 0.05 * tenure
        + 0.03 * (fee - 25.0) * (data_gb < 2.0)
        + 0.9 * roaming * (fee > 20.0)
    )
    churned = rng.random(n) < 1.0 / (1.0 + np.exp(-(1.7 * risk - 1.6)))
    table = dict(
        tenure=tenure, fee=fee, calls=calls, dropped=dropped, helpline=helpline, data_gb=data_gb, roaming=roaming
    )
    return table, churned.astype("float32")


def features(t):
    drop_ratio = t["dropped"] / t["calls"]
    return np.stack(
        [
            t["tenure"] / 30.0,
            t["fee"] / 50.0,
            np.log1p(t["calls"]) / 4.0,
            drop_ratio * 5.0,
            t["helpline"] / 3.0,
            np.log1p(t["data_gb"]),
            t["roaming"],
        ],
        axis=1,
    ).astype("float32")


def auc(label, score):
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = label > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (rank[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


table, y_train = subscribers(N_TRAIN)
x_train = features(table)
table, y_test = subscribers(N_TEST)
x_test = features(table)
print("churn share", y_train.mean())

model = keras.Sequential(
    [
        keras.layers.Input((x_train.shape[1],)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.Dropout(0.1),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

prob = model.predict(x_test, batch_size=1000, verbose=0)[:, 0]
print("score", round(float(auc(y_test, prob)), 4))
