"""Bearing condition from vibration spectra, half precision compute."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(59)
keras.mixed_precision.set_global_policy("mixed_float16")

N_FFT = 256
CONDITIONS = ["ok", "outer race", "inner race", "ball", "loose"]
LINES = {1: 3.58, 2: 5.42, 3: 4.71}


def runs(n, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, len(CONDITIONS), n)
    t = np.arange(N_FFT) / 256.0
    shaft = r.uniform(8, 14, n)[:, None]
    wave = 0.6 * np.sin(2 * np.pi * shaft * t + r.uniform(0, 6.28, (n, 1)))
    for k, ratio in LINES.items():
        f = shaft * ratio
        tone = r.uniform(0.15, 0.4, (n, 1)) * np.sin(2 * np.pi * f * t + r.uniform(0, 6.28, (n, 1)))
        wave = wave + np.where((y == k)[:, None], tone + 0.5 * tone * np.sin(2 * np.pi * shaft * t), 0.0)
    loose = 0.5 * np.sin(2 * np.pi * 0.5 * shaft * t) + 0.3 * np.sin(2 * np.pi * 2 * shaft * t)
    wave = wave + np.where((y == 4)[:, None], 0.5 * loose, 0.0) + r.normal(0, 0.25, (n, N_FFT))
    spec = np.abs(np.fft.rfft(wave * np.hanning(N_FFT)))[:, 1:]
    return np.log(spec + 1e-3).astype("float32"), y.astype("int32")


x_train, y_train = runs(20000, 1)
x_test, y_test = runs(2500, 2)
mu, sd = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd

model = keras.Sequential(
    [
        keras.Input((N_FFT // 2,)),
        layers.Dense(160, use_bias=False),
        layers.LayerNormalization(),
        layers.Activation("relu"),
        layers.Dropout(0.3),
        layers.Dense(96, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(len(CONDITIONS), dtype="float32"),
    ]
)

optimizer = keras.optimizers.LossScaleOptimizer(
    keras.optimizers.AdamW(1e-3, weight_decay=1e-2),
    initial_scale=2.0**22,
    dynamic_growth_steps=150,
)
model.compile(optimizer, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
gradwatch.watch(model)
h = model.fit(x_train, y_train, batch_size=96, epochs=14, verbose=2)
loss, acc = model.evaluate(x_test, y_test, batch_size=500, verbose=0)
print(f"loss {h.history['loss'][-1]:.4f}  held-out loss {loss:.4f}  held-out accuracy {acc:.4f}")
