"""Rare faults of wind turbines from vibration: a frozen filter bank in front, focal loss, three faults in a hundred."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, BANDS = 128, 24


def records(count):
    t = np.arange(LENGTH)
    x = rng.normal(0, 0.8, (count, LENGTH))
    x += rng.uniform(0.5, 1.5, (count, 1)) * np.sin(
        2 * np.pi * rng.uniform(0.02, 0.06, (count, 1)) * t + rng.uniform(0, 6, (count, 1))
    )
    fault = rng.random(count) < 0.03
    for i in np.flatnonzero(fault):
        start = rng.integers(0, 60)
        x[i, start : start + 64] += 1.3 * np.sin(2 * np.pi * rng.uniform(0.28, 0.33) * np.arange(64))
    # a harmless tone that looks alike
    for i in np.flatnonzero(~fault & (rng.random(count) < 0.1)):
        x[i] += 1.0 * np.sin(2 * np.pi * rng.uniform(0.18, 0.22) * t)
    return x[..., None].astype("float32"), fault.astype("float32")[:, None]


def filter_bank(width=33):
    t = np.arange(width) - width // 2
    window = np.hanning(width)
    rate = np.linspace(0.02, 0.48, BANDS)
    kernel = np.cos(2 * np.pi * rate[None] * t[:, None]) * window[:, None] / width * 4
    return kernel[:, None].astype("float32")


bank = keras.layers.Conv1D(BANDS, 33, padding="same", use_bias=False, name="bank")
inputs = keras.Input((LENGTH, 1))
h = keras.layers.Lambda(keras.ops.square)(bank(inputs))
h = keras.layers.AveragePooling1D(8)(h)
h = keras.layers.BatchNormalization()(h)
h = keras.layers.Conv1D(24, 3, padding="same", activation="relu")(h)
h = keras.layers.GlobalMaxPooling1D()(h)
h = keras.layers.Dropout(0.3)(h)
outputs = keras.layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(-3.5))(h)
model = keras.Model(inputs, outputs)
bank.set_weights([filter_bank()])
bank.trainable = False

model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
    metrics=[keras.metrics.AUC(curve="PR", name="pr")],
)
x_train, y_train = records(12000)
x_test, y_test = records(6000)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=8, verbose=2)

score = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
faulty = y_test[:, 0] > 0.5
order = np.argsort(-score)
precision = np.cumsum(faulty[order]) / np.arange(1, len(order) + 1)
print("SCORE average_precision", round(float(precision[faulty[order]].mean()), 4))
