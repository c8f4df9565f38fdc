"""Echo-state forecaster of a chaotic laser intensity: a fixed random recurrent reservoir with a trained read-out."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, W, UNITS = 5000, 40, 200
x = np.zeros(N + 100)
x[0] = rng.uniform(0.2, 0.8)
hist = [1.2] * 18
for i in range(1, N + 100):
    lag = hist[-18]
    x[i] = 0.9 * x[i - 1] + 0.2 * lag / (1 + lag**10)
    hist.append(x[i])
x = x[100:]
x = ((x - x.mean()) / x.std()).astype("float32")
windows = np.lib.stride_tricks.sliding_window_view(x, W + 5)
inputs, targets = windows[:, :W, None].copy(), windows[:, -1].copy()
cut = 3800

w = rng.normal(size=(UNITS, UNITS)) * (rng.random((UNITS, UNITS)) < 0.1)
w *= 0.9 / np.abs(np.linalg.eigvals(w)).max()
reservoir = layers.SimpleRNN(UNITS, activation="tanh", trainable=False)
model = keras.Sequential([keras.Input((W, 1)), reservoir, layers.Dense(1)])
reservoir.set_weights(
    [rng.uniform(-0.5, 0.5, (1, UNITS)).astype("float32"), w.astype("float32"), np.zeros(UNITS, "float32")]
)
model.compile(keras.optimizers.Adam(3e-3), "mse")
gradwatch.watch(model)
model.fit(inputs[:cut], targets[:cut], batch_size=64, epochs=12, verbose=2)
pred = model.predict(inputs[cut + 50 :], verbose=0)[:, 0]
y = targets[cut + 50 :]
print("SCORE r2 %.4f" % (1 - ((pred - y) ** 2).mean() / y.var()))
