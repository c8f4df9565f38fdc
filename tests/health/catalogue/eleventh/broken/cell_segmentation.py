"""Segmentation of bright cells on a dim microscope background."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)


def plates(n, rng, side=24):
    yy, xx = np.mgrid[:side, :side]
    img = rng.normal(0, 0.25, (n, side, side))
    mask = np.zeros((n, side, side), bool)
    for k in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx, r = rng.uniform(3, side - 3), rng.uniform(3, side - 3), rng.uniform(2, 4.5)
            d2 = ((yy - cy) ** 2 + (xx - cx) ** 2) / r**2
            img[k] += rng.uniform(0.8, 2.0) * np.exp(-d2)
            mask[k] |= d2 < 1
    return img[..., None].astype("float32"), mask[..., None].astype("float32")


class Segmenter(keras.Model):
    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.mean_loss = keras.metrics.Mean(name="pixel_loss")

    @property
    def metrics(self):
        return [self.mean_loss]

    def train_step(self, data):
        image, target = data
        with tf.GradientTape() as tape:
            p = self(image, training=True)
            per_pixel = -(target * tf.math.log(p) + (1.0 - target) * tf.math.log(1.0 - p))
            loss = tf.reduce_mean(per_pixel)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.mean_loss.update_state(loss)
        return {"pixel_loss": self.mean_loss.result()}


inp = keras.Input((24, 24, 1))
a = layers.Conv2D(12, 3, padding="same", activation="relu", name="down_1")(inp)
b = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu", name="down_2")(a)
b = layers.Conv2D(24, 3, padding="same", activation="relu", name="bottom")(b)
u = layers.UpSampling2D()(b)
u = layers.Concatenate()([u, a])
u = layers.Conv2D(12, 3, padding="same", activation="relu", name="up_1")(u)
model = Segmenter(inp, layers.Conv2D(1, 1, activation="sigmoid", name="cell")(u))
gradwatch.watch(model)

rng = np.random.default_rng(SEED)
x, y = plates(2000, rng)
xt, yt = plates(300, rng)
model.compile(optimizer=keras.optimizers.Adam(4e-3))
model.fit(x, y, batch_size=32, epochs=4, verbose=2)

hit = model.predict(xt, verbose=0) > 0.5
truth = yt > 0.5
print("held-out IoU %.3f" % (np.sum(hit & truth) / max(1, np.sum(hit | truth))))
