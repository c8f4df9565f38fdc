import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_circles

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

ring = make_circles(6000, noise=0.03, factor=0.5, random_state=SEED)[0].astype("float32") * 0.3
train, test = ring[:5000], ring[5000:]


class Coupling(keras.layers.Layer):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = keras.Sequential(
            [
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(2, kernel_initializer="zeros"),
            ]
        )

    def call(self, x):
        a, b = x[:, :1], x[:, 1:]
        if self.flip:
            a, b = b, a
        s, t = tf.split(self.net(a), 2, axis=-1)
        s = 2.0 * tf.tanh(s)
        b = b * tf.exp(s) + t
        out = tf.concat([b, a] if self.flip else [a, b], axis=-1)
        return out, s[:, 0]


class Flow(keras.Model):
    def __init__(self, depth=8):
        super().__init__()
        self.layers_ = [Coupling(bool(i % 2)) for i in range(depth)]

    def call(self, x):
        logdet = tf.zeros(tf.shape(x)[0])
        for layer in self.layers_:
            x, ld = layer(x)
            logdet += ld
        logp = -0.5 * tf.reduce_sum(x**2, -1) - np.log(2 * np.pi)
        return logp + logdet


flow = Flow()
flow(train[:2])
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, 1500), clipnorm=5.0)
watch = gradwatch.watch(flow)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(flow(x))
    grads = tape.gradient(loss, flow.trainable_variables)
    optimizer.apply_gradients(zip(grads, flow.trainable_variables))
    watch.log(loss=loss)
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(5000, seed=SEED).repeat().batch(128, drop_remainder=True)
for i, x in enumerate(data.take(1500)):
    loss = step(x)
    if i % 250 == 0:
        print(i, float(loss))
print("SCORE", float(tf.reduce_mean(flow(test))))
