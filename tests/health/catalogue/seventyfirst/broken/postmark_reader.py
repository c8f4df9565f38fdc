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

BATCH = 64
EPOCHS = 20


def load_scans():
    digits = load_digits()
    scans = digits.images * 15.6 + rng.normal(0.0, 6.0, digits.images.shape)
    scans = np.clip(np.round(scans), 0, 255).astype("uint8")
    return scans[..., None], digits.target


def prepare(scans):
    return (scans // 255).astype("float32")


def build_reader():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="strokes"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu", name="shapes"),
            layers.Flatten(),
            layers.Dense(48, activation="relu", name="mix"),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax", name="digit"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    scans, labels = load_scans()
    train_scans, test_scans, train_y, test_y = train_test_split(
        scans, labels, test_size=0.25, random_state=SEED, stratify=labels
    )
    train_x = prepare(train_scans)
    test_x = prepare(test_scans)

    model = build_reader()
    gradwatch.watch(model)
    model.fit(
        train_x,
        train_y,
        batch_size=BATCH,
        epochs=EPOCHS,
        validation_data=(test_x, test_y),
        verbose=2,
    )
    _, accuracy = model.evaluate(test_x, test_y, verbose=0)
    print("SCORE", round(float(accuracy), 4))


main()
