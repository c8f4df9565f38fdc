"""Classify the condition of a rolling bearing from band energies of its vibration."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

N_BANDS = 32
CONDITIONS = ["healthy", "inner race", "outer race", "ball", "cage"]


def make_records(n):
    label = rng.integers(0, len(CONDITIONS), n)
    load = rng.uniform(0.5, 1.5, n)
    speed = rng.uniform(0.8, 1.2, n)
    bands = np.arange(N_BANDS)
    x = np.zeros((n, N_BANDS))
    centre = np.array([0.0, 6.0, 11.0, 16.0, 21.0])
    for i in range(n):
        floor = np.exp(-bands / 14.0) * load[i]
        x[i] = floor
        if label[i] > 0:
            c = centre[label[i]] * speed[i]
            for harmonic, amp in ((1.0, 0.7), (1.5, 0.35)):
                x[i] += amp * load[i] * np.exp(-0.5 * ((bands - c * harmonic) / 1.2) ** 2)
    x += rng.normal(0, 0.12, x.shape)
    return x.astype("float32"), label.astype("int32")


x_train, y_train = make_records(6000)
x_val, y_val = make_records(1000)
x_test, y_test = make_records(2000)

mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_val, x_test = [(a - mean) / std for a in (x_train, x_val, x_test)]


def build_model(depth=9, width=64, activation="sigmoid"):
    inputs = keras.Input(shape=(N_BANDS,))
    h = inputs
    for _ in range(depth):
        h = layers.Dense(width, activation=activation)(h)
    outputs = layers.Dense(len(CONDITIONS), activation="softmax")(h)
    return keras.Model(inputs, outputs)


model = build_model()
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.02, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=64,
    epochs=12,
    verbose=2,
)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
