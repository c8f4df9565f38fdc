"""Topics of user comments by attention pooling over word vectors, in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

VOCAB, LENGTH, TOPICS = 600, 20, 8
LOSS_SCALE = 256.0


class Comments:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.keywords = np.random.default_rng(SEED).permutation(np.arange(1, VOCAB))[: TOPICS * 12].reshape(TOPICS, 12)

    def draw(self, n):
        topic = self.rng.integers(0, TOPICS, n)
        ids = np.zeros((n, LENGTH), "int32")
        for row, t in enumerate(topic):
            size = min(self.rng.binomial(40, 0.165), LENGTH)
            text = self.rng.integers(1, VOCAB, size)
            hit = self.rng.random(size) < 0.35
            text[hit] = self.rng.choice(self.keywords[t], hit.sum())
            ids[row, :size] = text
        return ids, topic


class AttentionPool(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.hidden = keras.layers.Dense(32, activation="tanh")
        self.score = keras.layers.Dense(1)

    def call(self, vectors, ids):
        s = tf.squeeze(self.score(self.hidden(vectors)), -1)
        s = tf.where(ids > 0, s, tf.cast(-1e9, s.dtype))
        weight = tf.nn.softmax(s, axis=-1)
        return tf.reduce_sum(vectors * weight[..., None], axis=1)


tokens = keras.Input((LENGTH,), dtype="int32")
vec = keras.layers.Embedding(VOCAB, 32, name="words")(tokens)
pooled = AttentionPool(name="attention")(vec, tokens)
hid = keras.layers.Dense(48, activation="relu", name="hidden")(pooled)
logits = keras.layers.Dense(TOPICS, dtype="float32", name="topics")(hid)
model = keras.Model(tokens, logits)
gradwatch.watch(model)

opt = keras.optimizers.Adam(5e-3)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(ids, topic):
    with tf.GradientTape() as tape:
        loss = xent(topic, model(ids, training=True))
        scaled = loss * LOSS_SCALE
    grads = [tf.convert_to_tensor(g) / LOSS_SCALE for g in tape.gradient(scaled, model.trainable_variables)]
    opt.apply(grads, model.trainable_variables)
    return loss


source = Comments(SEED + 1)
for i in range(300):
    ids, topic = source.draw(32)
    loss = step(tf.constant(ids), tf.constant(topic))
    if i % 25 == 0:
        print(i, round(float(loss), 4))

ids, topic = Comments(SEED + 2).draw(1500)
guess = np.argmax(model.predict(ids, batch_size=500, verbose=0), axis=1)
print("held-out accuracy %.3f, chance %.3f" % (np.mean(guess == topic), 1 / TOPICS))
