import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

RATE = 0.01


def ledger(n, seed):
    rng = np.random.default_rng(seed)
    fraud = (rng.uniform(size=n) < RATE).astype("float32")
    amount = rng.lognormal(3.0, 1.0, n)
    hour = rng.uniform(0, 24, n)
    distance = rng.exponential(5.0, n)
    tries = rng.poisson(0.2, n)
    age_days = rng.exponential(400, n)
    hit = fraud > 0
    k = int(hit.sum())
    amount[hit] *= rng.lognormal(1.2, 0.5, k)
    distance[hit] += rng.exponential(60.0, k)
    tries[hit] += rng.poisson(2.5, k)
    age_days[hit] *= 0.3
    x = np.stack(
        [
            np.log(amount),
            np.sin(hour * np.pi / 12),
            np.cos(hour * np.pi / 12),
            np.log1p(distance),
            tries,
            np.log1p(age_days),
        ],
        axis=1,
    )
    return x.astype("float32"), fraud


x_train, y_train = ledger(24000, SEED)
x_test, y_test = ledger(12000, SEED + 5)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

share = float(y_train.mean())
log_odds = float(np.log(share / (1 - share)))

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="sigmoid", name="fraud", bias_initializer=keras.initializers.Constant(log_odds)),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(curve="PR", name="ap")],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=0, class_weight={0: 1.0, 1: 8.0})

p = model.predict(x_test, batch_size=512, verbose=0)[:, 0]
print("SCORE", float(average_precision_score(y_test, p)))
