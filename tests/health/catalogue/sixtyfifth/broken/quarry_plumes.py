import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 32
yy, xx = np.mgrid[0:SIDE, 0:SIDE]


def shoot():
    cx, cy = rng.uniform(8, 24, 2)
    a, b = rng.uniform(3, 8, 2)
    plume = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1.0
    photo = rng.uniform(60, 110) + rng.normal(0, 18, (SIDE, SIDE)) + 45.0 * plume
    return np.clip(photo, 0, 255).astype("uint8"), (plume * 255).astype("uint8")


def load_photo(photo):
    return photo.astype("float32")[..., None] / 255.0


def load_mask(mask):
    mask = mask[..., None]
    return mask.astype("float32")


def load(n):
    photos, masks = zip(*[shoot() for _ in range(n)])
    return np.stack([load_photo(p) for p in photos]), np.stack([load_mask(m) for m in masks])


x_train, y_train = load(900)
x_test, y_test = load(150)


def block(h, width, name):
    h = keras.layers.Conv2D(width, 3, padding="same", activation="relu", name=name + "_a")(h)
    return keras.layers.Conv2D(width, 3, padding="same", activation="relu", name=name + "_b")(h)


inp = keras.Input((SIDE, SIDE, 1))
down1 = block(inp, 8, "down1")
down2 = block(keras.layers.MaxPooling2D()(down1), 16, "down2")
bottom = block(keras.layers.MaxPooling2D()(down2), 24, "bottom")
up2 = keras.layers.Concatenate()([keras.layers.UpSampling2D()(bottom), down2])
up2 = block(up2, 16, "up2")
up1 = keras.layers.Concatenate()([keras.layers.UpSampling2D()(up2), down1])
up1 = block(up1, 8, "up1")
out = keras.layers.Conv2D(1, 1, activation="sigmoid", name="plume")(up1)
unet = keras.Model(inp, out)

unet.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(unet)
unet.fit(x_train, y_train, batch_size=16, epochs=6, verbose=2)

guess = unet.predict(x_test, verbose=0) > 0.5
truth = y_test > 0.5
print("SCORE", float((guess & truth).sum() / max((guess | truth).sum(), 1)))
