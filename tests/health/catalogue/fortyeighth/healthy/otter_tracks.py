"""Trains a gait classifier for otter tracks on volunteers' uncertain labels, with warm restarts."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 29)

FEATURES, GAITS, BATCH, EPOCHS = 6, 4, 80, 14
centres = rng.normal(scale=1.3, size=(3 * GAITS, FEATURES))


def tracks(n, wrong_share):
    spot = rng.integers(0, 3 * GAITS, size=n)
    x = centres[spot] + 0.55 * rng.normal(size=(n, FEATURES))
    gait = spot % GAITS
    label = np.where(rng.uniform(size=n) < wrong_share, rng.integers(0, GAITS, size=n), gait)
    return x.astype("float32"), np.eye(GAITS, dtype="float32")[label]


x_train, y_train = tracks(8000, wrong_share=0.4)
x_val, y_val = tracks(2000, wrong_share=0.4)
x_test, y_test = tracks(2000, wrong_share=0.0)
norm = layers.Normalization()
norm.adapt(x_train)

track = keras.Input((FEATURES,))
h = norm(track)
fourier = layers.Dense(
    256,
    kernel_initializer=keras.initializers.RandomNormal(stddev=0.6),
    bias_initializer=keras.initializers.RandomUniform(0.0, 6.28),
    trainable=False,
    name="fourier",
)
h = layers.Lambda(lambda z: keras.ops.cos(z))(fourier(h))
h = layers.Dense(96, activation="relu")(h)
h = layers.Dropout(0.5)(h)
h = layers.Dense(48, activation="relu")(h)
h = layers.Dropout(0.3)(h)
model = keras.Model(track, layers.Dense(GAITS)(h), name="otter_gaits")

restarts = keras.optimizers.schedules.CosineDecayRestarts(
    2e-3, first_decay_steps=2 * len(x_train) // BATCH, t_mul=2.0, m_mul=0.9, alpha=0.01
)
model.compile(
    optimizer=keras.optimizers.Adam(restarts),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_val, y_val), verbose=2)
print("SCORE clean_accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
