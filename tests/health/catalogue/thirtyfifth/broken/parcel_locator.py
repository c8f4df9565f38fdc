"""Locates one parcel in a conveyor camera image by regressing its bounding box with an IoU loss."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, BATCH = 32, 32


def make_images(n):
    x = 0.3 * rng.normal(size=(n, SIZE, SIZE, 1))
    boxes = np.zeros((n, 4), "float32")
    for i in range(n):
        w, h = rng.integers(6, 14, 2)
        x0, y0 = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
        x[i, y0 : y0 + h, x0 : x0 + w] += 1.0
        boxes[i] = [x0, y0, x0 + w, y0 + h]
    return x.astype("float32"), boxes / SIZE


x_train, b_train = make_images(1920)
x_test, b_test = make_images(400)


def to_corners(out):
    center, size = tf.sigmoid(out[:, :2]), tf.sigmoid(out[:, 2:])
    return tf.concat([center - size / 2, center + size / 2], axis=-1)


def iou(a, b):
    top_left = tf.maximum(a[:, :2], b[:, :2])
    bottom_right = tf.minimum(a[:, 2:], b[:, 2:])
    side = tf.maximum(bottom_right - top_left, 0.0)
    inter = side[:, 0] * side[:, 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inter / (area_a + area_b - inter + 1e-7)


model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(4, activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, boxes):
    with tf.GradientTape() as tape:
        pred = to_corners(model(x, training=True))
        loss = tf.reduce_mean(1.0 - iou(boxes, pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_train, b_train)).shuffle(1920).batch(BATCH)
for epoch in range(14):
    losses = [float(train_step(x, b)) for x, b in ds]
    print("epoch", epoch, "loss", np.mean(losses))

p = to_corners(model.predict(x_test, verbose=0)).numpy()
side = np.minimum(p[:, 2:], b_test[:, 2:]) - np.maximum(p[:, :2], b_test[:, :2])
inter = np.prod(np.maximum(side, 0), axis=1)
area = np.prod(p[:, 2:] - p[:, :2], axis=1) + np.prod(b_test[:, 2:] - b_test[:, :2], axis=1)
print("SCORE mean_iou", float((inter / (area - inter)).mean()))
