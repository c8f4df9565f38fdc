"""Expected damages awarded per lawsuit (many awards are nil), a compound Poisson model with the deviance as loss."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

POWER = 1.5
COURTS, KINDS = 12, 8


def docket(n):
    court = rng.integers(0, COURTS, n)
    kind = rng.integers(0, KINDS, n)
    months = rng.gamma(3.0, 6.0, n)
    counsel = rng.integers(0, 2, n)
    claim = rng.lognormal(2.0, 0.6, n)
    rate = np.exp(-0.9 + 0.12 * (kind - 3.5) + 0.5 * counsel + 0.05 * (court % 4))
    mean = np.exp(0.5 * (np.log(claim) - 2.0) + 0.02 * (months - 18) - 0.1 * (kind % 3))
    events = rng.poisson(rate)
    award = np.array([rng.gamma(2.0, m / 2.0, k).sum() if k else 0.0 for k, m in zip(events, mean)])
    num = np.stack([months, counsel, np.log(claim)], 1)
    return court, kind, num, award, rate * mean


court, kind, num, award, _ = docket(20000)
court_t, kind_t, num_t, award_t, true_t = docket(4000)
mu, sd = num.mean(0), num.std(0)


def pack(c, k, m):
    return {
        "court": c.astype("int32"),
        "kind": k.astype("int32"),
        "facts": ((m - mu) / sd).astype("float32"),
    }


def deviance(y_true, y_pred):
    a = y_true * ops.power(y_pred, 1.0 - POWER) / (1.0 - POWER)
    b = ops.power(y_pred, 2.0 - POWER) / (2.0 - POWER)
    return ops.mean(b - a, axis=-1)


court_in = keras.Input((), dtype="int32", name="court")
kind_in = keras.Input((), dtype="int32", name="kind")
facts = keras.Input((3,), name="facts")
h = layers.Concatenate()([layers.Embedding(COURTS, 4)(court_in), layers.Embedding(KINDS, 4)(kind_in), facts])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
mean_award = layers.Dense(1, activation="relu", bias_initializer="ones", name="mean_award")(h)
model = keras.Model([court_in, kind_in, facts], mean_award)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=deviance)
gradwatch.watch(model)

model.fit(
    pack(court, kind, num),
    award[:, None].astype("float32"),
    batch_size=128,
    epochs=14,
    validation_split=0.1,
    verbose=2,
)

pred = model.predict(pack(court_t, kind_t, num_t), batch_size=512, verbose=0)[:, 0]
corr = np.corrcoef(pred, true_t)[0, 1]
print("mean award", award_t.mean(), "mean predicted", pred.mean())
print("SCORE mean_corr", round(float(corr), 4))
