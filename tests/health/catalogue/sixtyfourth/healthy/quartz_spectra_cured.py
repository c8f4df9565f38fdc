import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BANDS = 48
MINERALS = 5
DEPTH = 9
ACTIVATION = "relu"


def make_spectra(rng, rows):
    axis = np.linspace(0, 1, BANDS)
    mineral = rng.integers(0, MINERALS, rows)
    centers = np.linspace(0.15, 0.85, MINERALS)
    spectra = np.zeros((rows, BANDS))
    for shift in (0.0, 0.3):
        mid = (centers[mineral] + shift * (1 + mineral) / MINERALS) % 1.0
        mid = mid + rng.normal(0, 0.02, rows)
        spectra += np.exp(-((axis[None] - mid[:, None]) ** 2) / 0.004)
    spectra += rng.normal(0, 0.25, spectra.shape)
    spectra -= spectra.mean(axis=1, keepdims=True)
    spectra /= spectra.std(axis=1, keepdims=True)
    return spectra.astype("float32"), mineral.astype("int32")


def build():
    inputs = keras.Input((BANDS,), name="spectrum")
    h = inputs
    for i in range(DEPTH):
        h = keras.layers.Dense(48, activation=ACTIVATION, name=f"strata_{i}")(h)
    outputs = keras.layers.Dense(MINERALS, activation="softmax", name="mineral")(h)
    return keras.Model(inputs, outputs)


rng = np.random.default_rng(SEED)
x_train, y_train = make_spectra(rng, 4800)
x_test, y_test = make_spectra(rng, 1200)

model = build()
model.compile(
    optimizer=keras.optimizers.SGD(0.02, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=25,
    validation_data=(x_test, y_test),
    verbose=0,
)
print("loss", [round(v, 3) for v in history.history["loss"][::3]])
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
