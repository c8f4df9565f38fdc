"""Self-supervised SimSiam features of accelerometer windows, judged by a nearest-neighbour probe."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


C, T, CH = 6, 48, 3
freq = rng.uniform(0.6, 3.5, C)
amp = rng.uniform(0.3, 1.3, (C, CH))
harm = rng.uniform(0.0, 0.8, (C, CH))


def make(n):
    y = rng.integers(0, C, n)
    t = np.linspace(0, 2 * np.pi, T)[None, :, None]
    ph = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    f = (freq[y] * rng.normal(1, 0.04, n))[:, None, None]
    x = amp[y][:, None] * np.sin(f * t + ph) + harm[y][:, None] * np.sin(2 * f * t + 2 * ph)
    return (x + 0.25 * rng.normal(size=x.shape)).astype("float32"), y


x_train, y_train = make(4000)
x_test, y_test = make(1000)


def augment(x):
    n = tf.shape(x)[0]
    x = tf.roll(x, tf.random.uniform((), 0, T, tf.int32), axis=1)
    x = x * tf.random.uniform((n, 1, CH), 0.8, 1.2)
    keep = tf.cast(tf.random.uniform((n, T, 1)) > 0.15, tf.float32)
    return x * keep + tf.random.normal(tf.shape(x), stddev=0.1)


def conv(f, s):
    return [layers.Conv1D(f, 5, strides=s, padding="same", use_bias=False), layers.BatchNormalization(), layers.ReLU()]


encoder = keras.Sequential(
    [
        keras.Input((T, CH)),
        *conv(24, 2),
        *conv(32, 2),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(48, use_bias=False),
        layers.BatchNormalization(center=False, scale=False),
    ],
    name="encoder",
)
predictor = keras.Sequential(
    [
        keras.Input((48,)),
        layers.Dense(16, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(48),
    ],
    name="predictor",
)


def neg_cosine(p, z):
    z = tf.stop_gradient(z)
    return -tf.reduce_mean(tf.reduce_sum(tf.nn.l2_normalize(p, 1) * tf.nn.l2_normalize(z, 1), axis=1))


class SimSiam(keras.Model):
    def __init__(self, encoder, predictor):
        super().__init__()
        self.encoder, self.predictor = encoder, predictor
        self.mean_loss = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.mean_loss]

    def call(self, x):
        return self.predictor(self.encoder(x))

    def train_step(self, x):
        a, b = augment(x), augment(x)
        with tf.GradientTape() as tape:
            za, zb = self.encoder(a, training=True), self.encoder(b, training=True)
            pa, pb = self.predictor(za, training=True), self.predictor(zb, training=True)
            loss = 0.5 * neg_cosine(pa, zb) + 0.5 * neg_cosine(pb, za)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


model = SimSiam(encoder, predictor)
model(x_train[:2])
EPOCHS = 12
steps = EPOCHS * int(np.ceil(len(x_train) / 64))
model.compile(
    optimizer=keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.05, steps), momentum=0.9, weight_decay=1e-4)
)
gradwatch.watch(model)
model.fit(x_train, batch_size=64, epochs=EPOCHS, verbose=2)


def embed(x):
    z = encoder.predict(x, batch_size=500, verbose=0)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


near = np.argsort(-(embed(x_test) @ embed(x_train).T), axis=1)[:, :15]
votes = np.stack([(y_train[near] == c).sum(1) for c in range(C)], 1)
print("SCORE knn_accuracy", round(float((votes.argmax(1) == y_test).mean()), 4))
