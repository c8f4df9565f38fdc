"""Classifies single blood cells, cut out of a microscope field by the boxes of an annotation table."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


FIELD, PATCH = 96, 20
yy, xx = np.mgrid[0:FIELD, 0:FIELD].astype("float32")


def field(n_cells=6):
    """A microscope field with its annotation rows (x_min, y_min, x_max, y_max) and kinds."""
    img = rng.normal(0.75, 0.03, (FIELD, FIELD)).astype("float32")
    boxes, kinds, centres = [], [], []
    while len(boxes) < n_cells:
        r = rng.uniform(6, 9)
        cx, cy = rng.uniform(r + 1, FIELD - r - 1, 2)
        if any((cx - a) ** 2 + (cy - b) ** 2 < 20**2 for a, b in centres):
            continue
        kind = int(rng.integers(3))
        d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
        if kind == 0:  # red cell: pale centre
            shade = 0.4 * (d < r) - 0.25 * (d < 0.45 * r)
        elif kind == 1:  # lymphocyte: one dark nucleus
            shade = 0.2 * (d < r) + 0.3 * (d < 0.6 * r)
        else:  # neutrophil: two lobes
            a = rng.uniform(0, np.pi)
            ox, oy = 0.45 * r * np.cos(a), 0.45 * r * np.sin(a)
            lobe1 = (xx - cx - ox) ** 2 + (yy - cy - oy) ** 2 < (0.35 * r) ** 2
            lobe2 = (xx - cx + ox) ** 2 + (yy - cy + oy) ** 2 < (0.35 * r) ** 2
            shade = 0.2 * (d < r) + 0.35 * (lobe1 | lobe2)
        img -= shade
        centres.append((cx, cy))
        boxes.append((cx - r, cy - r, cx + r, cy + r))
        kinds.append(kind)
    return img, boxes, kinds


def collect(n_fields):
    imgs, boxes, kinds, where = [], [], [], []
    for i in range(n_fields):
        img, b, k = field()
        imgs.append(img)
        boxes += b
        kinds += k
        where += [i] * len(b)
    return (np.stack(imgs)[..., None], np.array(boxes, "float32"), np.array(kinds, "int32"), np.array(where, "int32"))


def patches(imgs, boxes, where):
    boxes = boxes / FIELD
    return tf.image.crop_and_resize(imgs, boxes, where, (PATCH, PATCH)).numpy()


imgs, boxes, y_train, where = collect(400)
x_train = patches(imgs, boxes, where)
imgs, boxes, y_test, where = collect(100)
x_test = patches(imgs, boxes, where)

model = keras.Sequential(
    [
        layers.Input((PATCH, PATCH, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(3),
    ]
)
model.compile(optimizer="adam", metrics=["accuracy"], loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2)

acc = np.mean(model.predict(x_test, verbose=0).argmax(-1) == y_test)
print("SCORE accuracy", round(float(acc), 4))
