"""Learns leaf outlines without labels by predicting one jittered view from another, with a slowly following target network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, KINDS, n = 48, 10, 2400
phi = np.linspace(0, 2 * np.pi, T, endpoint=False)
kind = rng.integers(0, KINDS, n)
amp = rng.uniform(0.03, 0.2, (KINDS, 5))
ang = rng.uniform(0, 2 * np.pi, (KINDS, 5))
# the two slowest waves of an outline come from the way a leaf lay on the scanner
lie = np.stack([np.cos(phi), np.sin(phi), np.cos(2 * phi), np.sin(2 * phi)]).astype("float32")


def outline(k):
    a = amp[k] * rng.normal(1, 0.3, 5)
    edge = sum(a[j] * np.cos((j + 3) * phi + ang[k, j]) for j in range(5))
    return edge + rng.normal(0, 0.5, 4) @ lie + rng.normal(0, 0.08, T)


leaves = np.stack([outline(k) for k in kind]).astype("float32")


def view(x):
    x = x * tf.random.uniform((tf.shape(x)[0], 1), 0.8, 1.2)
    x = x + tf.matmul(tf.random.normal((tf.shape(x)[0], 4), stddev=0.5), lie)
    return x + tf.random.normal(tf.shape(x), stddev=0.08)


def encoder():
    return keras.Sequential(
        [
            keras.Input((T,)),
            layers.Dense(64),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dense(32),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dense(32),
        ]
    )


class Leaves(keras.Model):
    def __init__(self):
        super().__init__()
        self.online, self.slow = encoder(), encoder()
        self.slow.set_weights(self.online.get_weights())
        self.slow.trainable = False
        self.predictor = keras.Sequential(
            [keras.Input((32,)), layers.Dense(32), layers.BatchNormalization(), layers.ReLU(), layers.Dense(32)]
        )

    def call(self, x):
        return self.predictor(self.online(x))

    def train_step(self, x):
        a, b = view(x), view(x)
        ta, tb = self.slow(a, training=False), self.slow(b, training=False)
        with tf.GradientTape() as tape:
            pa = self.predictor(self.online(a, training=True), training=True)
            pb = self.predictor(self.online(b, training=True), training=True)
            cos = keras.losses.cosine_similarity
            loss = tf.reduce_mean(cos(tf.stop_gradient(tb), pa) + cos(tf.stop_gradient(ta), pb))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for s, o in zip(self.slow.weights, self.online.weights):
            s.assign(0.98 * s + 0.02 * o)
        return {"loss": loss}


model = Leaves()
model(leaves[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
model.fit(
    tf.data.Dataset.from_tensor_slices(leaves[:2000]).shuffle(2000, seed=seed).batch(64, drop_remainder=True),
    epochs=45,
    verbose=0,
)

e = model.online.predict(leaves, verbose=0)
e /= np.linalg.norm(e, axis=1, keepdims=True)
near = (e[2000:] @ e[:2000].T).argmax(1)
print("SCORE neighbour_accuracy", round(float((kind[near] == kind[2000:]).mean()), 4))
