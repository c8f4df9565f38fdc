"""Trains a convolutional classifier that names the frame type from silhouettes of bicycles."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 3)

SIDE = 16
FRAMES = ["diamond", "step-through", "mixte", "recumbent", "folding"]
rows, cols = np.mgrid[0:SIDE, 0:SIDE]


def draw_tube(canvas, p, q):
    (r0, c0), (r1, c1) = p, q
    length2 = (r1 - r0) ** 2 + (c1 - c0) ** 2 + 1e-6
    t = np.clip(((rows - r0) * (r1 - r0) + (cols - c0) * (c1 - c0)) / length2, 0, 1)
    d2 = (rows - r0 - t * (r1 - r0)) ** 2 + (cols - c0 - t * (c1 - c0)) ** 2
    np.maximum(canvas, np.exp(-d2 / 0.8), out=canvas)


NODES = {k: rng.uniform(2, SIDE - 3, size=(5, 2)) for k in range(len(FRAMES))}


def silhouettes(n):
    kind = rng.integers(0, len(FRAMES), size=n)
    images = np.zeros((n, SIDE, SIDE))
    for i, k in enumerate(kind):
        nodes = NODES[k] + rng.normal(scale=0.9, size=(5, 2)) + rng.uniform(-1.5, 1.5, size=2)
        for a in range(4):
            draw_tube(images[i], nodes[a], nodes[a + 1])
    images += 0.25 * rng.normal(size=images.shape)
    return images[..., None].astype("float32"), kind.astype("int32")


def enlarge(images, kind):
    """Adds shifted, dimmed and noisier copies of every silhouette."""
    shifted = np.roll(images, 1, axis=2)
    dimmed = 0.7 * images
    noisy = images + 0.2 * rng.normal(size=images.shape).astype("float32")
    images = np.concatenate([images, shifted, dimmed, noisy])
    return images, np.tile(kind, 4)


x_train, y_train = enlarge(*silhouettes(1500))
x_test, y_test = silhouettes(800)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(len(FRAMES), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=48, epochs=10, shuffle=True, verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))
