"""Forecast a chaotic flow with a fixed random recurrent reservoir and a trained readout."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(43)
rng = np.random.default_rng(43)

UNITS, LOOKBACK, AHEAD, DT = 160, 40, 8, 0.02


def lorenz(n, start):
    s, out = np.array(start, float), np.empty((n, 3))
    f = lambda v: np.array([10 * (v[1] - v[0]), v[0] * (28 - v[2]) - v[1], v[0] * v[1] - 8 / 3 * v[2]])
    for i in range(n):
        k1 = f(s)
        k2 = f(s + DT / 2 * k1)
        k3 = f(s + DT / 2 * k2)
        k4 = f(s + DT * k3)
        s = s + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out[i] = s
    return out[200:]


def cut(path):
    idx = np.arange(0, len(path) - LOOKBACK - AHEAD)
    x = np.stack([path[i : i + LOOKBACK] for i in idx])
    y = path[idx + LOOKBACK - 1 + AHEAD, :1]
    return x.astype("float32"), y.astype("float32")


train_path, test_path = lorenz(9000, (1, 1, 20)), lorenz(3000, (-4, 2, 25))
mu, sd = train_path.mean(0), train_path.std(0)
x_train, y_train = cut((train_path - mu) / sd + rng.normal(0, 0.02, train_path.shape))
x_test, y_test = cut((test_path - mu) / sd + rng.normal(0, 0.02, test_path.shape))

w = rng.normal(size=(UNITS, UNITS)) * (rng.random((UNITS, UNITS)) < 0.1)
w = 0.85 * w / np.abs(np.linalg.eigvals(w)).max()
w_in = rng.uniform(-1.0, 1.0, size=(3, UNITS))
bias = rng.uniform(-0.5, 0.5, size=UNITS)

reservoir = layers.SimpleRNN(UNITS, activation="tanh", trainable=False, name="reservoir")
inp = keras.Input((LOOKBACK, 3))
state = reservoir(inp)
reservoir.set_weights([w_in, w, bias])
last = layers.Lambda(lambda v: v[:, -1])(inp)
features = layers.Concatenate()([state, last])
out = layers.Dense(1, kernel_initializer="zeros", kernel_regularizer=keras.regularizers.L2(1e-6))(features)
model = keras.Model(inp, out)

model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(5e-3, 1000, 0.6)), loss="mse")
gradwatch.watch(model)
h = model.fit(x_train, y_train, batch_size=64, epochs=30, verbose=2)

p = model.predict(x_test, batch_size=500, verbose=0)
r2 = 1 - np.mean((p - y_test) ** 2) / np.var(y_test)
persist = 1 - np.mean((x_test[:, -1, :1] - y_test) ** 2) / np.var(y_test)
print(f"loss {h.history['loss'][-1]:.5f}  held-out R2 {r2:.4f}  (last value carried forward {persist:.4f})")
