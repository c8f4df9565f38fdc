import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def tides(n):
    a = rng.uniform(0, np.pi, n)
    up = rng.integers(0, 2, n)
    x = np.stack([np.cos(a) * (1 - 2 * up) + up, np.sin(a) * (1 - 2 * up) + 0.5 * up], 1)
    x = x - np.array([0.5, 0.25]) + rng.normal(0, 0.03, x.shape)
    return (0.2 * x).astype("float32")


class Coupling(keras.layers.Layer):
    def __init__(self, flip, **kwargs):
        super().__init__(**kwargs)
        self.flip = flip
        self.net = keras.Sequential(
            [
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(2, kernel_initializer="zeros"),
            ]
        )

    def call(self, x):
        a, b = tf.split(x, 2, axis=1)
        if self.flip:
            a, b = b, a
        s, t = tf.split(self.net(a), 2, axis=1)
        s = 2.0 * tf.tanh(s)
        b = b * tf.exp(s) + t
        out = tf.concat([b, a] if self.flip else [a, b], 1)
        return out, tf.reduce_sum(s, 1)


class Flow(keras.Model):
    def __init__(self, depth=6):
        super().__init__()
        self.blocks = [Coupling(i % 2 == 1) for i in range(depth)]

    def call(self, x):
        logdet = 0.0
        for block in self.blocks:
            x, ld = block(x)
            logdet += ld
        return -0.5 * tf.reduce_sum(tf.square(x), 1) - np.log(2 * np.pi) + logdet


flow = Flow()
flow(tides(4))
optimizer = keras.optimizers.Adam(2e-3, clipnorm=5.0)
watch = gradwatch.watch(flow)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(flow(x, training=True))
    grads = tape.gradient(loss, flow.trainable_variables)
    optimizer.apply_gradients(zip(grads, flow.trainable_variables))
    watch.log(loss=loss)
    return loss


data = tf.data.Dataset.from_tensor_slices(tides(6400)).shuffle(6400, seed=SEED).batch(128).repeat()
for i, batch in enumerate(data.take(1500)):
    loss = step(batch)
    if i % 300 == 0:
        print(i, float(loss))
print("SCORE", float(tf.reduce_mean(flow(tides(1000)))))
