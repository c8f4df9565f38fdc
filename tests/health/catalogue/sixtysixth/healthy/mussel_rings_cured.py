import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def survey(n, seed):
    rng = np.random.default_rng(seed)
    size = rng.gamma(6.0, 1.0, n)
    table = {
        "length_mm": 8 * size + rng.normal(0, 3, n),
        "width_mm": 4 * size + rng.normal(0, 2, n),
        "site_east_m": rng.uniform(412000, 418000, n),
        "site_north_m": rng.uniform(5230000, 5236000, n),
        "depth_m": rng.uniform(0.5, 9.0, n),
        "shell_mg": 900 * size + rng.normal(0, 300, n),
    }
    rings = (
        1.2 * size
        + 0.5 * table["depth_m"]
        + 1.5 * np.sin((table["site_east_m"] - 412000) / 1200)
        + rng.normal(0, 0.4, n)
    )
    return np.stack(list(table.values()), axis=1), rings


features, rings = survey(4000, SEED)
features = features.astype("float32")
rings = ((rings - rings.mean()) / rings.std()).astype("float32")

X_train, X_test, y_train, y_test = train_test_split(features, rings, test_size=0.25, random_state=SEED)
center, spread = X_train.mean(axis=0), X_train.std(axis=0)

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(64, activation="tanh", name="hidden_1"),
        layers.Dense(64, activation="tanh", name="hidden_2"),
        layers.Dense(1, name="rings"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])


def prepare(x):
    return (x - center) / spread


gradwatch.watch(model)
model.fit(prepare(X_train), y_train, batch_size=64, epochs=30, validation_data=(prepare(X_test), y_test), verbose=0)

pred = model.predict(prepare(X_test), verbose=0)[:, 0]
print("SCORE", float(r2_score(y_test, pred)))
