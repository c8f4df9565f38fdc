import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(77)
gen = np.random.default_rng(77)
H = W = 12


class WeightedObservation(tf.keras.losses.Loss):
    """Squared error weighted with the inverse variance of each gauge; y_true = (value, sigma, present)."""

    def call(self, y_true, y_pred):
        value, sigma, present = tf.unstack(y_true, axis=-1)
        precision = 1.0 / tf.square(sigma)
        misfit = present * precision * tf.square(y_pred[..., 0] - value)
        return tf.reduce_sum(misfit, axis=[1, 2]) / (tf.reduce_sum(present * 1.0, axis=[1, 2]) + 1.0)


def fields(n):
    gy, gx = np.mgrid[0:H, 0:W] / H
    k = gen.uniform(1, 5, (n, 3, 2, 1, 1))
    ph = gen.uniform(0, 6.3, (n, 3, 1, 1))
    f = np.sin(k[:, :, 0] * gy + k[:, :, 1] * gx + ph).sum(1)
    coarse = f.reshape(n, H // 3, 3, W // 3, 3).mean((2, 4)).repeat(3, 1).repeat(3, 2)
    x = np.stack([coarse, np.broadcast_to(gy, f.shape), np.broadcast_to(gx, f.shape)], -1)
    sigma = gen.uniform(0.15, 0.5, f.shape)
    present = (gen.random(f.shape) < 0.7).astype("float32")
    lost = gen.random(n) < 0.002
    present[lost, :3] = 0
    sigma[lost, :3] = 0.0
    value = (f + sigma * gen.normal(size=f.shape)) * present
    return x.astype("float32"), np.stack([value, sigma, present], -1).astype("float32"), f


model = tf.keras.Sequential(
    [
        layers.Input((H, W, 3)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(24, 5, padding="same", activation="relu"),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(1, 1),
    ]
)
x, y, _ = fields(3000)
xt, _, truth = fields(400)
model.compile(tf.keras.optimizers.AdamW(2e-3, weight_decay=1e-3), WeightedObservation())
gradwatch.watch(model)
losses = []
for step in range(320):
    i = gen.integers(0, len(x), 32)
    losses.append(float(model.train_on_batch(x[i], y[i])))
p = model.predict_on_batch(xt)[..., 0]
print("loss", losses[-1], "held-out R2 of the field", 1 - np.mean((p - truth) ** 2) / truth.var())
