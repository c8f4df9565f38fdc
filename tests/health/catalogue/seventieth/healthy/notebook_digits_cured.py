import os

import keras
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

EPOCHS = 25
BATCH = 32


def load():
    digits = load_digits()
    x = digits.data.astype("float32")
    y = digits.target.astype("int32")
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=SEED, stratify=y)
    mean = x_train.mean(axis=0)
    std = x_train.std(axis=0) + 1e-6
    x_train = (x_train - mean) / std
    x_test = (x_test - mean) / std
    return x_train, x_test, y_train, y_test


def build_model():
    model = keras.Sequential(
        [
            keras.Input((64,), name="pixels"),
            keras.layers.Dense(96, activation="relu", name="hidden_1"),
            keras.layers.Dropout(0.2, name="drop"),
            keras.layers.Dense(48, activation="relu", name="hidden_2"),
            keras.layers.Dense(10, activation="softmax", name="digit"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    x_train, x_test, y_train, y_test = load()
    model = build_model()
    gradwatch.watch(model)
    history = model.fit(
        x_train,
        y_train,
        validation_split=0.1,
        epochs=EPOCHS,
        batch_size=BATCH,
        verbose=0,
    )
    print("last training loss", history.history["loss"][-1])
    probs = model.predict(x_test, verbose=0)
    print("SCORE", float(np.mean(np.argmax(probs, axis=-1) == y_test)))


if __name__ == "__main__":
    main()
