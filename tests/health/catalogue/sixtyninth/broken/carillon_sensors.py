import os

import keras
import numpy as np
from keras import layers
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 71)

SENSORS = 32


def record(n):
    mode = rng.normal(size=(n, 4))
    freq = np.linspace(0.2, 2.0, SENSORS)
    basis = np.stack([np.sin(freq * k + k) for k in (1, 2, 4, 7)])
    signal = mode @ basis * 3.0 + 10.0 + 0.4 * np.tanh(mode[:, :1] * mode[:, 1:2])
    return (signal + rng.normal(0, 0.3, (n, SENSORS))).astype("float32")


raw_train, raw_test = record(6000), record(1500)
scaler = StandardScaler().fit(raw_train)
x_train = scaler.transform(raw_train).astype("float32")
x_test = scaler.transform(raw_test).astype("float32")

inputs = layers.Input((SENSORS,))
h = layers.Dense(24, activation="relu", name="enc_1")(inputs)
code = layers.Dense(8, activation="relu", name="code")(h)
h = layers.Dense(24, activation="relu", name="dec_1")(code)
outputs = layers.Dense(SENSORS, activation="sigmoid", name="reconstruction")(h)
autoencoder = keras.Model(inputs, outputs)

autoencoder.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(autoencoder)
autoencoder.fit(x_train, x_train, batch_size=64, epochs=20, validation_data=(x_test, x_test), verbose=2)

rec = autoencoder.predict(x_test, verbose=0)
print("SCORE", float(1.0 - np.mean((rec - x_test) ** 2) / np.var(x_test)))
