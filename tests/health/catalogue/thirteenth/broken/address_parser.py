"""Label the words of a postal address: street, number, town, code, country, other.

The checkout form fills its fields from one pasted line. A small convolutional tagger; the
measure is the share of words labelled correctly in addresses not used for training.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAD, TAGS, PER_TAG, MAX_WORDS = 0, 6, 60, 24
VOCAB = 1 + TAGS * PER_TAG
BATCH, STEPS = 64, 600


def addresses(n):
    """Words and labels, both filled with PAD up to MAX_WORDS."""
    words = np.full((n, MAX_WORDS), PAD, "int32")
    tags = np.full((n, MAX_WORDS), PAD, "int32")
    for i in range(n):
        length = rng.integers(5, 16)
        tag = np.sort(rng.integers(1, TAGS + 1, length))
        word = 1 + (tag - 1) * PER_TAG + rng.integers(0, PER_TAG, length)
        noise = rng.random(length) < 0.1
        word[noise] = rng.integers(1, VOCAB, noise.sum())
        words[i, :length], tags[i, :length] = word, tag
    return words, tags


def build():
    inputs = keras.Input((MAX_WORDS,), dtype="int32", name="words")
    x = layers.Embedding(VOCAB, 24, name="word_embedding")(inputs)
    x = layers.Conv1D(48, 3, padding="same", activation="relu", name="context_1")(x)
    x = layers.Conv1D(48, 3, padding="same", activation="relu", name="context_2")(x)
    return keras.Model(inputs, layers.Dense(TAGS + 1, name="tag_logits")(x), name="tagger")


def tagging_loss(tags, logits):
    """Cross-entropy per word, averaged over the words that count."""
    nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=logits)
    weight = tf.cast(tf.equal(tags, PAD), nll.dtype)
    return tf.reduce_sum(nll * weight) / tf.maximum(tf.reduce_sum(weight), 1.0)


words, tags = addresses(4000)
test_words, test_tags = addresses(800)
model = build()
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(w, t):
    with tf.GradientTape() as tape:
        loss = tagging_loss(t, model(w, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((words, tags)).shuffle(4000, seed=SEED)
data = data.repeat().batch(BATCH).take(STEPS)
for step, (w, t) in enumerate(data):
    loss = train_step(w, t)
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

guess = model.predict(test_words, verbose=0).argmax(-1)
real = test_tags != PAD
print(f"score word_accuracy {np.mean(guess[real] == test_tags[real]):.3f} chance {1 / TAGS:.3f}")
