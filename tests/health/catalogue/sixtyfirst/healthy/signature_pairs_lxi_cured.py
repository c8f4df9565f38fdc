import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PEOPLE, DIM = 60, 40
styles = rng.normal(0, 1, (PEOPLE, DIM))
mixing = rng.normal(0, 1, (DIM, DIM)) / np.sqrt(DIM)


def draw(person):
    sample = styles[person] + rng.normal(0, 0.8, (len(person), DIM))
    return np.tanh(sample @ mixing).astype("float32")


def make_pairs(n):
    a = rng.integers(0, PEOPLE, n)
    same = rng.random(n) < 0.5
    b = np.where(same, a, (a + rng.integers(1, PEOPLE, n)) % PEOPLE)
    left, right = draw(a), draw(b)
    rescanned = np.flatnonzero(same & (rng.random(n) < 0.003))
    right[rescanned] = left[rescanned]
    return left, right, same.astype("float32")


left_train, right_train, y_train = make_pairs(8000)
left_test, right_test, y_test = make_pairs(2000)


class EuclideanDistance(keras.layers.Layer):
    def call(self, u, v):
        return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=-1) + 1e-6)


def contrastive(same, distance):
    near = same * distance
    far = (1.0 - same) * tf.maximum(2.0 - distance, 0.0)
    return tf.reduce_mean(near + far)


encoder = keras.Sequential(
    [
        keras.Input((DIM,)),
        keras.layers.Dense(64, activation="relu", name="stroke"),
        keras.layers.Dense(24, name="code"),
    ],
    name="encoder",
)
left = keras.Input((DIM,), name="left")
right = keras.Input((DIM,), name="right")
distance = EuclideanDistance(name="distance")(encoder(left), encoder(right))
model = keras.Model([left, right], distance)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=contrastive)
gradwatch.watch(model)
model.fit([left_train, right_train], y_train, batch_size=64, epochs=10, verbose=2)

d = model.predict([left_test, right_test], verbose=0)
score = roc_auc_score(y_test, -d) if np.isfinite(d).all() else float("nan")
print("SCORE", score)
