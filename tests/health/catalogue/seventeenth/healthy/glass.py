# Forecast of a delay-differential signal with a fixed recurrent pool and a small readout on top of it.
import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(19)
POOL, WINDOW, AHEAD = 120, 50, 6


def series(n, tau=17):
    v = np.full(n + 500 + tau, 1.2)
    for i in range(tau, len(v) - 1):
        v[i + 1] = v[i] + 0.2 * v[i - tau] / (1 + v[i - tau] ** 10) - 0.1 * v[i]
    return v[-n:]


def pool_kernel(shape, dtype=None):
    w = np.random.default_rng(19).standard_normal(shape)
    w *= np.random.default_rng(20).random(shape) < 0.1
    return (0.95 * w / np.abs(np.linalg.eigvals(w)).max()).astype("float32")


def cut(v):
    at = np.arange(0, len(v) - WINDOW - AHEAD)
    x = np.stack([v[i : i + WINDOW] for i in at])[..., None].astype("float32")
    return x, v[at + WINDOW + AHEAD - 1].astype("float32")[:, None]


v = series(7000)
v = (v - v[:5500].mean()) / v[:5500].std()
v += 0.05 * np.random.default_rng(21).standard_normal(len(v))
xtr, ytr = cut(v[:5500])
xte, yte = cut(v[5500:])

inp = keras.Input((WINDOW, 1))
pool = layers.SimpleRNN(
    POOL,
    recurrent_initializer=pool_kernel,
    bias_initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=3),
    kernel_initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=4),
    trainable=False,
)
h = pool(inp)
h = layers.Concatenate()([h, layers.Lambda(lambda s: s**2, output_shape=(POOL,))(h)])
model = keras.Model(inp, layers.Dense(1)(h))
rate = keras.optimizers.schedules.ExponentialDecay(5e-3, 500, 0.7)
model.compile(keras.optimizers.Adam(rate), loss="mse")
gradwatch.watch(model)
hist = model.fit(xtr, ytr, batch_size=64, epochs=30, verbose=2)
err = np.mean((model.predict(xte, verbose=0) - yte) ** 2)
last = np.mean((xte[:, -1] - yte) ** 2)
print(
    f"final loss {hist.history['loss'][-1]:.4f}  held-out R2 {1 - err / np.var(yte):.4f} (last value carried forward {1 - last / np.var(yte):.4f})"
)
