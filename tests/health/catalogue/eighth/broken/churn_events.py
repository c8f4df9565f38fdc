# Churn of subscribers from their last 40 app events.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED + 2)

EVENTS, LENGTH, USERS = 120, 40, 9000


def subscribers():
    tokens = np.zeros((USERS, LENGTH), dtype="int32")
    churn = np.zeros((USERS, 1), dtype="float32")
    for i in range(USERS):
        taste = rng.dirichlet(np.full(6, 0.5))
        count = min(LENGTH, 1 + rng.poisson(16))
        if rng.random() < 8e-4:
            count = 0
        groups = rng.choice(6, count, p=taste)
        tokens[i, :count] = 1 + groups * 19 + rng.integers(0, 19, count)
        score = 2.2 * taste[1] - 2.6 * taste[4] - 0.06 * (count - 16)
        churn[i] = rng.random() < 1 / (1 + np.exp(-1.5 * score))
    return tokens, churn


class AttentionPool(layers.Layer):
    def __init__(self, heads=4, width=16, **kw):
        super().__init__(**kw)
        self.heads, self.width = heads, width
        self.key = layers.Dense(heads * width)
        self.value = layers.Dense(heads * width)

    def build(self, shapes):
        self.key.build(shapes[0])
        self.value.build(shapes[0])
        self.query = self.add_weight(shape=(self.heads, self.width), initializer="glorot_uniform", name="query")
        self.blank = self.add_weight(shape=(self.heads * self.width,), initializer="zeros", name="blank")

    def call(self, inputs):
        x, present = inputs
        split = (-1, LENGTH, self.heads, self.width)
        k = tf.reshape(self.key(x), split)
        v = tf.reshape(self.value(x), split)
        scores = tf.einsum("bthw,hw->bht", k, tf.cast(self.query, k.dtype)) / self.width**0.5
        scores = tf.where(present[:, None, :], scores, tf.cast(-1e9, scores.dtype))
        pooled = tf.einsum("bht,bthw->bhw", tf.nn.softmax(scores, axis=-1), v)
        pooled = tf.reshape(pooled, (-1, self.heads * self.width))
        active = tf.reduce_any(present, axis=1, keepdims=True)
        return tf.where(active, pooled, tf.cast(self.blank, pooled.dtype))


class ChurnNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(EVENTS, 32)
        self.mix = layers.Dense(64, activation="gelu")
        self.pool = AttentionPool()
        self.top = layers.Dense(48, activation="relu")
        self.logit = layers.Dense(1, dtype="float32")

    def call(self, tokens, training=False):
        h = self.mix(self.embed(tokens))
        return self.logit(self.top(self.pool([h, tokens > 0])))


tokens, churn = subscribers()
model = ChurnNet()
model(tokens[:2])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1.5e-3), initial_scale=256.0)
model.compile(
    optimizer=optimizer,
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
gradwatch.watch(model)
model.fit(tokens, churn, batch_size=32, epochs=1, shuffle=True, verbose=2)
