import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

STEPS, UNITS = 40, 150
rng = np.random.default_rng(SEED + 43)


def glass(n, tau=17):
    x = list(1.2 + 0.05 * rng.normal(size=tau + 1))
    for _ in range(n + 300):
        x.append(x[-1] + 0.2 * x[-tau - 1] / (1 + x[-tau - 1] ** 10) - 0.1 * x[-1])
    return np.array(x[-n:])


def reservoir(shape, dtype=None):
    w = rng.normal(size=shape) * (rng.random(shape) < 0.1)
    return (0.9 * w / np.abs(np.linalg.eigvals(w)).max()).astype("float32")


series = glass(6000)
series = ((series - series.mean()) / series.std()).astype("float32")
win = np.lib.stride_tricks.sliding_window_view(series, STEPS + 8)
x, y = win[:, :STEPS, None].copy(), win[:, -1].copy()
cut = 4800

model = keras.Sequential(
    [
        keras.Input((STEPS, 1)),
        layers.SimpleRNN(
            UNITS,
            recurrent_initializer=reservoir,
            kernel_initializer=keras.initializers.RandomUniform(-0.6, 0.6),
            trainable=False,
            name="pool",
        ),
        layers.Dense(1, name="readout"),
    ]
)
model.compile(keras.optimizers.SGD(0.02, momentum=0.95, nesterov=True), loss="mse")
watch = gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=32, epochs=8, verbose=2)

pred = model.predict(x[cut:], verbose=0)[:, 0]
print("SCORE", float(1 - np.mean((pred - y[cut:]) ** 2) / np.var(y[cut:])))
