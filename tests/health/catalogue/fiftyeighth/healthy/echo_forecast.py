import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

WINDOW, STEPS = 24, 6000


def mackey_glass(n, delay=17):
    series = np.full(n + delay, 1.2)
    series[:delay] += np.random.default_rng(SEED + 22).normal(0, 0.1, delay)
    for t in range(delay, n + delay - 1):
        past = series[t - delay]
        series[t + 1] = series[t] + 0.2 * past / (1 + past**10) - 0.1 * series[t]
    return series[delay:]


series = mackey_glass(STEPS)[500:]
series = (series - series.mean()) / series.std()
windows = np.lib.stride_tricks.sliding_window_view(series, WINDOW + 6)
x = windows[:, :WINDOW, None].astype("float32")
y = windows[:, -1:].astype("float32")
cut = int(0.8 * len(x))


def spectral(radius):
    def init(shape, dtype=None):
        w = np.random.default_rng(SEED).normal(0, 1, shape)
        w *= radius / np.abs(np.linalg.eigvals(w)).max()
        return keras.ops.convert_to_tensor(w, dtype=dtype)

    return init


reservoir = layers.SimpleRNN(
    120,
    recurrent_initializer=spectral(0.9),
    kernel_initializer=keras.initializers.RandomUniform(-0.5, 0.5),
    trainable=False,
    name="reservoir",
)
model = keras.Sequential([keras.Input((WINDOW, 1)), reservoir, layers.Dense(1, name="readout")])

warm_restarts = keras.optimizers.schedules.CosineDecayRestarts(
    0.01, first_decay_steps=200, t_mul=1.5, m_mul=0.9, alpha=0.01
)
model.compile(optimizer=keras.optimizers.SGD(warm_restarts, momentum=0.9, nesterov=True), loss="mse")
gradwatch.watch(model)
model.fit(
    x[:cut],
    y[:cut],
    batch_size=64,
    epochs=25,
    verbose=2 if os.environ.get("SHOW") else 0,
)
print("SCORE", round(r2_score(y[cut:], model.predict(x[cut:], verbose=0)), 4))
