"""Train a classifier of plankton silhouettes read folder by folder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIZE = 24
BATCH = 32
EPOCHS = 10
FOLDERS = ["ciliate", "copepod", "diatom", "larva", "noctiluca", "radiolarian"]


def read_folder(index, n, rng):
    grid = np.linspace(-1, 1, SIZE)
    gx, gy = np.meshgrid(grid, grid)
    angle = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    x0 = gx - rng.uniform(-0.2, 0.2, (n, 1, 1))
    y0 = gy - rng.uniform(-0.2, 0.2, (n, 1, 1))
    u = x0 * np.cos(angle) + y0 * np.sin(angle)
    v = -x0 * np.sin(angle) + y0 * np.cos(angle)
    r = np.sqrt(u**2 + v**2)
    theta = np.arctan2(v, u)
    size = rng.uniform(0.45, 0.6, (n, 1, 1))
    field = [
        size - np.sqrt(u**2 + (2.2 * v) ** 2),
        np.maximum(size - 0.15 - r, 0.09 - np.abs(v) + 0 * r),
        np.minimum(0.14 - np.abs(v), size - np.abs(u)),
        size * (0.75 + 0.3 * np.cos(3 * theta)) - r,
        0.12 - np.abs(r - size * 0.8),
        size * (0.75 + 0.3 * np.cos(6 * theta)) - r,
    ][index]
    image = 1.0 / (1.0 + np.exp(-field / 0.05)) + rng.normal(0, 0.18, (n, SIZE, SIZE))
    return (2.0 * image - 0.6).astype("float32")[..., None]


def read_all(per_class, rng):
    images, labels = [], []
    for index, _ in enumerate(FOLDERS):
        images.append(read_folder(index, per_class, rng))
        labels.append(np.full(per_class, index, "int32"))
    return np.concatenate(images), np.concatenate(labels)


def build_model():
    inputs = keras.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(16, 3, padding="same", activation="relu", name="conv_a")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu", name="conv_b")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(48, activation="relu", name="hidden")(x)
    outputs = layers.Dense(len(FOLDERS), activation="softmax", name="kind")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 71)
    x_train, y_train = read_all(640, rng)
    x_test, y_test = read_all(100, rng)
    train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    train = train.shuffle(len(x_train), seed=SEED).batch(BATCH).prefetch(2)
    valid = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(100)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(train, epochs=EPOCHS, validation_data=valid, verbose=2)
    _, acc = model.evaluate(valid, verbose=0)
    print("SCORE accuracy %.4f" % acc)


if __name__ == "__main__":
    main()
