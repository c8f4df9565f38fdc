import os

import keras
import numpy as np
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 24000
hours = rng.gamma(3.0, 400.0, n)
pressure = rng.normal(180, 12, n)
vibration = rng.gamma(2.0, 1.0, n)
salt = rng.beta(2, 3, n)
frost = rng.normal(-4, 5, n)
logit = -9.3 + 0.8 * vibration + 3.0 * salt - 0.06 * (pressure - 180) + 0.0006 * hours
failed = (rng.random(n) < 1.0 / (1.0 + np.exp(-logit))).astype("float32")

x = np.stack([np.log1p(hours), pressure, vibration, salt, frost], axis=1)
x = ((x - x[:18000].mean(0)) / x[:18000].std(0)).astype("float32")
x_train, y_train = x[:18000], failed[:18000]
x_test, y_test = x[18000:], failed[18000:]
share = float(y_train.mean())
print("share of failures", share)

model = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(24, activation="relu", name="wear"),
        keras.layers.Dense(12, activation="relu", name="risk"),
        keras.layers.Dense(
            1,
            activation="sigmoid",
            name="failed",
            bias_initializer=keras.initializers.Constant(np.log(share / (1 - share))),
        ),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(curve="PR", name="pr")],
)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=6,
    verbose=2,
)
print("SCORE", float(roc_auc_score(y_test, model.predict(x_test, verbose=0)[:, 0])))
