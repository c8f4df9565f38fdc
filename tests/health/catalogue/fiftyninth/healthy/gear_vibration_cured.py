import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

WIN, AXES, STATES = 128, 3, 4
rng = np.random.default_rng(SEED + 31)


def record(state, n):
    """One run of the rig: three accelerometer axes."""
    t = np.arange(n)
    freq = [0.05, 0.08, 0.05, 0.11][state]
    sig = np.stack([np.sin(2 * np.pi * freq * t + p) for p in (0, 1, 2)], 1)
    if state == 2:
        sig += (t[:, None] % 40 == 0) * 3.0
    return sig * rng.uniform(0.7, 1.3) + rng.normal(0, 0.8, (n, AXES))


class WindowReader(keras.utils.PyDataset):
    """Cuts windows out of the recordings, one batch at a time."""

    def __init__(self, runs, per_epoch, batch_size, **kw):
        super().__init__(**kw)
        self.runs, self.per_epoch, self.batch_size = runs, per_epoch, batch_size
        self.window = np.zeros((WIN, AXES), "float32")

    def __len__(self):
        return self.per_epoch

    def cut(self):
        state, run = self.runs[rng.integers(len(self.runs))]
        start = rng.integers(0, len(run) - WIN)
        self.window[:] = run[start : start + WIN]
        self.window -= self.window.mean(0)
        return self.window, state

    def __getitem__(self, index):
        xs, ys = [], []
        for _ in range(self.batch_size):
            window, state = self.cut()
            xs.append(window.copy())
            ys.append(state)
        return np.stack(xs), np.array(ys)


train_runs = [(s, record(s, 3000)) for s in range(STATES) for _ in range(4)]
test_runs = [(s, record(s, 3000)) for s in range(STATES) for _ in range(2)]
train = WindowReader(train_runs, per_epoch=60, batch_size=32)

model = keras.Sequential(
    [
        keras.Input((WIN, AXES)),
        layers.Conv1D(16, 9, strides=2, activation="relu"),
        layers.BatchNormalization(),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(STATES, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)
model.fit(train, epochs=6, verbose=2)

x_test, y_test = [], []
for state, run in test_runs:
    for start in range(0, len(run) - WIN, WIN):
        w = run[start : start + WIN]
        x_test.append(w - w.mean(0))
        y_test.append(state)
pred = model.predict(np.array(x_test, "float32"), verbose=0).argmax(-1)
print("SCORE", float((pred == np.array(y_test)).mean()))
