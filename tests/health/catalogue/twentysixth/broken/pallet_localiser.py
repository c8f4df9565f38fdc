"""Find the pallet in a 40x40 overhead camera picture: regress its box (x0, y0, x1, y1), in fractions of the frame."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE = 40


def make_frames(n):
    images = rng.normal(0.25, 0.06, size=(n, SIZE, SIZE, 1))
    boxes = np.zeros((n, 4))
    images += np.linspace(0.0, 0.2, SIZE).reshape(1, SIZE, 1, 1)
    for i in range(n):
        w, h = rng.integers(8, 18, size=2)
        x0, y0 = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
        shade = rng.uniform(0.6, 0.95)
        images[i, y0 : y0 + h, x0 : x0 + w, 0] += shade - 0.3
        images[i, y0 : y0 + h : 3, x0 : x0 + w, 0] -= 0.2
        cx, cy = rng.integers(0, SIZE - 3, size=2)
        images[i, cy : cy + 3, cx : cx + 3, 0] += 0.4
        boxes[i] = [x0, y0, x0 + w, y0 + h]
    return images.astype("float32"), (boxes / SIZE).astype("float32")


def augment(image, box):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.1)
    return image, box


def box_iou(a, b):
    left_top = np.maximum(a[:, :2], b[:, :2])
    right_bottom = np.minimum(a[:, 2:], b[:, 2:])
    inter = np.prod(np.clip(right_bottom - left_top, 0, None), axis=1)
    area = lambda q: np.prod(np.clip(q[:, 2:] - q[:, :2], 0, None), axis=1)
    return inter / (area(a) + area(b) - inter + 1e-9)


x_train, y_train = make_frames(2400)
x_test, y_test = make_frames(400)

train = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(2400, seed=seed)
    .map(augment, num_parallel_calls=2)
    .batch(48)
    .prefetch(2)
)
valid = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(100)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(12, 5, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(4),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.Huber(delta=0.1), metrics=["mae"])

gradwatch.watch(model)
model.fit(train, validation_data=valid, epochs=14, verbose=2)

pred = model.predict(x_test, verbose=0)
print("SCORE mean_iou %.4f" % box_iou(pred, y_test).mean())
