import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2000):
    rng = np.random.default_rng(17)
    d = rng.normal(0, 1, (n, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    mix = rng.normal(0, 1, (3, 10))
    x = d @ mix + 0.3 * np.tanh(d @ rng.normal(0, 1, (3, 10)))
    return x.astype("float32"), d.astype("float32")


class GazeModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(64, activation="swish", name="a")
        self.b = layers.Dense(64, activation="swish", name="b")
        self.vec = layers.Dense(3, name="vec")
        self.angle_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.angle_tracker]

    def call(self, x):
        return tf.math.l2_normalize(self.vec(self.b(self.a(x))), axis=1)

    def train_step(self, data):
        x, d = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            cosine = tf.reduce_sum(pred * d, axis=1)
            angle = tf.acos(cosine)
            loss = tf.reduce_mean(angle)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.angle_tracker.update_state(loss)
        return {"loss": self.angle_tracker.result()}


def main():
    keras.utils.set_random_seed(SEED)
    x, d = load()
    model = GazeModel()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    gradwatch.watch(model)
    model.fit(x, d, batch_size=64, epochs=25, verbose=2)


if __name__ == "__main__":
    main()
