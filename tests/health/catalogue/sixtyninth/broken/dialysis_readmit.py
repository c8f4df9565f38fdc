import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 5)


COLUMNS = ["age", "weight_kg", "creatinine", "potassium", "albumin", "sessions_missed", "phosphate"]


def load_visits(n=5000):
    table = {
        "age": rng.normal(61, 12, n).clip(20, 95),
        "weight_kg": rng.normal(76, 14, n),
        "creatinine": rng.gamma(6.0, 1.1, n),
        "potassium": rng.normal(4.9, 0.7, n),
        "albumin": rng.normal(3.7, 0.4, n),
        "sessions_missed": rng.poisson(1.2, n).astype(float),
        "phosphate": rng.normal(5.1, 1.2, n),
    }
    risk = (
        0.04 * (table["age"] - 61)
        + 0.9 * (table["potassium"] - 4.9)
        - 1.5 * (table["albumin"] - 3.7)
        + 0.8 * (table["sessions_missed"] - 1.2)
        + 0.3 * (table["phosphate"] - 5.1)
    )
    readmitted = (risk + rng.logistic(0, 0.4, n) > 0).astype("float32")
    measured = rng.random(n) > 0.004
    measured[4000:] = True
    table["albumin"] = np.where(measured, table["albumin"], np.nan)
    return np.stack([table[c] for c in COLUMNS], axis=1).astype("float32"), readmitted


visits, readmitted = load_visits()
mean, std = np.nanmean(visits, axis=0), np.nanstd(visits, axis=0)
x = (visits - mean) / std
x_train, y_train = x[:4000], readmitted[:4000]
x_test, y_test = x[4000:], readmitted[4000:]

model = keras.Sequential(
    [
        layers.Input((len(COLUMNS),)),
        layers.Dense(48, activation="relu", name="triage_1"),
        layers.Dropout(0.1),
        layers.Dense(24, activation="relu", name="triage_2"),
        layers.Dense(1, activation="sigmoid", name="readmit"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=32, epochs=6, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", float(np.mean((p > 0.5) == (y_test > 0.5))) if np.isfinite(p).all() else float("nan"))
