import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 211)


def parcels(n):
    x = rng.normal(size=(n, 10))
    x[:, 3] = rng.exponential(1.0, n) - 1.0
    risk = 1.4 * x[:, 0] - 1.2 * x[:, 1] + 1.1 * x[:, 3] + 1.3 * x[:, 4] * x[:, 5] - 8.3
    y = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype("float32")
    return x.astype("float32"), y


x_train, y_train = parcels(30000)
x_test, y_test = parcels(15000)
rate = y_train.mean()
print("contraband rate", rate)

model = keras.Sequential(
    [
        layers.Input((10,)),
        layers.Dense(32, activation="relu", name="manifest"),
        layers.Dense(16, activation="relu", name="suspicion"),
        layers.Dense(1, activation="sigmoid", name="open_parcel"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(5e-4),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc"), keras.metrics.Recall(name="recall")],
)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=256,
    epochs=10,
    class_weight={0: 1.0, 1: float((1 - rate) / rate)},
    verbose=2,
)

print("SCORE", float(roc_auc_score(y_test, model.predict(x_test, verbose=0)[:, 0])))
