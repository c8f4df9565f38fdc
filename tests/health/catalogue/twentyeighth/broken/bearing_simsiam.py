"""Self-supervised embeddings of bearing vibration windows (SimSiam), judged by a linear probe."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WINDOW, CLASSES, EMBED = 128, 8, 32


def windows(n):
    y = rng.integers(0, CLASSES, n)
    t = np.arange(WINDOW)[None]
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    carrier = np.array([0.25, 0.25, 0.45, 0.45, 0.8, 0.8, 1.3, 1.3])[y][:, None]
    beat = np.array([0.05, 0.12, 0.05, 0.12, 0.05, 0.12, 0.05, 0.12])[y][:, None]
    beat_phase = rng.uniform(0, 2 * np.pi, (n, 1))
    x = np.sin(carrier * t + phase) * (1 + np.sin(beat * t + beat_phase))
    x += 0.35 * rng.normal(size=x.shape)
    return x[..., None].astype("float32"), y


def augment(x):
    n = tf.shape(x)[0]
    shift = tf.random.uniform((), 0, WINDOW, dtype=tf.int32)
    x = tf.roll(x, shift, axis=1)
    x = x * tf.random.uniform((n, 1, 1), 0.6, 1.5)
    return x + 0.15 * tf.random.normal(tf.shape(x))


def build_encoder():
    inp = keras.Input((WINDOW, 1))
    h = inp
    for filters in (24, 48, 48):
        h = layers.Conv1D(filters, 7, strides=2, padding="same")(h)
        h = layers.BatchNormalization()(h)
        h = layers.ReLU()(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, layers.Dense(EMBED)(h), name="encoder")


def build_predictor():
    inp = keras.Input((EMBED,))
    h = layers.Dense(16, activation="relu")(inp)
    return keras.Model(inp, layers.Dense(EMBED)(h), name="predictor")


def neg_cosine(p, z):
    p = tf.math.l2_normalize(p, axis=1)
    z = tf.math.l2_normalize(z, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


class SimSiam(keras.Model):
    def __init__(self, encoder, predictor):
        super().__init__()
        self.encoder = encoder
        self.predictor = predictor
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x, training=False):
        return self.predictor(self.encoder(x, training=training), training=training)

    def train_step(self, x):
        a, b = augment(x), augment(x)
        with tf.GradientTape() as tape:
            za, zb = self.encoder(a, training=True), self.encoder(b, training=True)
            pa, pb = self.predictor(za, training=True), self.predictor(zb, training=True)
            loss = 0.5 * neg_cosine(pa, zb) + 0.5 * neg_cosine(pb, za)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


train_x, _ = windows(6000)
encoder = build_encoder()
model = SimSiam(encoder, build_predictor())
model.build((None, WINDOW, 1))
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
gradwatch.watch(model)
model.fit(train_x, batch_size=128, epochs=9, verbose=2)


# linear evaluation of the frozen embeddings
def embed(x):
    z = encoder.predict(x, batch_size=500, verbose=0)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


label_x, label_y = windows(1500)
test_x, test_y = windows(1000)
probe = keras.Sequential([keras.Input((EMBED,)), layers.Dense(CLASSES, activation="softmax")])
probe.compile(optimizer=keras.optimizers.Adam(5e-2), loss="sparse_categorical_crossentropy")
probe.fit(embed(label_x), label_y, batch_size=100, epochs=40, verbose=0)
guess = probe.predict(embed(test_x), batch_size=500, verbose=0).argmax(1)
print("SCORE linear_probe_accuracy %.4f" % np.mean(guess == test_y))
