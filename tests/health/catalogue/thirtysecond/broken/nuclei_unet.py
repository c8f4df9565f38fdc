"""Small U-Net that marks cell nuclei in noisy microscopy tiles."""

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
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def tile():
    mask = np.zeros((SIZE, SIZE))
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.uniform(2, SIZE - 2, 2)
        a, b, phi = rng.uniform(2.5, 5.5), rng.uniform(2.5, 5.5), rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(phi) + (yy - cy) * np.sin(phi)
        v = -(xx - cx) * np.sin(phi) + (yy - cy) * np.cos(phi)
        mask = np.maximum(mask, (u / a) ** 2 + (v / b) ** 2 < 1)
    shade = rng.uniform(0.2, 0.5) + 0.2 * (xx * rng.uniform(-1, 1) + yy * rng.uniform(-1, 1)) / SIZE
    img = shade + rng.uniform(0.2, 0.4) * mask + rng.normal(0, 0.1, (SIZE, SIZE))
    return img, mask


tiles = [tile() for _ in range(900)]
images = np.array([t[0] for t in tiles], "float32")[..., None]
masks = np.array([t[1] for t in tiles], "float32")[..., None]
x_train, m_train, x_test, m_test = images[:700], masks[:700], images[700:], masks[700:]

BATCH = 16
augment = dict(horizontal_flip=True, vertical_flip=True)
image_datagen = tf.keras.preprocessing.image.ImageDataGenerator(**augment)
mask_datagen = tf.keras.preprocessing.image.ImageDataGenerator(**augment)
image_flow = image_datagen.flow(x_train, batch_size=BATCH)
mask_flow = mask_datagen.flow(m_train, batch_size=BATCH)


def train_generator():
    while True:
        img, msk = next(image_flow), next(mask_flow)
        yield img, (msk > 0.5).astype("float32")


def block(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
    return x


inp = keras.Input((SIZE, SIZE, 1))
c1 = block(inp, 8)
c2 = block(layers.MaxPooling2D()(c1), 16)
c3 = block(layers.MaxPooling2D()(c2), 32)
u2 = block(layers.Concatenate()([layers.Conv2DTranspose(16, 2, strides=2)(c3), c2]), 16)
u1 = block(layers.Concatenate()([layers.Conv2DTranspose(8, 2, strides=2)(u2), c1]), 8)
model = keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u1))


def bce_dice(y_true, y_pred):
    bce = keras.ops.mean(keras.losses.binary_crossentropy(y_true, y_pred))
    inter = keras.ops.sum(y_true * y_pred)
    dice = (2 * inter + 1) / (keras.ops.sum(y_true) + keras.ops.sum(y_pred) + 1)
    return bce + 1 - dice


model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=bce_dice,
    metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")],
)

gradwatch.watch(model)
model.fit(train_generator(), steps_per_epoch=len(x_train) // BATCH, epochs=9, verbose=2)

pred = model.predict(x_test, verbose=0) > 0.5
truth = m_test > 0.5
print("SCORE iou", round(float((pred & truth).sum() / (pred | truth).sum()), 4))
