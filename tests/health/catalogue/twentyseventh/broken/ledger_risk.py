"""Probability that an invoice is paid late, from the customer's ledger."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
N, SECTORS = 9000, 12

sector = rng.integers(0, SECTORS, N)
sector_risk = rng.normal(0, 0.8, SECTORS)
numeric = rng.normal(0, 1, (N, 8)).astype("float32")
score = (
    1.4 * numeric[:, 0] * numeric[:, 1]
    + 1.2 * np.abs(numeric[:, 2])
    - 1.0 * numeric[:, 3]
    + 1.1 * np.sin(2 * numeric[:, 4])
    + sector_risk[sector]
)
score = 2.0 * (score - score.mean()) / score.std()
late = (rng.random(N) < 1 / (1 + np.exp(-2.0 * score))).astype("float32")
overdue_days = np.maximum(0, 8 * score + rng.normal(0, 3, N)).astype("float32")

cut = 7000
train = ({"sector": sector[:cut], "numeric": numeric[:cut]}, {"late": late[:cut], "days": overdue_days[:cut] / 10})
test = ({"sector": sector[cut:], "numeric": numeric[cut:]}, {"late": late[cut:], "days": overdue_days[cut:] / 10})


def tower(x, units, keep_prob):
    x = layers.Dense(units, activation="relu")(x)
    x = layers.LayerNormalization()(x)
    return layers.Dropout(keep_prob)(x)


sector_in = layers.Input((), dtype="int32", name="sector")
numeric_in = layers.Input((8,), name="numeric")
e = layers.Embedding(SECTORS, 4)(sector_in)
x = layers.Concatenate()([e, numeric_in])
x = tower(x, 64, keep_prob=0.9)
x = tower(x, 64, keep_prob=0.9)
x = tower(x, 32, keep_prob=0.9)
late_out = layers.Dense(1, activation="sigmoid", name="late")(x)
days_out = layers.Dense(1, activation="softplus", name="days")(x)
model = keras.Model({"sector": sector_in, "numeric": numeric_in}, {"late": late_out, "days": days_out})

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"late": "binary_crossentropy", "days": "huber"},
    loss_weights={"late": 1.0, "days": 0.5},
    metrics={"late": [keras.metrics.AUC(name="auc")]},
)
gradwatch.watch(model)
model.fit(*train, batch_size=64, epochs=10, verbose=2)
pred = model.predict(test[0], batch_size=500, verbose=0)
p = pred["late"][:, 0]
y = late[cut:]
order = np.argsort(np.argsort(p))
auc = (order[y == 1].mean() - (y.sum() - 1) / 2) / (y == 0).sum()
d = test[1]["days"]
r2 = 1 - np.mean((pred["days"][:, 0] - d) ** 2) / d.var()
print("auc late %.4f  r2 days %.4f" % (auc, r2))
print("SCORE mean_auc_r2 %.4f" % ((auc + r2) / 2))
