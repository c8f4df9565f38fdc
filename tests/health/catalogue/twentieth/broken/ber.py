"""Predict the residual bit error rate of a microwave link from a window of RF telemetry."""

import numpy as np
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(11)
WINDOW, CHANNELS = 48, 5


def simulate(n, rng):
    t = np.arange(WINDOW)
    fade = rng.normal(size=(n, 1)) * np.sin(2 * np.pi * t / rng.uniform(12, 40, size=(n, 1)))
    snr = 18 + 4 * fade + rng.normal(scale=0.6, size=(n, WINDOW))
    xpd = 25 + rng.normal(size=(n, WINDOW)) + 3 * rng.normal(size=(n, 1))
    agc = -snr * 0.7 + rng.normal(scale=0.5, size=(n, WINDOW))
    rain = np.abs(rng.normal(size=(n, 1))) * np.ones((n, WINDOW))
    temp = rng.normal(size=(n, WINDOW))
    x = np.stack([snr, xpd, agc, rain, temp], -1)
    x = (x - x.mean((0, 1))) / x.std((0, 1))
    depth = 18 - snr.min(axis=1)
    ber = 1e-3 * (0.35 * depth / 4 + 0.5 * rain[:, 0] + 0.2 * np.tanh(25 - xpd.mean(1)))
    return x.astype("float32"), ber.astype("float32")[:, None]


def build():
    inp = keras.Input((WINDOW, CHANNELS))
    h = keras.layers.Conv1D(24, 5, padding="same", activation="relu")(inp)
    h = keras.layers.Conv1D(24, 5, padding="same", activation="relu")(h)
    h = keras.layers.Concatenate()([keras.layers.GlobalMaxPooling1D()(h), keras.layers.GlobalAveragePooling1D()(h)])
    h = keras.layers.Dense(32, activation="relu")(h)
    out = keras.layers.Dense(1, kernel_initializer=keras.initializers.RandomNormal(stddev=1e-4))(h)
    return keras.Model(inp, out)


rng = np.random.default_rng(5)
x_tr, y_tr = simulate(4096, rng)
x_te, y_te = simulate(1024, rng)

model = build()
opt = keras.optimizers.Adam(learning_rate=1e-4, beta_1=0.9, beta_2=0.999, epsilon=0.1)
model.compile(opt, loss="mse")
gradwatch.watch(model)
hist = model.fit(x_tr, y_tr, batch_size=64, epochs=14, verbose=0)

pred = model.predict(x_te, verbose=0)
r2 = 1 - np.sum((pred - y_te) ** 2) / np.sum((y_te - y_te.mean()) ** 2)
print(f"loss {hist.history['loss'][-1]:.3e}  held-out R2 {r2:.3f}")
