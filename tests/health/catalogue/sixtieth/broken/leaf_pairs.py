import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.linear_model import LogisticRegression

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

rng = np.random.default_rng(SEED)
CLASSES, SIGNAL, NUISANCE = 8, 8, 24
mixing = np.linalg.qr(rng.normal(size=(SIGNAL + NUISANCE, SIGNAL + NUISANCE)))[0].astype("float32")
species = rng.normal(0, 1.0, (CLASSES, SIGNAL))


def leaves(n):
    y = rng.integers(0, CLASSES, n)
    s = species[y] + rng.normal(0, 0.35, (n, SIGNAL))
    u = rng.normal(0, 1.5, (n, NUISANCE))
    return (np.concatenate([s, u], 1) @ mixing).astype("float32"), y


def two_views(x):
    def view():
        light = tf.random.normal((tf.shape(x)[0], NUISANCE), stddev=1.5)
        light = tf.concat([tf.random.normal((tf.shape(x)[0], SIGNAL), stddev=0.1), light], 1)
        keep = tf.matmul(x, mixing, transpose_b=True)[:, :SIGNAL]
        base = tf.concat([keep, tf.zeros((tf.shape(x)[0], NUISANCE))], 1)
        return tf.matmul(base + light, mixing)

    return view(), view()


x_train, y_train = leaves(4000)
x_test, y_test = leaves(1000)
data = (
    tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=SEED).batch(128, drop_remainder=True).map(two_views)
)

encoder = keras.Sequential(
    [
        keras.Input((SIGNAL + NUISANCE,)),
        keras.layers.Dense(128, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.Dense(64, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.Dense(16, use_bias=False),
        keras.layers.BatchNormalization(),
    ],
    name="encoder",
)
predictor = keras.Sequential(
    [
        keras.Input((16,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(16),
    ],
    name="predictor",
)


def similarity(p, z):
    p, z = tf.math.l2_normalize(p, 1, 1e-6), tf.math.l2_normalize(z, 1, 1e-6)
    return -tf.reduce_mean(tf.reduce_sum(p * z, 1))


class Siamese(keras.Model):
    def __init__(self, encoder, predictor):
        super().__init__()
        self.encoder, self.predictor = encoder, predictor
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def train_step(self, views):
        a, b = views
        with tf.GradientTape() as tape:
            za, zb = self.encoder(a, training=True), self.encoder(b, training=True)
            pa, pb = self.predictor(za, training=True), self.predictor(zb, training=True)
            loss = 0.5 * similarity(pa, zb) + 0.5 * similarity(pb, za)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


model = Siamese(encoder, predictor)
model.compile(optimizer=keras.optimizers.Adam(1e-3))
watch = gradwatch.watch(model)
model.fit(data, epochs=25, verbose=2)


def embed(x):
    z = encoder.predict(x, verbose=0)
    return z / (np.linalg.norm(z, axis=1, keepdims=True) + 1e-6)


probe = LogisticRegression(max_iter=500).fit(embed(x_train)[:200], y_train[:200])
print("SCORE", float(probe.score(embed(x_test), y_test)))
