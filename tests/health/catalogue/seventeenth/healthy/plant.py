# Density model of 20 correlated plant sensors: Gaussian decoder with a learned width per sensor, 12 latent codes.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SENSORS, CODES = 20, 12
keras.utils.set_random_seed(55)
rng = np.random.default_rng(55)
mixing = rng.standard_normal((3, 40))
second = rng.standard_normal((40, SENSORS)) / 5


def readings(n):
    z = rng.standard_normal((n, 3))
    noise = np.linspace(0.02, 0.15, SENSORS) * rng.standard_normal((n, SENSORS))
    return (np.tanh(z @ mixing * 0.6) @ second + noise).astype("float32")


class Density(keras.Model):
    def __init__(self):
        super().__init__()
        act = "tanh"
        self.encode = keras.Sequential(
            [layers.Dense(64, activation=act), layers.Dense(64, activation=act), layers.Dense(2 * CODES)]
        )
        self.decode = keras.Sequential(
            [layers.Dense(64, activation=act), layers.Dense(64, activation=act), layers.Dense(SENSORS)]
        )
        self.width = self.add_weight(shape=(SENSORS,), initializer="zeros", name="width")
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        return self.decode(self.encode(x)[:, :CODES])

    def bound(self, x):
        p = self.encode(x)
        m, s = p[:, :CODES], p[:, CODES:]
        out = self.decode(m + tf.exp(0.5 * s) * tf.random.normal(tf.shape(m)))
        nll = 0.5 * tf.reduce_sum(tf.square((x - out) / tf.exp(self.width)) + 2 * self.width + 1.8378771, 1)
        kl = 0.5 * tf.reduce_sum(tf.exp(s) + tf.square(m) - 1.0 - s, 1)
        return tf.reduce_mean(nll + kl)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = self.bound(x)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


train, test = readings(8000), readings(1500)
model = Density()
model(train[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
hist = model.fit(train, batch_size=80, epochs=50, verbose=2, shuffle=True)
rec = model(test).numpy()
r2 = 1 - np.mean((rec - test) ** 2) / np.var(test - test.mean(0))
print(
    f"final loss {hist.history['loss'][-1]:.3f}  held-out bound {float(model.bound(tf.constant(test))):.3f}  reconstruction R2 {r2:.4f}"
)
