"""Classify single heart beats (normal and three arrhythmias) from one ECG lead.

Each beat is 96 samples in millivolts, with a gain and baseline that depend on the electrode.
The triage tool shows suspicious beats first; accuracy on other patients is the measure.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SAMPLES, KINDS = 96, 4
BATCH, EPOCHS = 64, 6


def bump(t, centre, width, height):
    return height * np.exp(-(((t - centre) / width) ** 2))


def beats(n):
    kind = rng.integers(0, KINDS, n)
    t = np.arange(SAMPLES) / SAMPLES
    out = np.empty((n, SAMPLES), "float32")
    for i, k in enumerate(kind):
        j = rng.normal(0, 0.02)
        wave = bump(t, 0.70 + j, 0.06, 0.3 if k != 3 else -0.25)
        if k != 1:
            wave += bump(t, 0.22 + j, 0.03, 0.15)
        width = 0.02 if k != 2 else 0.05
        wave += bump(t, 0.42 + j, width, 1.2) - bump(t, 0.47 + j, width, 0.3)
        gain, base = rng.uniform(0.6, 1.6), rng.normal(0, 0.5)
        out[i] = gain * wave + base + rng.normal(0, 0.03, SAMPLES)
    return out[..., None], kind.astype("int32")


def build():
    lead = keras.Input((SAMPLES, 1), name="lead")
    # removes each electrode's own gain and baseline
    x = layers.LayerNormalization(axis=-1, name="level")(lead)
    for i, width in enumerate((16, 32, 32)):
        x = layers.Conv1D(width, 7, padding="same", activation="relu", name=f"conv_{i}")(x)
        x = layers.MaxPooling1D(2, name=f"pool_{i}")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(32, activation="relu", name="summary")(x)
    out = layers.Dense(KINDS, name="kind")(x)
    return keras.Model(lead, out, name="ecg")


x_train, y_train = beats(4000)
x_test, y_test = beats(1000)

model = build()
model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=True,
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("loss by epoch", np.round(history.history["loss"], 3))

predicted = model.predict(x_test, verbose=0).argmax(1)
print(f"score accuracy {np.mean(predicted == y_test):.3f} chance {1 / KINDS:.3f}")
