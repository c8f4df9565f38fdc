"""Reads hand-written post-code digits from small, slightly shifted and noisy scans."""

import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def scan(images):
    """Paste every digit somewhere on a 12x12 field of paper grain, with a little ink fading."""
    field = rng.normal(0.1, 0.05, size=(len(images), 12, 12))
    for i, image in enumerate(images):
        top, left = rng.integers(1, 4, size=2)
        ink = rng.uniform(0.7, 1.0)
        field[i, top : top + 8, left : left + 8] += ink * image
    return np.clip(field, 0.0, 1.2)[..., None].astype("float32")


digits = load_digits()
images = digits.images / 16.0
labels = digits.target
x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.25, random_state=SEED, stratify=labels)
x_train, x_valid, y_train, y_valid = train_test_split(
    x_train, y_train, test_size=0.1, random_state=SEED, stratify=y_train
)
x_train = np.concatenate([scan(x_train), scan(x_train)])
y_train = np.concatenate([y_train, y_train])
x_valid, x_test = scan(x_valid), scan(x_test)
print("train", x_train.shape, "valid", x_valid.shape, "test", x_test.shape)


def build():
    inputs = keras.Input((12, 12, 1))
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inputs, layers.Dense(10, activation="softmax")(x))


model = build()
watch = gradwatch.watch(model)
model.compile(
    optimizer="adadelta",
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(
    x_train,
    y_train,
    validation_data=(x_valid, y_valid),
    batch_size=64,
    epochs=12,
    verbose=2,
)
print("last validation accuracy", round(history.history["val_accuracy"][-1], 3))

probabilities = model.predict(x_test, verbose=0)
print("per digit", [round(float(np.mean(probabilities[y_test == d].argmax(1) == d)), 2) for d in range(10)])
print("score", round(float(np.mean(probabilities.argmax(1) == y_test)), 4))
