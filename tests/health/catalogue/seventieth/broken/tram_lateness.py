import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 8)

N = 4000
LINES = 6


def make_trips(n):
    hour = rng.uniform(5, 24, n)
    rain = rng.gamma(1.2, 1.5, n)
    line = rng.integers(0, LINES, n)
    stop = rng.integers(1, 30, n)
    event = (rng.random(n) < 0.1).astype("float64")
    rush = np.exp(-((hour - 8) ** 2) / 3) + np.exp(-((hour - 17.5) ** 2) / 4)
    base = np.array([1.0, 2.5, 4.0, 3.0, 1.5, 6.0])[line]
    minutes = base + 9 * rush + 1.1 * rain + 0.25 * stop + 7 * event
    minutes = minutes + rng.normal(0, 1.0, n)
    columns = [
        (hour - 14) / 6,
        rain / 2,
        (stop - 15) / 9,
        event,
    ]
    x = np.concatenate([np.stack(columns, axis=1), np.eye(LINES)[line]], axis=1)
    return x.astype("float32"), np.maximum(minutes, 0).astype("float32")


x, minutes = make_trips(N)
x_train, x_val, x_test = x[:2800], x[2800:3400], x[3400:]
y_train, y_val, y_test = minutes[:2800], minutes[2800:3400], minutes[3400:]


def create_model():
    model = keras.Sequential(
        [
            keras.Input((4 + LINES,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss="mean_squared_error",
        metrics=["mae"],
    )
    return model


model = create_model()
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    epochs=25,
    batch_size=32,
    verbose=0,
)
print("validation mae", history.history["val_mae"][-1])

pred = model.predict(x_test, verbose=0)[:, 0]
ss_res = np.sum((y_test - pred) ** 2)
ss_tot = np.sum((y_test - y_test.mean()) ** 2)
print("SCORE", float(1 - ss_res / ss_tot))
