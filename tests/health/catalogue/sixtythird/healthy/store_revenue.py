import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 29)

n = 6000
floor_area = rng.uniform(100, 1200, n)
footfall = rng.gamma(4, 90, n)
promo = rng.integers(0, 2, n)
weekday = rng.integers(0, 7, n)
competition = rng.exponential(3.0, n)
weekend = (weekday >= 5).astype(float)

revenue = (
    800
    + 3.0 * floor_area
    + 9.0 * footfall * (1 + 0.35 * promo)
    + 900 * weekend
    - 150 * np.minimum(competition, 8)
    + rng.normal(0, 350, n)
)

X = np.column_stack([floor_area, footfall, promo, weekend, competition]).astype("float32")
y = revenue.astype("float32")

X_train, X_val, X_test = X[:4500], X[4500:5200], X[5200:]
y_train, y_val, y_test = y[:4500], y[4500:5200], y[5200:]

normalizer = layers.Normalization(axis=-1)
normalizer.adapt(X_train)

model = keras.Sequential(
    [
        layers.Input((X.shape[1],)),
        normalizer,
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.01),
    loss="mean_squared_error",
    metrics=["mean_absolute_percentage_error"],
)
gradwatch.watch(model)

early = keras.callbacks.EarlyStopping(patience=10, restore_best_weights=True)
model.fit(
    X_train,
    y_train,
    validation_data=(X_val, y_val),
    epochs=40,
    batch_size=64,
    callbacks=[early],
    verbose=2,
)

pred = model.predict(X_test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", round(float(r2), 4))
