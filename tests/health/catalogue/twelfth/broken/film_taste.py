"""Learns which films a viewer likes: factor vectors and biases for viewers and films."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VIEWERS, FILMS, FACTORS = 300, 200, 8
N = 24000

taste = rng.normal(0, 1, (VIEWERS, 4))
style = rng.normal(0, 1, (FILMS, 4))
fame = rng.normal(0, 0.5, FILMS)
viewer = rng.integers(0, VIEWERS, N)
film = rng.integers(0, FILMS, N)
affinity = 1.6 * (taste[viewer] * style[film]).sum(-1) + fame[film]
liked = (rng.random(N) < 1 / (1 + np.exp(-affinity))).astype("float32")
pairs = np.stack([viewer, film], -1).astype("int32")
train_pairs, train_liked = pairs[:20000], liked[:20000]
test_pairs, test_liked = pairs[20000:], liked[20000:]


class TasteModel(keras.Model):
    def __init__(self, viewers, films, factors):
        super().__init__()
        table = dict(embeddings_initializer="zeros")
        self.viewer_vector = layers.Embedding(viewers, factors, name="viewer_vector", **table)
        self.film_vector = layers.Embedding(films, factors, name="film_vector", **table)
        self.viewer_bias = layers.Embedding(viewers, 1, name="viewer_bias", **table)
        self.film_bias = layers.Embedding(films, 1, name="film_bias", **table)

    def call(self, pairs):
        v, f = pairs[:, 0], pairs[:, 1]
        match = ops.sum(self.viewer_vector(v) * self.film_vector(f), axis=-1, keepdims=True)
        return match + self.viewer_bias(v) + self.film_bias(f)


model = TasteModel(VIEWERS, FILMS, FACTORS)
gradwatch.watch(model)
model(train_pairs[:2])
model.compile(
    optimizer=keras.optimizers.Adam(0.02),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
model.fit(train_pairs, train_liked, batch_size=256, epochs=4, verbose=2)

logits = model.predict(test_pairs, verbose=0)[:, 0]
auc = keras.metrics.AUC(num_thresholds=1000)
auc.update_state(test_liked, 1 / (1 + np.exp(-logits)))
print(f"score auc {float(auc.result()):.4f} chance 0.5000")
