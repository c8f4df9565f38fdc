"""Outline the ponds in aerial tiles (48 x 48, three bands) with a small U-net."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIDE, BATCH, STEPS = 48, 24, 600


def tile():
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    mask = np.zeros((SIDE, SIDE), bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(6, SIDE - 6, 2)
        ry, rx = rng.uniform(4, 10, 2)
        tilt = rng.uniform(0, np.pi)
        u = (yy - cy) * np.cos(tilt) + (xx - cx) * np.sin(tilt)
        v = (xx - cx) * np.cos(tilt) - (yy - cy) * np.sin(tilt)
        mask |= (u / ry) ** 2 + (v / rx) ** 2 < 1
    grass = np.array([0.35, 0.5, 0.3]) + rng.normal(0, 0.05, 3)
    water = np.array([0.30, 0.42, 0.42]) + rng.normal(0, 0.05, 3)
    image = np.where(mask[..., None], water, grass)
    image = image * (1 + 0.15 * np.sin(xx / rng.uniform(3, 9) + rng.uniform(0, 6)))[..., None]
    return image + rng.normal(0, 0.08, image.shape), mask[..., None]


tiles = [tile() for _ in range(1000)]
images = np.stack([t[0] for t in tiles]).astype("float32") * 2 - 0.8
masks = np.stack([t[1] for t in tiles]).astype("float32")
n_train = 850


def turn(picture):
    """Any of the eight ways to lay a square tile."""
    picture = tf.image.random_flip_left_right(picture)
    picture = tf.image.random_flip_up_down(picture)
    return tf.image.rot90(picture, tf.random.uniform((), 0, 4, tf.int32))


def augment(image, mask):
    both = turn(tf.concat([image, mask], axis=-1))
    image, mask = both[..., :3], both[..., 3:]
    image = tf.image.random_brightness(image, 0.1)
    return image, mask


train = (
    tf.data.Dataset.from_tensor_slices((images[:n_train], masks[:n_train]))
    .shuffle(n_train)
    .repeat()
    .map(augment, num_parallel_calls=2)
    .batch(BATCH)
    .prefetch(2)
)


def conv(x, filters):
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


inp = keras.Input((SIDE, SIDE, 3))
first = conv(inp, 12)
second = conv(layers.MaxPooling2D()(first), 24)
deep = conv(conv(layers.MaxPooling2D()(second), 32), 32)
up = conv(layers.Concatenate()([layers.UpSampling2D()(deep), second]), 24)
up = conv(layers.Concatenate()([layers.UpSampling2D()(up), first]), 12)
net = keras.Model(inp, layers.Conv2D(1, 1)(up))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(net)


@tf.function
def step(image, mask):
    with tf.GradientTape() as tape:
        logits = net(image, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=mask, logits=logits))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for number, (image, mask) in enumerate(train.take(STEPS)):
    loss = step(image, mask)
    if number % 100 == 0:
        print(number, f"{float(loss):.4f}")

found = net.predict(images[n_train:], verbose=0) > 0
truth = masks[n_train:] > 0.5
print("SCORE iou", round(float((found & truth).sum() / (found | truth).sum()), 4))
