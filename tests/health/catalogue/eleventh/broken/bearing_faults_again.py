"""From one accelerometer channel of a bearing: fault type (4 classes) and a severity score, two-headed CNN."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

T = 256
RNG = np.random.default_rng(SEED)


def vibration(n):
    t = np.arange(T) / T
    kind = RNG.integers(0, 4, n)
    sev = RNG.uniform(0, 1, n)
    base = 0.6 * np.sin(2 * np.pi * 8 * t + RNG.uniform(0, 6.28, (n, 1)))
    rate = np.array([0, 12, 20, 32])[kind]
    phase = RNG.uniform(0, 1, (n, 1))
    impulses = np.exp(-10 * np.mod(rate[:, None] * t + phase, 1.0)) * np.sin(2 * np.pi * 70 * t)
    amp = np.where(kind[:, None] == 0, 0.0, 1.2 + 1.5 * sev[:, None])
    noise = RNG.normal(0, 0.15, (n, T)) * (1 + sev[:, None])
    x = base + amp * impulses + noise
    return x[..., None].astype("float32"), kind, sev.astype("float32")


x, kind, sev = vibration(3600)
mean, std = x[:3000].mean(), x[:3000].std()
x = (x - mean) / std

signal = keras.Input((T, 1), name="accelerometer")
h = layers.LayerNormalization(name="input_norm")(signal)
for i, (filters, kernel) in enumerate([(16, 15), (32, 9), (32, 5)]):
    h = layers.Conv1D(filters, kernel, padding="same", activation="relu", name=f"conv_{i}")(h)
    h = layers.MaxPooling1D(4)(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
fault = layers.Dense(4, activation="softmax", name="fault")(h)
severity = layers.Dense(1, activation="sigmoid", name="severity")(h)
model = keras.Model(signal, {"fault": fault, "severity": severity})
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.AdamW(1.5e-3, weight_decay=1e-4),
    loss={"fault": "sparse_categorical_crossentropy", "severity": "mse"},
    loss_weights={"fault": 1.0, "severity": 2.0},
    metrics={"fault": "accuracy"},
)
model.fit(
    x[:3000],
    {"fault": kind[:3000], "severity": sev[:3000]},
    batch_size=60,
    epochs=7,
    verbose=2,
    validation_data=(x[3000:], {"fault": kind[3000:], "severity": sev[3000:]}),
)
p = model.predict(x[3000:], verbose=0)
print("fault accuracy %.3f" % np.mean(p["fault"].argmax(1) == kind[3000:]))
print("severity R2 %.3f" % (1 - np.mean((p["severity"][:, 0] - sev[3000:]) ** 2) / np.var(sev[3000:])))
