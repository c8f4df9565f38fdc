import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

FULL, CROP = 48, 32
rng = np.random.default_rng(SEED + 5)


def scene(n):
    imgs = rng.normal(0.2, 0.08, (n, FULL, FULL, 1))
    boxes = np.zeros((n, 4))
    for i in range(n):
        w, h = rng.integers(8, 19, 2)
        x, y = rng.integers(0, FULL - w), rng.integers(0, FULL - h)
        imgs[i, y : y + h, x : x + w] += rng.uniform(0.4, 0.8)
        boxes[i] = (x, y, x + w, y + h)
    return imgs.astype("float32"), boxes.astype("float32")


def random_crop(img, box):
    off = tf.random.uniform((2,), 0, FULL - CROP + 1, dtype=tf.int32)
    img = tf.image.crop_to_bounding_box(img, off[1], off[0], CROP, CROP)
    shift = tf.cast(tf.concat([off, off], 0), tf.float32)
    return img, tf.clip_by_value(box - shift, 0.0, float(CROP))


def encode(img, box):
    x1, y1, x2, y2 = tf.unstack(box)
    target = tf.stack(
        [(x1 + x2) / 2 / CROP, (y1 + y2) / 2 / CROP, tf.math.log((x2 - x1) / 12.0), tf.math.log((y2 - y1) / 12.0)]
    )
    return img, target


def decode(p):
    cx, cy = p[:, 0] * CROP, p[:, 1] * CROP
    w, h = 12 * np.exp(p[:, 2]), 12 * np.exp(p[:, 3])
    return np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)


def iou(a, b):
    lo, hi = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, 2:], b[:, 2:])
    inter = np.prod(np.clip(hi - lo, 0, None), 1)
    area = lambda z: np.prod(np.clip(z[:, 2:] - z[:, :2], 0, None), 1)
    return inter / (area(a) + area(b) - inter + 1e-9)


imgs, boxes = scene(1500)
train = (
    tf.data.Dataset.from_tensor_slices((imgs, boxes))
    .shuffle(1500, seed=SEED)
    .map(random_crop)
    .filter(lambda img, box: tf.reduce_all(box[2:] - box[:2] > 2.0))
    .map(encode)
    .batch(32)
    .prefetch(2)
)

inp = keras.Input((CROP, CROP, 1))
x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
x = layers.Flatten()(x)
x = layers.Dense(64, activation="relu")(x)
out = layers.Dense(4, name="box")(x)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(2e-3), loss="mse")
watch = gradwatch.watch(model)
model.fit(train, epochs=14, verbose=2)

t_imgs, t_boxes = scene(600)
mid = (FULL - CROP) // 2
t_imgs, t_boxes = t_imgs[:, mid : mid + CROP, mid : mid + CROP], np.clip(t_boxes - mid, 0, CROP)
seen = ((t_boxes[:, 2:] - t_boxes[:, :2]) >= 3).all(1)
print("SCORE", float(np.mean(iou(decode(model.predict(t_imgs[seen], verbose=0)), t_boxes[seen]))))
