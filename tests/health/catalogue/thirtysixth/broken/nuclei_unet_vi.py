"""Segment cell nuclei in small microscope images with a little U-Net."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 32


def make_slides(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    images = np.zeros((n, SIZE, SIZE), "float32")
    masks = np.zeros((n, SIZE, SIZE), "uint8")
    for k in range(n):
        img = 40 + 20 * np.sin(xx / rng.uniform(4, 9) + rng.uniform(0, 6)) + rng.normal(0, 12, (SIZE, SIZE))
        for _ in range(rng.integers(2, 6)):
            cx, cy = rng.uniform(3, SIZE - 3, 2)
            rx, ry = rng.uniform(2.5, 5.5, 2)
            inside = ((xx - cx) / rx) ** 2 + ((yy - cy) / ry) ** 2 < 1
            img[inside] = rng.uniform(110, 200) + rng.normal(0, 15, inside.sum())
            masks[k][inside] = 1
        images[k] = np.clip(img, 0, 255)
    return images[..., None], masks[..., None]


images, masks = make_slides(1000)
images = images.astype("float32") / 255.0
targets = masks.astype("float32") / 255.0
x_train, y_train = images[:800], targets[:800]
x_test, truth = images[800:], masks[800:] > 0


def block(t, width):
    t = layers.Conv2D(width, 3, padding="same", activation="relu")(t)
    return layers.Conv2D(width, 3, padding="same", activation="relu")(t)


inp = layers.Input((SIZE, SIZE, 1))
d1 = block(inp, 8)
d2 = block(layers.MaxPooling2D()(d1), 16)
mid = block(layers.MaxPooling2D()(d2), 24)
u2 = block(layers.Concatenate()([layers.UpSampling2D()(mid), d2]), 16)
u1 = block(layers.Concatenate()([layers.UpSampling2D()(u2), d1]), 8)
out = layers.Conv2D(1, 1, activation="sigmoid")(u1)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
gradwatch.watch(model)
model.fit(x_train, y_train, epochs=8, batch_size=16, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0) > 0.5
iou = (pred & truth).sum() / max((pred | truth).sum(), 1)
print("SCORE iou", round(float(iou), 4))
