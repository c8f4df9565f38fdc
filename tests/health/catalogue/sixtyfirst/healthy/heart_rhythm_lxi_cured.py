import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, RHYTHMS = 32, 4


def make_beats(n):
    rhythm = rng.integers(0, RHYTHMS, n)
    t = np.arange(STEPS)
    freq = np.array([0.10, 0.14, 0.18, 0.22])[rhythm] + rng.normal(0, 0.006, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    amplitude = rng.uniform(0.5, 1.5, n)
    wave = amplitude[:, None] * np.sin(2 * np.pi * freq[:, None] * t + phase[:, None])
    wave = wave + rng.normal(0, 0.3, wave.shape)
    return wave[..., None].astype("float32"), rhythm.astype("int32")


x_train, y_train = make_beats(4000)
x_test, y_test = make_beats(1000)

encoder = keras.Sequential(
    [
        keras.Input((STEPS, 1)),
        keras.layers.Conv1D(16, 5, activation="relu", name="beat"),
        keras.layers.MaxPooling1D(2, name="pool"),
        keras.layers.GRU(24, name="rhythm"),
    ],
    name="encoder",
)
encoder.trainable = True

signal = keras.Input((STEPS, 1), name="signal")
features = encoder(signal)
features = keras.layers.Dropout(0.1)(features)
outputs = keras.layers.Dense(RHYTHMS, activation="softmax", name="diagnosis")(features)
model = keras.Model(signal, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=8,
    validation_split=0.1,
    verbose=2,
)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", accuracy)
