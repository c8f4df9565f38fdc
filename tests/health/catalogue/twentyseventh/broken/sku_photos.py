"""Sort small product photos into 6 packaging shapes (synthetic catalogue)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE, CLASSES = 20, 6


def draw(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(7, 13, 2)
    r = rng.uniform(3.5, 6.0)
    dy, dx = yy - cy, xx - cx
    if kind == 0:  # can
        m = dy**2 + dx**2 < r**2
    elif kind == 1:  # box
        m = (abs(dy) < r * 0.85) & (abs(dx) < r * 0.85)
    elif kind == 2:  # ring
        d = dy**2 + dx**2
        m = (d < r**2) & (d > (r * 0.55) ** 2)
    elif kind == 3:  # bag
        m = (abs(dx) < (dy + r) * 0.5) & (abs(dy) < r)
    elif kind == 4:  # cross pack
        m = ((abs(dx) < r * 0.3) & (abs(dy) < r)) | ((abs(dy) < r * 0.3) & (abs(dx) < r))
    else:  # tube
        m = abs(dx - dy) < r * 0.35
        m &= abs(dx + dy) < 2 * r
    fg, bg = rng.uniform(120, 240, 3), rng.uniform(10, 110, 3)
    img = np.where(m[..., None], fg, bg) + rng.normal(0, 18, (SIZE, SIZE, 3))
    return np.clip(img, 0, 255).astype("uint8")


def load_split(per_class):
    """Reads the catalogue folder by folder, as it lies on disk."""
    images, labels = [], []
    for kind in range(CLASSES):
        for _ in range(per_class):
            images.append(draw(kind))
            labels.append(kind)
    return np.stack(images), np.array(labels, "int32")


x_train, y_train = load_split(700)
x_test, y_test = load_split(120)
BATCH = 32

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(100)
    .batch(BATCH)
    .map(lambda x, y: (tf.cast(x, tf.float32), y))
    .prefetch(2)
)
test_ds = tf.data.Dataset.from_tensor_slices((x_test.astype("float32"), y_test)).batch(128)

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 3)),
        layers.Rescaling(1 / 127.5, offset=-1),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(CLASSES),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1.5e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_ds, epochs=6, verbose=2)
loss, acc = model.evaluate(test_ds, verbose=0)
print("test loss %.3f" % loss)
print("SCORE accuracy %.4f" % acc)
