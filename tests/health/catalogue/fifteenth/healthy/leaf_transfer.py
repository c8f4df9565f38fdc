"""Few-label leaf species classifier on top of an encoder trained on a larger herbarium."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ANGLES = 64
THETA = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)
HERBARIUM = [(2, 0), (3, 0), (4, 0), (5, 0), (3, 11), (4, 11), (5, 11), (2, 11)]
LOCAL = [(3, 15), (4, 15), (2, 15)]


def outline(lobes, teeth, n):
    """Centre-to-edge distance of a leaf by angle; orientation is free."""
    turn = rng.uniform(0, 2 * np.pi, (n, 1))
    depth = rng.uniform(0.15, 0.35, (n, 1))
    r = 1.0 + depth * np.cos(lobes * (THETA + turn))
    if teeth:
        r = r + rng.uniform(0.04, 0.09, (n, 1)) * np.cos(teeth * (THETA + turn))
    r = r + 0.04 * rng.normal(size=(n, ANGLES))
    return (r - 1.0) / 0.25


def make_set(species, per_class):
    x = np.concatenate([outline(a, b, per_class) for a, b in species])
    y = np.repeat(np.arange(len(species)), per_class)
    order = rng.permutation(len(x))
    return x[order][..., None].astype("float32"), y[order]


encoder = keras.Sequential(
    [
        keras.Input((ANGLES, 1)),
        layers.Conv1D(16, 7, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 11, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
    ],
    name="encoder",
)

x_big, y_big = make_set(HERBARIUM, 500)
pretrain = keras.Sequential([encoder, layers.Dense(len(HERBARIUM), activation="softmax")])
pretrain.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
pretrain.fit(x_big, y_big, batch_size=64, epochs=5, verbose=2)

encoder.trainable = False
inputs = keras.Input((ANGLES, 1))
h = encoder(inputs, training=False)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dropout(0.3)(h)
outputs = layers.Dense(len(LOCAL), activation="softmax")(h)
model = keras.Model(inputs, outputs)

x_few, y_few = make_set(LOCAL, 80)
x_test, y_test = make_set(LOCAL, 300)

model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_few, y_few, batch_size=16, epochs=30, verbose=2)

pred = model.predict(x_test, verbose=0).argmax(axis=1)
score = float(np.mean(pred == y_test))
print("score", score)
