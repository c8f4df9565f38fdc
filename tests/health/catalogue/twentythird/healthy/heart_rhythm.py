"""Detect rare abnormal beats in short ECG windows: very imbalanced, noisy labels, high decaying rate."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 96
t = np.arange(LENGTH)


def make_beats(n, flip=0.0):
    y = (rng.random(n) < 0.04).astype("float32")
    centre = 48 + rng.normal(0, 6, n)
    width = np.where(y > 0, rng.uniform(5, 8, n), rng.uniform(1.8, 3.2, n))
    height = rng.uniform(0.8, 1.6, n)
    qrs = height[:, None] * np.exp(-0.5 * ((t - centre[:, None]) / width[:, None]) ** 2)
    t_sign = np.where(y > 0, -1.0, 1.0)[:, None]
    t_wave = 0.3 * t_sign * np.exp(-0.5 * ((t - centre[:, None] - 24) / 6.0) ** 2)
    drift = 0.3 * np.sin(2 * np.pi * t / 200 + rng.uniform(0, 6.28, n)[:, None])
    x = qrs + t_wave + drift + 0.12 * rng.normal(size=(n, LENGTH))
    label = np.where(rng.random(n) < flip, 1 - y, y)
    return x[..., None].astype("float32"), label.astype("float32")[:, None]


x_train, y_train = make_beats(16000, flip=0.01)
x_test, y_test = make_beats(4000)

EPOCHS, BATCH = 6, 64
total = EPOCHS * -(-len(x_train) // BATCH)
rate = keras.optimizers.schedules.CosineDecay(0.01, total - 100, alpha=0.0, warmup_target=0.2, warmup_steps=100)

inputs = keras.Input((LENGTH, 1))
h = inputs
for filters in (12, 16, 24):
    h = keras.layers.Conv1D(filters, 7, padding="same", use_bias=False)(h)
    h = keras.layers.BatchNormalization(momentum=0.95)(h)
    h = keras.layers.ReLU()(h)
    h = keras.layers.MaxPooling1D(2)(h)
h = keras.layers.Concatenate()([keras.layers.GlobalAveragePooling1D()(h), keras.layers.GlobalMaxPooling1D()(h)])
h = keras.layers.Dropout(0.3)(h)
outputs = keras.layers.Dense(
    1, activation="sigmoid", bias_initializer=keras.initializers.Constant(np.log(0.04 / 0.96))
)(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, clipnorm=1.0),
    loss=keras.losses.BinaryCrossentropy(label_smoothing=0.02),
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, class_weight={0: 1.0, 1: 6.0}, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
truth = y_test[:, 0] > 0.5
hit = p > 0.5
tp = float(np.sum(hit & truth))
print("SCORE f1", round(2 * tp / max(1.0, float(hit.sum() + truth.sum())), 4))
