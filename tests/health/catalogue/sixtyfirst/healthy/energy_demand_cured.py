import os

import keras
import numpy as np
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

hours = np.arange(4500)
demand = 5200 + 900 * np.sin(2 * np.pi * hours / 24) + 400 * np.sin(2 * np.pi * hours / 168)
demand = demand + 150 * np.convolve(rng.normal(0, 1, len(hours)), np.ones(6) / 6, mode="same")
temperature = 12 + 8 * np.sin(2 * np.pi * (hours - 4) / 24) + rng.normal(0, 1.5, len(hours))
demand = demand + 30 * np.maximum(18 - temperature, 0)

WINDOW = 24
load_scaled = (demand - demand[:3500].mean()) / demand[:3500].std()
temp_scaled = (temperature - temperature[:3500].mean()) / temperature[:3500].std()
features = np.stack([load_scaled, temp_scaled], axis=1).astype("float32")
target = load_scaled.astype("float32")


def windows(start, stop):
    x = np.stack([features[t - WINDOW : t] for t in range(start, stop)])
    return x, target[start:stop, None]


x_train, y_train = windows(WINDOW, 3500)
x_test, y_test = windows(3500, 4500)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 2)),
        keras.layers.SimpleRNN(32, name="memory"),
        keras.layers.Dense(32, activation="relu", name="mix"),
        keras.layers.Dense(1, name="megawatts"),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=8,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=3)],
)

pred = model.predict(x_test, verbose=0)
score = r2_score(y_test, pred) if np.isfinite(pred).all() else float("nan")
print("SCORE", score)
