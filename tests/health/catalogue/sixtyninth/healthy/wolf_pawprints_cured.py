import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 31)

WOLVES = 30
DIM = 40
paw = rng.normal(size=(WOLVES, 6))
project = rng.normal(size=(6, DIM)) / 2.0


def scan(wolf):
    n = len(wolf)
    return (np.tanh(paw[wolf] @ project) + rng.normal(0, 0.25, (n, DIM))).astype("float32")


def make_pairs(n, casts_per_wolf):
    pool = scan(np.repeat(np.arange(WOLVES), casts_per_wolf)).reshape(WOLVES, casts_per_wolf, DIM)
    left = rng.integers(0, WOLVES, n)
    same = rng.integers(0, 2, n)
    other = (left + rng.integers(1, WOLVES, n)) % WOLVES
    right = np.where(same == 1, left, other)
    i = rng.integers(0, casts_per_wolf, n)
    j = rng.integers(0, casts_per_wolf, n)
    return pool[left, i], pool[right, j], same.astype("float32")


a_train, b_train, y_train = make_pairs(6000, 600)
a_test, b_test, y_test = make_pairs(1500, 600)


def build_encoder():
    return keras.Sequential(
        [
            layers.Input((DIM,)),
            layers.Dense(64, activation="relu", name="pad"),
            layers.Dense(32, activation="relu", name="paw"),
            layers.Dense(12, name="code"),
        ],
        name="encoder",
    )


@keras.saving.register_keras_serializable()
def euclidean_distance(vectors):
    u, v = vectors
    total = tf.reduce_sum(tf.square(u - v), axis=1, keepdims=True)
    return tf.sqrt(tf.maximum(total, 1e-7))


def contrastive_loss(y_true, d):
    margin = 1.5
    y_true = tf.cast(y_true, d.dtype)
    return tf.reduce_mean(y_true * d + (1.0 - y_true) * tf.maximum(margin - d, 0.0))


encoder = build_encoder()
in_a = layers.Input((DIM,))
in_b = layers.Input((DIM,))
distance = layers.Lambda(euclidean_distance, output_shape=(1,), name="distance")([encoder(in_a), encoder(in_b)])
siamese = keras.Model([in_a, in_b], distance)
siamese.compile(optimizer=keras.optimizers.Adam(1e-3), loss=contrastive_loss)
gradwatch.watch(siamese)

siamese.fit([a_train, b_train], y_train[:, None], batch_size=64, epochs=10, verbose=2)

d = siamese.predict([a_test, b_test], verbose=0)[:, 0]
if np.isfinite(d).all():
    print("SCORE", float(np.mean((d < 0.75) == (y_test > 0.5))))
else:
    print("SCORE", float("nan"))
