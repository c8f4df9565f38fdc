import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE, GRID = 32, 4
STEP = SIZE // GRID


def make_slides(n, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    images = rng.normal(0, 0.15, (n, SIZE, SIZE, 1))
    targets = np.zeros((n, GRID, GRID, 4))
    for i in range(n):
        count = 0 if rng.random() < 0.6 else rng.integers(1, 4)
        for _ in range(count):
            cx, cy = rng.uniform(3, SIZE - 3, 2)
            radius = rng.uniform(1.5, 3.5)
            images[i, ..., 0] += np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * (radius / 1.5) ** 2))
            col, row = int(cx // STEP), int(cy // STEP)
            targets[i, row, col] = [1, cx / STEP - col, cy / STEP - row, radius / 3.5]
    return images.astype("float32"), targets.astype("float32")


class CellDetector(keras.Model):
    def __init__(self):
        super().__init__()
        self.backbone = keras.Sequential(
            [
                keras.layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
                keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
                keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            ]
        )
        self.objectness = keras.layers.Conv2D(1, 1)
        self.geometry = keras.layers.Conv2D(3, 1)

    def call(self, images):
        features = self.backbone(images)
        return keras.ops.concatenate([self.objectness(features), self.geometry(features)], -1)


def detection_loss(y_true, y_pred):
    present = y_true[..., 0]
    object_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=present, logits=y_pred[..., 0]))
    box_error = tf.reduce_sum(tf.abs(y_true[..., 1:] - y_pred[..., 1:]), axis=-1)
    n_objects = tf.reduce_sum(present)
    box_loss = tf.reduce_sum(present * box_error) / n_objects
    return object_loss + 0.5 * box_loss


rng = np.random.default_rng(SEED + 3)
x_train, y_train = make_slides(3000, rng)
x_test, y_test = make_slides(500, rng)

model = CellDetector()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=detection_loss)
model(x_train[:1])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=8, epochs=6, verbose=2 if os.environ.get("SHOW") else 0)

pred = model.predict(x_test, verbose=0)
found, present = pred[..., 0] > 0, y_test[..., 0] > 0.5
close = np.abs(pred[..., 1:3] - y_test[..., 1:3]).max(-1) < 0.3
hits = (found & present & close).sum()
print("SCORE", round(2 * hits / max(found.sum() + present.sum(), 1), 4))
