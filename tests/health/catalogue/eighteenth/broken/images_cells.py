import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(8)
S = 28


def make_slides(n, seed):
    """Grey slides with round cells, and the annotators' masks."""
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[:S, :S]
    img = g.normal(0.35, 0.10, (n, S, S))
    lab = np.zeros((n, S, S), np.uint8)
    for i in range(n):
        img[i] += 0.25 * np.sin(xx / g.uniform(3, 8) + g.uniform(0, 6))
        for _ in range(g.integers(1, 5)):
            cx, cy, rad = g.uniform(4, S - 4), g.uniform(4, S - 4), g.uniform(2.5, 5.5)
            d = np.hypot(xx - cx, yy - cy)
            inside = d < rad
            img[i][inside] += g.uniform(0.18, 0.32) + 0.10 * np.sin(3 * d[inside])
            rim = np.abs(d - rad) < 0.6
            lab[i][inside & (lab[i] != 255)] = 1
            lab[i][rim] = 255
    return img[..., None].astype("float32"), lab[..., None].astype("float32")


def pixel_loss(y, z):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z)
    return tf.reduce_mean(ce)


def unet():
    i = layers.Input((S, S, 1))
    a = layers.Conv2D(12, 3, padding="same", activation="relu")(i)
    a = layers.Conv2D(12, 3, padding="same", activation="relu")(a)
    b = layers.MaxPooling2D()(a)
    b = layers.Conv2D(24, 3, padding="same", activation="relu")(b)
    b = layers.Conv2D(24, 3, padding="same", activation="relu")(b)
    c = layers.Concatenate()([layers.UpSampling2D()(b), a])
    c = layers.Conv2D(12, 3, padding="same", activation="relu")(c)
    return tf.keras.Model(i, layers.Conv2D(1, 1)(c))


x, y = make_slides(1200, 1)
xv, yv = make_slides(200, 2)
model = unet()
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss=pixel_loss)
gradwatch.watch(model)
hist = model.fit(x, y, batch_size=32, epochs=10, verbose=2)

judged = yv < 2
hit = model.predict(xv, verbose=0) > 0
truth = yv == 1
iou = np.sum(hit & truth & judged) / np.sum((hit | truth) & judged)
print("loss", hist.history["loss"][-1], "held-out IoU", round(float(iou), 4))
