"""Segmentation of lesions on leaf photographs with a small U-Net."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE = 32


def photo():
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    img = np.stack(
        [
            0.25 + 0.1 * np.sin(xx / 5 + rng.random() * 6),
            0.55 + 0.1 * np.cos(yy / 4 + rng.random() * 6),
            np.full((SIZE, SIZE), 0.2),
        ],
        -1,
    )
    mask = np.zeros((SIZE, SIZE), bool)
    cx, cy = rng.uniform(4, 14, 2)  # one big spot, somewhere off the middle vein
    if rng.random() < 0.5:
        cx = SIZE - cx
    if rng.random() < 0.5:
        cy = SIZE - cy
    r = rng.uniform(3, 5.5)
    mask |= (xx - cx) ** 2 + (yy - cy) ** 2 < r**2
    img[mask] = img[mask] * 0.5 + np.array([0.3, 0.15, 0.05])
    img += rng.normal(0, 0.06, img.shape)
    return img.clip(0, 1), mask[..., None]


pairs = [photo() for _ in range(700)]
images = np.stack([p[0] for p in pairs]).astype("float32")
masks = np.stack([p[1] for p in pairs]).astype("float32")
x_train, y_train, x_val, y_val = images[:560], masks[:560], images[560:], masks[560:]

augment = keras.Sequential(
    [
        layers.RandomFlip("horizontal_and_vertical", seed=seed),
        layers.RandomBrightness(0.1, value_range=(0, 1), seed=seed),
    ]
)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train = train.shuffle(560, seed=seed).batch(16, drop_remainder=True)
train = train.map(lambda img, msk: (augment(img, training=True), msk))


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.Activation("relu")(x)


inp = keras.Input((SIZE, SIZE, 3))
c1 = block(inp, 8)
c2 = block(layers.MaxPooling2D()(c1), 16)
c3 = block(layers.MaxPooling2D()(c2), 24)
u2 = block(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 16)
u1 = block(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 8)
model = keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u1))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
gradwatch.watch(model)

model.fit(train, epochs=8, validation_data=(x_val, y_val), verbose=2)

pred = model.predict(x_val, verbose=0) > 0.5
inter = np.logical_and(pred, y_val > 0.5).sum()
union = np.logical_or(pred, y_val > 0.5).sum()
print(f"SCORE validation IoU {inter / max(union, 1):.3f}")
