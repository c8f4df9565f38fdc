import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)


def load_numerals():
    digits = load_digits()
    x = (digits.images / 16.0)[..., None].astype("float32")
    return x, digits.target


def build_trunk():
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(24, 3, padding="same", activation="relu", name="edges"),
            layers.BatchNormalization(name="edges_norm"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu", name="curves"),
            layers.BatchNormalization(name="curves_norm"),
            layers.Flatten(),
        ],
        name="trunk",
    )


def attach_head(trunk, classes):
    inputs = keras.Input((8, 8, 1))
    x = trunk(inputs, training=False) if not trunk.trainable else trunk(inputs)
    outputs = layers.Dense(classes, activation="softmax", name="head")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


x, y = load_numerals()
low = y < 5
trunk = build_trunk()
attach_head(trunk, 5).fit(x[low], y[low], batch_size=64, epochs=6, verbose=0)

trunk.trainable = False
train_x, test_x, train_y, test_y = train_test_split(x[~low], y[~low] - 5, test_size=0.3, random_state=SEED)
model = attach_head(trunk, 5)
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=32,
    epochs=14,
    validation_data=(test_x, test_y),
    verbose=2,
)
_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("SCORE", round(float(accuracy), 4))
