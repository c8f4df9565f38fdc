"""Segments lanes and cars in small street scenes, tile by tile, from 8-bit camera frames."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SIDE, TILE = 48, 12
GRID = SIDE // TILE
yy, xx = np.mgrid[0:SIDE, 0:SIDE]


def scene():
    img = rng.integers(60, 90, (SIDE, SIDE, 3), dtype="uint8")
    mask = np.zeros((SIDE, SIDE), "uint8")
    slope, start = rng.uniform(-0.4, 0.4), rng.uniform(12, 36)
    lane = np.abs(xx - start - slope * yy) < 2.5
    img[lane] = rng.integers(180, 255, (int(lane.sum()), 3), dtype="uint8")
    mask[lane] = 1
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.integers(4, SIDE - 8, 2)
        h, w = rng.integers(5, 10), rng.integers(5, 12)
        car = img[cy : cy + h, cx : cx + w]
        car[...] = rng.integers(0, 50, car.shape, dtype="uint8")
        car[..., rng.integers(3)] += np.uint8(120)
        mask[cy : cy + h, cx : cx + w] = 2
    return img, mask


def collect(n):
    pairs = [scene() for _ in range(n)]
    return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])


def to_tiles(a):
    """(n, 48, 48, ...) -> (n * 16, 12, 12, ...)"""
    n, rest = a.shape[0], a.shape[3:]
    a = a.reshape(n, GRID, TILE, GRID, TILE, *rest)
    a = np.moveaxis(a, 3, 2)
    return a.reshape(n * GRID * GRID, TILE, TILE, *rest)


img_train, mask_train = collect(500)
img_test, mask_test = collect(80)
x_train = to_tiles(img_train).astype("float32") / 255.0
x_test = to_tiles(img_test).astype("float32") / 255.0
# labels on half the resolution
y_train = tf.image.resize(to_tiles(mask_train)[..., None], (6, 6), method="nearest").numpy()[..., 0]
y_test = tf.image.resize(to_tiles(mask_test)[..., None], (6, 6), method="nearest").numpy()[..., 0]

model = keras.Sequential(
    [
        layers.Input((TILE, TILE, 3)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(3, 1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = tf.reshape(model(x, training=True), [-1, 3])
        flat = tf.cast(tf.reshape(y, [-1]), tf.int32)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(flat, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000).batch(64, drop_remainder=True)
for epoch in range(6):
    losses = [float(train_step(*b)) for b in data]
    print("epoch", epoch, "loss", round(np.mean(losses), 4))

pred = model.predict(x_test, batch_size=256, verbose=0).argmax(-1)
iou = [np.sum((pred == k) & (y_test == k)) / np.sum((pred == k) | (y_test == k)) for k in range(3)]
print("SCORE mean_iou", round(float(np.mean(iou)), 4))
