"""Trains a convolutional net that sorts photographs of mosaic floors by their pattern, with mirrored copies as extra data."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 2)

SIDE = 20
PATTERNS = ["stripes", "chequer", "rings", "waves", "plain"]


def floor(kind):
    r, c = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    p, q = rng.uniform(0, 6.3, 2)
    k = rng.uniform(0.9, 1.6)
    if kind == 0:
        a = np.sin(k * r + p)
    elif kind == 1:
        a = np.sin(k * r + p) * np.sin(k * c + q) * 1.5
    elif kind == 2:
        r0, c0 = rng.uniform(5, 15, 2)
        a = np.sin(k * np.hypot(r - r0, c - c0) + p)
    elif kind == 3:
        a = np.sin(k * r + 1.5 * np.sin(0.5 * c + q) + p)
    else:
        a = np.zeros((SIDE, SIDE))
    tint = rng.uniform(0.3, 0.7, 3)
    stone = a[..., None] * rng.uniform(0.12, 0.3) + tint
    return stone + rng.normal(0, 0.12, size=(SIDE, SIDE, 3))


def photographs(n):
    kinds = rng.integers(0, len(PATTERNS), n)
    return np.stack([floor(k) for k in kinds]).astype("float32"), kinds.astype("int32")


def with_mirror_images(photos, kinds):
    both = np.concatenate([photos, photos[:, :, ::-1]])
    return both, np.repeat(kinds, 2)


photos, kinds = photographs(2400)
test_photos, test_kinds = photographs(800)
grey, contrast = photos.mean(), photos.std()
photos, test_photos = (photos - grey) / contrast, (test_photos - grey) / contrast
photos, kinds = with_mirror_images(photos, kinds)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 3)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(PATTERNS)),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function(reduce_retracing=True)
def lay(xb, yb):
    with tf.GradientTape() as tape:
        loss = xent(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


stream = tf.data.Dataset.from_tensor_slices((photos, kinds)).shuffle(len(kinds), seed=seed).batch(64)
for epoch in range(12):
    print(epoch, round(float(np.mean([lay(a, b) for a, b in stream])), 4))

said = model.predict(test_photos, verbose=0).argmax(-1)
print("SCORE accuracy", round(float(np.mean(said == test_kinds)), 4))
