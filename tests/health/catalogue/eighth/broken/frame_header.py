"""Telemetry frames: the message type is announced by a preamble, the decision is taken at the end."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TYPES, LENGTH, CHANNELS, PREAMBLE = 4, 60, 6, 4
UNITS = 40
EPOCHS, BATCH = 8, 32

codebook = rng.choice([-1.0, 1.0], size=(TYPES, PREAMBLE, CHANNELS))


def frames(n):
    kind = rng.integers(TYPES, size=n)
    x = rng.normal(0.0, 0.15, size=(n, LENGTH, CHANNELS))
    x[:, :PREAMBLE] += codebook[kind]
    payload = rng.normal(0, 0.15, size=(n, 1, CHANNELS)) * np.sin(np.arange(LENGTH) / 4.0)[None, :, None]
    x[:, PREAMBLE:] += payload[:, PREAMBLE:]
    return x.astype("float32"), kind.astype("int32")


x_train, y_train = frames(1600)
x_test, y_test = frames(500)

model = keras.Sequential(
    [
        keras.Input((LENGTH, CHANNELS)),
        layers.SimpleRNN(
            UNITS,
            activation="tanh",
            kernel_initializer="glorot_uniform",
            recurrent_initializer=keras.initializers.RandomNormal(stddev=0.05),
            name="receiver",
        ),
        layers.Dense(24, activation="tanh", name="decision"),
        layers.Dense(TYPES, name="type"),
    ],
    name="frame_rnn",
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

gradwatch.watch(model)
history = model.fit(x_train, y_train, epochs=EPOCHS, batch_size=BATCH, verbose=0)

for e in range(EPOCHS):
    print(f"epoch {e}  loss {history.history['loss'][e]:.4f}  accuracy {history.history['accuracy'][e]:.4f}")
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  accuracy {acc:.4f}")
