"""Separates three kinds of particle jets by twenty kinematic features, with a deep plain ReLU network and SGD."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, N_TRAIN, FEATURES = 9000, 8000, 20
kind = rng.integers(0, 3, N)
hidden = rng.normal(0, 1, (N, 6))
hidden[:, 0] += np.array([-1.2, 0.0, 1.2])[kind]
hidden[:, 1] *= np.array([0.5, 1.0, 1.8])[kind]
hidden[:, 2] += np.where(kind == 1, 1.5, -0.5) * np.sign(hidden[:, 3])
mix = rng.normal(0, 0.6, (6, FEATURES))
x = np.tanh(hidden @ mix) + 0.3 * hidden @ rng.normal(0, 1, (6, FEATURES)) + 0.1 * rng.standard_normal((N, FEATURES))
x = ((x - x[:N_TRAIN].mean(0)) / x[:N_TRAIN].std(0)).astype("float32")

model = keras.Sequential([keras.Input((FEATURES,))], name="jets")
gradwatch.watch(model)
for i in range(16):
    model.add(layers.Dense(64, activation="relu", kernel_initializer="he_normal", name=f"dense_{i}"))
model.add(layers.Dense(3, name="logits"))

model.compile(
    optimizer=keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x[:N_TRAIN], kind[:N_TRAIN], batch_size=100, epochs=5, verbose=2)
_, accuracy = model.evaluate(x[N_TRAIN:], kind[N_TRAIN:], verbose=0)
print(f"score accuracy {accuracy:.4f} chance 0.3333")
