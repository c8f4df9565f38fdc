"""Segmentation of lesions on leaf photographs (24x24 grey). Bright round lesions must be
marked while long veins of the same brightness are left out. A small U-Net is trained on
augmented images; the measure is the intersection over union on held-out leaves."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 24


def make_leaves(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    images = 0.3 * rng.normal(size=(n, SIDE, SIDE))
    masks = np.zeros((n, SIDE, SIDE))
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx, r = rng.uniform(3, SIDE - 3), rng.uniform(3, SIDE - 3), rng.uniform(2, 4)
            masks[i][(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = 1
        a, b = rng.uniform(-1, 1), rng.uniform(4, SIDE - 4)
        images[i][np.abs(yy - a * (xx - SIDE / 2) - b) < 0.7] += 1
        images[i] += masks[i]
    return images[..., None].astype("float32"), masks[..., None].astype("float32")


def augment(image, mask):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    image = image * tf.random.uniform((), 0.9, 1.1)
    return image, mask


leaves, masks = make_leaves(900)
test_leaves, test_masks = make_leaves(200)
train = tf.data.Dataset.from_tensor_slices((leaves, masks)).shuffle(900, seed=SEED)
train = train.map(augment, num_parallel_calls=2).batch(32).prefetch(2)

inputs = keras.Input((SIDE, SIDE, 1), name="leaf")
d1 = layers.Conv2D(12, 3, padding="same", activation="relu", name="down_1")(inputs)
d2 = layers.Conv2D(24, 3, padding="same", activation="relu", name="down_2")(layers.MaxPooling2D()(d1))
mid = layers.Conv2D(24, 3, padding="same", activation="relu", name="mid")(d2)
up = layers.Concatenate()([layers.UpSampling2D()(mid), d1])
u1 = layers.Conv2D(12, 3, padding="same", activation="relu", name="up_1")(up)
model = keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid", name="lesion")(u1))

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
watch = gradwatch.watch(model)
model.fit(train, epochs=8, verbose=2)

pred = model.predict(test_leaves, verbose=0) > 0.4
truth = test_masks > 0.5
score = float((pred & truth).sum() / (pred | truth).sum())
print(f"score iou {score:.3f} chance {truth.mean():.3f}")
