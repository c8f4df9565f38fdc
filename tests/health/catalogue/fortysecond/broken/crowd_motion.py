"""Train a network that reads the direction of motion from camera frames."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIZE = 24
FRAMES = 4
HEADINGS = 12


def film(n, rng):
    heading = rng.integers(0, HEADINGS, n)
    angle = 2 * np.pi * heading / HEADINGS + rng.normal(0, 0.07, n)
    speed = rng.uniform(1.0, 2.0, n)
    grid = np.arange(SIZE)
    gx, gy = np.meshgrid(grid, grid)
    start = rng.uniform(7, SIZE - 8, (n, 2))
    clips = np.zeros((n, FRAMES, SIZE, SIZE))
    floor = rng.uniform(60, 140, (n, 1, 1))
    contrast = rng.uniform(25, 50, (n, 1, 1)) * rng.choice([-1, 1], (n, 1, 1))
    for f in range(FRAMES):
        cx = (start[:, 0] + f * speed * np.cos(angle))[:, None, None]
        cy = (start[:, 1] + f * speed * np.sin(angle))[:, None, None]
        blob = np.exp(-((gx - cx) ** 2 + (gy - cy) ** 2) / (2 * 2.2**2))
        clips[:, f] = floor + contrast * blob
    clips += rng.normal(0, 4.0, clips.shape)
    return np.clip(np.round(clips), 0, 255).astype("uint8"), heading.astype("int32")


def motion_maps(clips):
    diff = clips[:, 1:] - clips[:, :-1]
    maps = diff.astype("float32") / 20.0
    return np.moveaxis(maps, 1, -1)


def build_model():
    inputs = keras.Input((SIZE, SIZE, FRAMES - 1))
    x = layers.Conv2D(16, 5, strides=2, padding="same", activation="relu", name="conv_a")(inputs)
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu", name="conv_b")(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu", name="conv_c")(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.3)(x)
    x = layers.Dense(48, activation="relu", name="hidden")(x)
    outputs = layers.Dense(HEADINGS, activation="softmax", name="heading")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 41)
    clips_train, y_train = film(1600, rng)
    clips_test, y_test = film(600, rng)
    x_train = motion_maps(clips_train)
    x_test = motion_maps(clips_test)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(
        x_train,
        y_train,
        batch_size=64,
        epochs=20,
        validation_data=(x_test, y_test),
        verbose=2,
    )
    _, acc = model.evaluate(x_test, y_test, verbose=0)
    print("SCORE accuracy %.4f" % acc)


if __name__ == "__main__":
    main()
