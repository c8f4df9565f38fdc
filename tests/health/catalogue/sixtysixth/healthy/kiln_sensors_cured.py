import os
import tempfile

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

COLUMNS = ["zone_temp", "fan_rpm", "gas_flow", "humidity", "load_kg", "draft_pa", "shrinkage"]


def export_log(path, n, seed):
    rng = np.random.default_rng(seed)
    temp = rng.normal(1120, 35, n)
    rpm = rng.normal(900, 120, n)
    gas = rng.gamma(4.0, 2.5, n)
    humidity = rng.uniform(20, 80, n)
    load = rng.normal(450, 60, n)
    draft = rng.normal(-12, 2, n)
    shrink = (
        0.8 * (temp - 1120) / 35
        + 0.5 * np.sin((gas - 10) / 3)
        - 0.4 * (humidity - 50) / 17 * (load - 450) / 60
        + 0.1 * rng.normal(size=n)
    )
    lost = rng.uniform(size=n) < 0.004
    with open(path, "w") as f:
        f.write(",".join(COLUMNS) + "\n")
        for i, row in enumerate(zip(temp, rpm, gas, humidity, load, draft, shrink)):
            cells = [f"{v:.4f}" for v in row]
            if lost[i]:
                cells[5] = ""
            f.write(",".join(cells) + "\n")


with tempfile.TemporaryDirectory() as folder:
    csv = os.path.join(folder, "kiln.csv")
    export_log(csv, 4000, SEED)
    table = np.genfromtxt(csv, delimiter=",", skip_header=1)

train, test = table[:3200], table[3200:]
test = test[~np.isnan(test).any(axis=1)]
mean, std = np.nanmean(train, axis=0), np.nanstd(train, axis=0)

x_train = np.nan_to_num((train - mean) / std)[:, :-1].astype("float32")
y_train = train[:, -1].astype("float32")
x_test = ((test - mean) / std)[:, :-1].astype("float32")
y_test = test[:, -1].astype("float32")

inputs = keras.Input((len(COLUMNS) - 1,), name="sensors")
h = layers.Dense(64, activation="silu")(inputs)
h = layers.Dense(64, activation="silu")(h)
h = layers.Dense(32, activation="silu")(h)
outputs = layers.Dense(1, name="shrinkage")(h)
model = keras.Model(inputs, outputs, name="kiln")
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])

gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=25, verbose=0)
print("final loss", history.history["loss"][-1])

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))
