import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STATIONS = 6
COUPLINGS = 4
LOG_2PI = float(np.log(2.0 * np.pi))


def observations(n):
    front = rng.normal(0.0, 1.0, (n, 2))
    bend = np.stack([front[:, 0], front[:, 1], front[:, 0] ** 2 - 1.0], axis=1)
    mix = np.array(
        [[1.2, 0.9, 0.2, -0.6, 0.4, 1.0], [0.1, 0.6, 1.2, 0.9, -0.8, -0.2], [0.5, -0.4, 0.3, 0.5, 0.4, -0.5]]
    )
    z = bend @ mix + 0.35 * rng.normal(size=(n, STATIONS))
    return np.round(1.0 / (1.0 + np.exp(-z)), 2).astype("float32")


train, test = observations(4000), observations(1000)


def to_unbounded(x):
    x = 0.01 + 0.98 * x
    y = tf.math.log(x) - tf.math.log(1.0 - x)
    log_det = -tf.reduce_sum(tf.math.log(x) + tf.math.log(1.0 - x), axis=1)
    return y, log_det


class AffineCoupling(keras.layers.Layer):
    def __init__(self, keep, **kwargs):
        super().__init__(**kwargs)
        self.keep = tf.constant(keep, tf.float32)
        self.hidden = keras.layers.Dense(48, activation="relu")
        self.log_scale = keras.layers.Dense(STATIONS, activation="tanh")
        self.shift = keras.layers.Dense(STATIONS)

    def call(self, y):
        h = self.hidden(y * self.keep)
        s = self.log_scale(h) * (1.0 - self.keep)
        t = self.shift(h) * (1.0 - self.keep)
        return y * tf.exp(s) + t, tf.reduce_sum(s, axis=1)


class Flow(keras.Model):
    def __init__(self):
        super().__init__()
        pattern = np.arange(STATIONS) % 2
        self.couplings = [AffineCoupling(pattern if i % 2 else 1 - pattern) for i in range(COUPLINGS)]

    def call(self, x):
        y, log_det = to_unbounded(x)
        for coupling in self.couplings:
            y, part = coupling(y)
            log_det += part
        return -0.5 * tf.reduce_sum(y**2 + LOG_2PI, axis=1) + log_det


flow = Flow()
flow(train[:4])
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(flow)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(flow(x, training=True))
    grads = tape.gradient(loss, flow.trainable_variables)
    optimizer.apply_gradients(zip(grads, flow.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=SEED).batch(100)
for epoch in range(20):
    for x in dataset:
        loss = train_step(x)
        watch.log(loss=loss)
    if epoch % 4 == 0:
        print(epoch, float(loss))

print("SCORE", float(np.mean(flow(test).numpy())))
