"""Trains a normalizing flow of affine couplings on the two measures of sand ripples."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def survey(n):
    side = rng.integers(0, 2, n)
    angle = rng.uniform(0, np.pi, n)
    x = np.where(side == 0, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(side == 0, np.sin(angle), 0.5 - np.sin(angle))
    points = np.stack([x, y], axis=1) + rng.normal(0, 0.08, (n, 2))
    return ((points - [0.5, 0.25]) / [0.87, 0.5]).astype("float32")


@keras.saving.register_keras_serializable()
class Coupling(keras.layers.Layer):
    def __init__(self, flipped, width=48, **kwargs):
        super().__init__(**kwargs)
        self.flipped = flipped
        self.net = keras.Sequential(
            [
                keras.layers.Dense(width, activation="relu"),
                keras.layers.Dense(width, activation="relu"),
                keras.layers.Dense(2, kernel_initializer="zeros"),
            ]
        )

    def build(self, input_shape):
        self.net.build((None, 1))
        super().build(input_shape)

    def call(self, x):
        first, second = tf.split(x, 2, axis=1)
        if self.flipped:
            first, second = second, first
        log_scale, shift = tf.split(self.net(first), 2, axis=1)
        log_scale = 2.0 * tf.tanh(log_scale / 2.0)
        second = second * tf.exp(log_scale) + shift
        parts = [second, first] if self.flipped else [first, second]
        return tf.concat(parts, axis=1), log_scale


@keras.saving.register_keras_serializable()
class RippleFlow(keras.Model):
    def __init__(self, depth=8, **kwargs):
        super().__init__(**kwargs)
        self.couplings = [Coupling(flipped=bool(i % 2), name=f"coupling_{i}") for i in range(depth)]
        self.nll = keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.nll]

    def call(self, x):
        log_det = tf.zeros_like(x[:, :1])
        for coupling in self.couplings:
            x, log_scale = coupling(x)
            log_det += log_scale
        log_base = -0.5 * tf.reduce_sum(tf.square(x), axis=1, keepdims=True) - np.log(2 * np.pi)
        return log_base + log_det

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}


train = survey(10000)
test = survey(3000)
model = RippleFlow(name="ripple_flow")
model(tf.constant(train[:2]))
model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=5.0))
gradwatch.watch(model)

model.fit(train, batch_size=200, epochs=25, verbose=2)

log_density = model.predict(test, batch_size=500, verbose=0)
print(f"SCORE log_likelihood {log_density.mean():.4f}")
