"""Segment skin lesions in small dermoscopy crops."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 40)

SIDE = 24
N_TRAIN, N_TEST = 640, 160
BATCH = 16
EPOCHS = 10


def read_crop():
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    cy, cx = rng.uniform(6, SIDE - 6, 2)
    a, b = rng.uniform(3.0, 6.5, 2)
    phi = rng.uniform(0, np.pi)
    u = (xx - cx) * np.cos(phi) + (yy - cy) * np.sin(phi)
    v = -(xx - cx) * np.sin(phi) + (yy - cy) * np.cos(phi)
    radius = np.sqrt((u / a) ** 2 + (v / b) ** 2)
    wobble = 1.0 + 0.15 * np.sin(3 * np.arctan2(v, u) + rng.uniform(0, 6))
    inside = radius < wobble
    skin = np.array([205, 165, 140]) + rng.normal(0, 10, 3)
    mole = np.array([135, 95, 80]) + rng.normal(0, 15, 3)
    soft = 1.0 / (1.0 + np.exp((radius - wobble) * 7.0))[..., None]
    shade = 1.0 + 0.12 * rng.normal() * (xx[..., None] / SIDE - 0.5)
    image = (skin * (1 - soft) + mole * soft) * shade + rng.normal(0, 14, (SIDE, SIDE, 3))
    for _ in range(rng.integers(0, 3)):
        image[:, rng.integers(SIDE)] -= 60
    return np.clip(image, 0, 255).astype("uint8"), (inside * 255).astype("uint8")


def load_split(n):
    images, masks = zip(*[read_crop() for _ in range(n)])
    images = np.stack(images).astype("float32") / 255.0
    masks = np.stack(masks)[..., None].astype("float32")
    return images, masks


train_images, train_masks = load_split(N_TRAIN)
test_images, test_masks = load_split(N_TEST)


def build():
    inputs = keras.Input((SIDE, SIDE, 3))
    c1 = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
    c1 = layers.Conv2D(8, 3, padding="same", activation="relu")(c1)
    p1 = layers.MaxPooling2D()(c1)
    c2 = layers.Conv2D(16, 3, padding="same", activation="relu")(p1)
    c2 = layers.Conv2D(16, 3, padding="same", activation="relu")(c2)
    u1 = layers.UpSampling2D()(c2)
    m = layers.Concatenate()([u1, c1])
    c3 = layers.Conv2D(8, 3, padding="same", activation="relu")(m)
    outputs = layers.Conv2D(1, 1, activation="sigmoid")(c3)
    return keras.Model(inputs, outputs, name="mini_unet")


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
)
watch = gradwatch.watch(model)
model.fit(train_images, train_masks, batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(test_images, batch_size=80, verbose=0) > 0.5
truth = test_masks > 0
inter = np.logical_and(pred, truth).sum(axis=(1, 2, 3))
union = np.logical_or(pred, truth).sum(axis=(1, 2, 3))
iou = np.mean(inter / np.maximum(union, 1))
print("score", round(float(iou), 4))
