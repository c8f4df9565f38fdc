import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

# hourly visits of a news site, next hour from the last 36
keras.utils.set_random_seed(90)
rng = np.random.default_rng(90)
HOURS, LAG = 24 * 160, 36


def series():
    t = np.arange(HOURS)
    day = np.sin(2 * np.pi * (t - 8) / 24) + 0.5 * np.sin(4 * np.pi * t / 24 + 1)
    week = 1 - 0.5 * ((t // 24) % 7 >= 5)
    bursts = np.zeros(HOURS)
    for s in rng.integers(0, HOURS - 12, 220):
        bursts[s : s + 12] += rng.uniform(0.5, 2.0) * np.exp(-np.arange(12) / 4)
    v = day * week + bursts + rng.normal(0, 0.08, HOURS)
    return ((v - v.mean()) / v.std()).astype("float32")


v = series()
X = np.stack([v[k : k + LAG] for k in range(HOURS - LAG)])[..., None]
y = v[LAG:, None]
cut = int(0.8 * len(X))

model = keras.Sequential(
    [
        keras.Input((LAG, 1)),
        layers.LSTM(32, return_sequences=True),
        layers.LSTM(24),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mae")
callbacks = [
    keras.callbacks.ReduceLROnPlateau(monitor="loss", mode="max", factor=0.2, patience=1, min_lr=1e-7),
    keras.callbacks.TerminateOnNaN(),
]
gradwatch.watch(model)
h = model.fit(X[:cut], y[:cut], batch_size=128, epochs=20, callbacks=callbacks, verbose=0)
p = model.predict(X[cut:], verbose=0)
r2 = 1 - ((p - y[cut:]) ** 2).mean() / y[cut:].var()
print(f"loss {h.history['loss'][-1]:.4f}  held-out R2 {r2:.3f}")
