"""Find pyrite grains in thin-section tiles: a one-stage detector head with focal loss."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(23)
rs = np.random.RandomState(23)
SIZE, PRIOR = 24, 0.03


def tiles(n):
    img = rs.normal(0, 0.35, (n, SIZE, SIZE, 1)).astype("float32")
    mask = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        for _ in range(rs.randint(1, 5)):
            r, c = rs.randint(1, SIZE - 2, 2)
            img[i, r - 1 : r + 2, c - 1 : c + 2, 0] += 1.2
            mask[i, r, c, 0] = 1.0
        for _ in range(4):  # scratches
            r, c = rs.randint(0, SIZE - 5, 2)
            img[i, r, c : c + 5, 0] += 1.2
    return img, mask


def focal(y, logit, alpha=0.75, gamma=1.5):
    p = tf.sigmoid(logit)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit)
    pt = y * p + (1 - y) * (1 - p)
    at = y * alpha + (1 - y) * (1 - alpha)
    per_tile = tf.reduce_sum(at * (1 - pt) ** gamma * ce, axis=[1, 2, 3])
    return per_tile / tf.maximum(tf.reduce_sum(y, axis=[1, 2, 3]), 1.0)


class Detector(keras.Model):
    def __init__(self, depth=3, width=16):
        super().__init__()
        prior = keras.initializers.Constant(-np.log((1 - PRIOR) / PRIOR))
        common = dict(padding="same", bias_initializer=prior)
        self.stem = layers.Conv2D(width, 3, padding="same", activation="relu")
        self.tower = [layers.Conv2D(width, 3, activation="relu", **common) for _ in range(depth)]
        self.cls = layers.Conv2D(1, 3, **common)

    def call(self, x):
        x = self.stem(x)
        for conv in self.tower:
            x = conv(x)
        return self.cls(x)


X, Y = tiles(1500)
Xv, Yv = tiles(300)
net = Detector()
net.compile(optimizer=keras.optimizers.Adam(1e-3), loss=focal)
gradwatch.watch(net)
hist = net.fit(X, Y, batch_size=32, epochs=10, verbose=0)

score = net.predict(Xv, verbose=0).ravel()
truth = Yv.ravel()
top = np.argsort(-score, kind="stable")[: int(truth.sum())]
print(f"loss {hist.history['loss'][-1]:.4f}  held-out precision at recall {truth[top].mean():.3f}")
