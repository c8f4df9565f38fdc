"""Tags every word of short cooking instructions with its role, using one self-attention block over the padded sentence."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LEN, TAGS = 60, 24, 6
# words 1..6 set the kind of dish, words 7..59 take a role that depends on that kind
role = rng.integers(0, TAGS, (6, VOCAB))


def sentence():
    n = rng.integers(6, 20)
    words = rng.integers(7, VOCAB, n)
    kind = rng.integers(0, 6)
    words[rng.integers(0, n)] = kind + 1
    tags = role[kind, words]
    row, lab = np.zeros(LEN, "int32"), np.zeros(LEN, "int32")
    row[:n], lab[:n] = words, tags
    return row, lab


tokens, tags = map(np.stack, zip(*[sentence() for _ in range(5000)]))
cut = 4500


class Tagger(keras.Model):
    def __init__(self, dim=48):
        super().__init__()
        self.words = layers.Embedding(VOCAB, dim)
        self.places = layers.Embedding(LEN, dim)
        self.attend = layers.MultiHeadAttention(4, dim // 4)
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.ff1, self.ff2 = layers.Dense(128, activation="gelu"), layers.Dense(dim)
        self.out = layers.Dense(TAGS)

    def call(self, tokens, training=False):
        h = self.words(tokens) + self.places(tf.range(LEN))
        key_mask = tf.equal(tokens, 0)[:, None, :]
        h = self.norm1(h + self.attend(h, h, attention_mask=key_mask, training=training))
        h = self.norm2(h + self.ff2(self.ff1(h)))
        return self.out(h)


model = Tagger()
model(tokens[:2])
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def step(x, y):
    real = tf.cast(tf.not_equal(x, 0), tf.float32)
    with tf.GradientTape() as tape:
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
        loss = tf.reduce_sum(ce * real) / tf.reduce_sum(real)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((tokens[:cut], tags[:cut]))
for x, y in data.shuffle(cut, seed=seed).repeat().batch(64).take(900):
    step(x, y)

guess = model(tokens[cut:]).numpy().argmax(-1)
real = tokens[cut:] > 6
print("SCORE word_accuracy", round(float((guess == tags[cut:])[real].mean()), 4))
