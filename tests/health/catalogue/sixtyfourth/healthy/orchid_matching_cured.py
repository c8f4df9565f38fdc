import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

KINDS = 12
DIM = 30


def sample_flowers(rng, centers, mixer, per_kind):
    kind = np.repeat(np.arange(KINDS), per_kind)
    latent = centers[kind] + rng.normal(0, 0.6, (len(kind), 6))
    flowers = np.tanh(latent @ mixer) + rng.normal(0, 0.25, (len(kind), DIM))
    return flowers.astype("float32"), kind


def draw_pairs(rng, flowers, kind, count):
    left = rng.integers(0, len(flowers), count)
    right = rng.integers(0, len(flowers), count)
    for i in range(0, count, 2):
        right[i] = rng.choice(np.flatnonzero(kind == kind[left[i]]))
    same = (kind[left] == kind[right]).astype("float32")
    return flowers[left], flowers[right], same


class PairMatcher(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.layers.Dense(64, activation="relu", name="petal_hidden"),
                keras.layers.Dense(64, activation="relu", name="petal_mix"),
                keras.layers.Dense(8, name="petal_code"),
            ]
        )
        self.margin = 2.0

    def call(self, pair, training=False):
        left = self.encoder(pair[0], training=training)
        right = self.encoder(pair[1], training=training)
        return tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(left - right), axis=1), 1e-9))

    def train_step(self, data):
        pair, same = data
        with tf.GradientTape() as tape:
            dist = self(pair, training=True)
            pull = same * dist
            push = (1.0 - same) * tf.square(tf.nn.relu(self.margin - dist))
            loss = tf.reduce_mean(pull + push)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


rng = np.random.default_rng(SEED)
centers = rng.normal(size=(KINDS, 6))
mixer = rng.normal(size=(6, DIM)) / 2
flowers, kind = sample_flowers(rng, centers, mixer, 120)
held, held_kind = sample_flowers(rng, centers, mixer, 40)
a, b, same = draw_pairs(rng, flowers, kind, 9600)
ta, tb, tsame = draw_pairs(rng, held, held_kind, 2000)

model = PairMatcher()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model((a[:2], b[:2]))
gradwatch.watch(model)
model.fit((a, b), same, batch_size=64, epochs=20, shuffle=True, verbose=0)

dist = np.asarray(model((ta, tb)))
score = roc_auc_score(tsame, -dist) if np.isfinite(dist).all() else float("nan")
print("SCORE", float(score))
