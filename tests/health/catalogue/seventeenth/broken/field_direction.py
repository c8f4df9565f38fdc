"""Direction of the electric field at a probe, from five point charges around it."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(29)
rng = np.random.default_rng(29)


def charges(n, k=5):
    pos = rng.normal(size=(n, k, 3))
    pos = pos / np.linalg.norm(pos, axis=-1, keepdims=True) * rng.uniform(0.8, 2.0, size=(n, k, 1))
    q = rng.uniform(-1, 1, size=(n, k, 1))
    field = np.sum(-q * pos / np.linalg.norm(pos, axis=-1, keepdims=True) ** 3, axis=1)
    return np.concatenate([pos, q], -1).astype("float32"), field.astype("float32")


class FieldNet(keras.Model):
    """Sum of a message per charge, then a small readout."""

    def __init__(self, width=64):
        super().__init__()
        self.message = keras.Sequential(
            [
                layers.Dense(width, activation="gelu"),
                layers.Dense(width, activation="gelu"),
                layers.Dense(width),
            ]
        )
        self.readout = keras.Sequential(
            [layers.LayerNormalization(), layers.Dense(width, activation="gelu"), layers.Dense(3)]
        )
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.readout(tf.reduce_sum(self.message(x), axis=1))

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, data):
        x, field = data
        with tf.GradientTape() as tape:
            direction = self(x, training=True)
            loss = tf.reduce_mean(1.0 - keras.losses.cosine_similarity(field, direction))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


x_train, f_train = charges(20000)
x_test, f_test = charges(4000)

net = FieldNet()
net(x_train[:2])
net.compile(optimizer=keras.optimizers.AdamW(1.5e-3, weight_decay=1e-4))
gradwatch.watch(net)
hist = net.fit(x_train, f_train, batch_size=128, epochs=32, verbose=2)

p = net.predict(x_test, batch_size=1000, verbose=0)
cos = np.sum(p * f_test, -1) / (np.linalg.norm(p, axis=-1) * np.linalg.norm(f_test, axis=-1) + 1e-9)
print(f"loss {hist.history['loss'][-1]:.4f}  held-out mean cosine with the true field {cos.mean():.4f}")
