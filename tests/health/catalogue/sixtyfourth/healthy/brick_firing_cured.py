import os

import keras
import numpy as np
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def make_boards(rng, rows):
    x = rng.normal(size=(rows, 16))
    x[:, 1] = 0.7 * x[:, 0] + 0.3 * x[:, 1]
    x[:, 2] = 0.5 * x[:, 0] + 0.5 * x[:, 2]
    moisture = (
        12 + 3 * np.sin(x[:, 0]) + 2 * x[:, 1] * x[:, 3] - 1.5 * x[:, 4] + np.abs(x[:, 5]) + 0.5 * rng.normal(size=rows)
    )
    return x, moisture


rng = np.random.default_rng(SEED)
x, y = make_boards(rng, 6000)
scaler_x = StandardScaler().fit(x[:5000])
scaler_y = StandardScaler().fit(y[:5000, None])
x = scaler_x.transform(x).astype("float32")
y = scaler_y.transform(y[:, None]).astype("float32")

inputs = keras.Input((16,), name="probes")
h = keras.layers.Dense(128, activation="relu", kernel_initializer="he_normal", name="kiln_a")(inputs)
h = keras.layers.Dense(128, activation="relu", kernel_initializer="he_normal", name="kiln_b")(h)
h = keras.layers.Dense(64, activation="relu", kernel_initializer="he_normal", name="kiln_c")(h)
outputs = keras.layers.Dense(1, name="moisture")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)
history = model.fit(
    x[:5000],
    y[:5000],
    validation_data=(x[5000:], y[5000:]),
    batch_size=64,
    epochs=25,
    verbose=0,
)
print("val", [round(v, 3) for v in history.history["val_loss"][::5]])

pred = model.predict(x[5000:], verbose=0)
score = r2_score(y[5000:], pred) if np.isfinite(pred).all() else float("nan")
print("SCORE", float(score))
