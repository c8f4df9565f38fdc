"""Outlines of small lagoons on 32x32 satellite tiles: a tiny U-Net with a Dice loss, six tiles a step."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, BATCH, STEPS = 32, 6, 900
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def tile():
    """Sand with ripples; often a lagoon (a few percent of the tile), sometimes only a dark rock."""
    image = 0.5 + 0.15 * np.sin(xx * rng.uniform(0.3, 0.9) + yy * rng.uniform(0.3, 0.9) + 6 * rng.random())
    mask = np.zeros((SIZE, SIZE))
    if rng.random() < 0.75:
        cy, cx = rng.uniform(6, SIZE - 6, 2)
        a, b, tilt = rng.uniform(2, 5), rng.uniform(2, 5), rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(tilt) + (yy - cy) * np.sin(tilt)
        v = -(xx - cx) * np.sin(tilt) + (yy - cy) * np.cos(tilt)
        mask = ((u / a) ** 2 + (v / b) ** 2 < 1).astype(float)
        image = image * (1 - mask) + mask * 0.25
    r, c = rng.integers(0, SIZE - 2, 2)
    image[r : r + 2, c : c + 2] = 0.2
    return image + 0.12 * rng.normal(size=image.shape), mask


images, masks = map(np.array, zip(*[tile() for _ in range(2000)]))
images = ((images - images.mean()) / images.std()).astype("float32")[..., None]
masks = masks.astype("float32")[..., None]
train, test = slice(0, 1700), slice(1700, 2000)
print("foreground share", masks.mean())

inp = layers.Input((SIZE, SIZE, 1))
d1 = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
d2 = layers.Conv2D(24, 3, padding="same", activation="relu")(layers.MaxPool2D()(d1))
d3 = layers.Conv2D(24, 3, padding="same", activation="relu")(layers.MaxPool2D()(d2))
u2 = layers.Conv2D(24, 3, padding="same", activation="relu")(layers.Concatenate()([layers.UpSampling2D()(d3), d2]))
u1 = layers.Conv2D(12, 3, padding="same", activation="relu")(layers.Concatenate()([layers.UpSampling2D()(u2), d1]))
unet = tf.keras.Model(inp, layers.Conv2D(1, 1, bias_initializer=tf.keras.initializers.Constant(-2.0))(u1))
opt = tf.keras.optimizers.Adam(2e-3)
gradwatch.watch(unet)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logit = unet(x, training=True)
        p = tf.sigmoid(logit)
        overlap = tf.reduce_sum(p * y, axis=[1, 2, 3])
        size = tf.reduce_sum(p, axis=[1, 2, 3]) + tf.reduce_sum(y, axis=[1, 2, 3])
        dice = 1.0 - (2.0 * overlap + 1.0) / (size + 1.0)
        cross = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit)
        loss = tf.reduce_mean(dice) + tf.reduce_mean(cross)
    grads = tape.gradient(loss, unet.trainable_variables)
    opt.apply_gradients(zip(grads, unet.trainable_variables))
    return loss


for i in range(1, STEPS + 1):
    pick = rng.integers(0, 1700, BATCH)
    loss = step(images[train][pick], masks[train][pick])
    if i % 75 == 0:
        print(f"{i:4d}  loss {float(loss):.4f}")

guess = unet.predict(images[test], batch_size=100, verbose=0) > 0
truth = masks[test] > 0.5
print("SCORE iou", round(float((guess & truth).sum() / (guess | truth).sum()), 4))
