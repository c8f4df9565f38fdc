"""Segment round cells in noisy microscope tiles with a small U-Net."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 32


def make_tiles(n):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    images = np.zeros((n, SIZE, SIZE, 1), "uint8")
    masks = np.zeros((n, SIZE, SIZE, 1), "uint8")
    for i in range(n):
        m = np.zeros((SIZE, SIZE), bool)
        for _ in range(rng.integers(1, 5)):
            cy, cx = rng.uniform(3, SIZE - 3, 2)
            a, b = rng.uniform(2.5, 6, 2)
            m |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
        light = rng.uniform(70, 110) + 0.8 * xx * rng.uniform(-1, 1)
        img = light + m * rng.uniform(25, 60) + rng.normal(0, 28, (SIZE, SIZE))
        images[i, ..., 0] = np.clip(img, 0, 255)
        masks[i, ..., 0] = m * 255
    return images, masks


x_train, m_train = make_tiles(1200)
x_test, m_test = make_tiles(300)

x_train = x_train.astype("float32") / 255.0
x_test = x_test.astype("float32") / 255.0
m_train = m_train.astype("float32")


def conv(x, f):
    return layers.Conv2D(f, 3, padding="same", activation="relu")(x)


inp = keras.Input((SIZE, SIZE, 1))
c1 = conv(conv(inp, 12), 12)
c2 = conv(conv(layers.MaxPooling2D()(c1), 24), 24)
c3 = conv(layers.MaxPooling2D()(c2), 32)
u2 = layers.Concatenate()([layers.UpSampling2D()(c3), c2])
u2 = conv(u2, 24)
u1 = layers.Concatenate()([layers.UpSampling2D()(u2), c1])
u1 = conv(u1, 12)
out = layers.Conv2D(1, 1, activation="sigmoid")(u1)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")

gradwatch.watch(model)
model.fit(x_train, m_train, batch_size=24, epochs=8, verbose=2)

pred = model.predict(x_test, batch_size=100, verbose=0) > 0.5
truth = m_test > 0
inter = (pred & truth).sum((1, 2, 3))
union = (pred | truth).sum((1, 2, 3))
print("SCORE iou", round(float(np.mean(inter / np.maximum(union, 1))), 4))
