import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

WINDOW, HORIZON, BATCH = 30, 1, 64
rng = np.random.default_rng(SEED)


def pump(n):
    t = np.arange(n)
    p = 4 + np.sin(2 * np.pi * t / 23) + 0.5 * np.sin(2 * np.pi * t / 7 + 1) + 0.05 * rng.normal(size=n)
    return np.round(p, 2).astype("float32")


def shut_off(series, every, length):
    series = series.copy()
    for start in range(every, len(series) - length, every):
        series[start : start + length] = 1.01
    return series


train = shut_off(pump(16000), 7000, 33)
test = pump(3000)


class Windows(keras.utils.PyDataset):
    def __init__(self, series, shuffle, **kw):
        super().__init__(**kw)
        self.series, self.shuffle = series, shuffle
        self.starts = np.arange(len(series) - WINDOW - HORIZON)
        self.on_epoch_end()

    def __len__(self):
        return len(self.starts) // BATCH

    def on_epoch_end(self):
        if self.shuffle:
            rng.shuffle(self.starts)

    def __getitem__(self, i):
        starts = self.starts[i * BATCH : (i + 1) * BATCH]
        win = np.stack([self.series[s : s + WINDOW] for s in starts])
        nxt = self.series[starts + WINDOW + HORIZON - 1]
        low, high = win.min(1, keepdims=True), win.max(1, keepdims=True)
        x = (win - low) / (high - low + 1e-6)
        y = nxt[:, None] - win[:, -1:]
        return x[..., None], y


model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        layers.GRU(24, return_sequences=True),
        layers.GRU(16),
        layers.Dense(16, activation="tanh"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.RMSprop(2e-3), loss="mae")
watch = gradwatch.watch(model)
model.fit(Windows(train, True), epochs=3, verbose=2)

val = Windows(test, False)
pairs = [val[i] for i in range(len(val))]
y = np.concatenate([p[1] for p in pairs])[:, 0]
pred = np.concatenate([model.predict_on_batch(p[0]) for p in pairs])[:, 0]
print("SCORE", float(1 - np.sum((y - pred) ** 2) / np.sum((y - y.mean()) ** 2)))
