import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
SIZE = 32


def make_scans(n, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(float)
    images, masks = [], []
    for _ in range(n):
        cx, cy = rng.uniform(5, SIZE - 5, 2)
        a, b = rng.uniform(2.5, 6, 2)
        t = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
        v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
        mask = (u / a) ** 2 + (v / b) ** 2 < 1
        image = 0.8 * mask + 0.15 * np.sin(xx / 4 + rng.uniform(0, 6)) + rng.normal(0, 0.35, mask.shape)
        images.append(image[..., None])
        masks.append(mask[..., None])
    return np.array(images, "float32"), np.array(masks, "float32")


def augment(image, mask):
    both = tf.concat([image, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    image, mask = both[..., :1], both[..., 1:]
    image = tf.image.random_brightness(image, 0.1)
    return image, mask


def conv(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    return layers.ReLU()(layers.BatchNormalization()(x))


rng = np.random.default_rng(SEED + 9)
train, test = make_scans(1200, rng), make_scans(200, rng)
train_ds = (
    tf.data.Dataset.from_tensor_slices(train)
    .shuffle(1200, seed=SEED)
    .map(augment, num_parallel_calls=1)
    .batch(32)
    .prefetch(2)
)

image = keras.Input((SIZE, SIZE, 1))
c1 = conv(image, 8)
c2 = conv(layers.MaxPooling2D()(c1), 16)
c3 = conv(layers.MaxPooling2D()(c2), 24)
u2 = conv(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 16)
u1 = conv(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 8)
model = keras.Model(image, layers.Conv2D(1, 1, activation="sigmoid")(u1))

model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")],
)
gradwatch.watch(model)
model.fit(train_ds, epochs=9, verbose=2 if os.environ.get("SHOW") else 0)
print("SCORE", round(model.evaluate(*test, verbose=0)[1], 4))
