"""Part-of-speech tagging of invented sentences with a bidirectional GRU."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# tags: 0 pad, 1 DET, 2 ADJ, 3 NOUN, 4 VERB, 5 ADV, 6 PREP
NUM_TAGS = 7
LEXICON = {1: (1, 9), 2: (9, 80), 3: (60, 200), 4: (160, 260), 5: (255, 290), 6: (290, 302)}
NEXT = {0: [1, 3, 5], 1: [2, 3, 3], 2: [3, 3, 2], 3: [4, 4, 6], 4: [1, 5, 6, 1], 5: [4, 2, 6], 6: [1, 3]}
MAXLEN = 30


def sentence():
    tags, tag = [], 0
    for _ in range(rng.integers(6, MAXLEN)):
        tag = int(rng.choice(NEXT[tag]))
        tags.append(tag)
    words = [int(rng.integers(*LEXICON[t])) for t in tags]
    return words, tags


corpus = [sentence() for _ in range(1500)]
x = keras.utils.pad_sequences([w for w, _ in corpus], MAXLEN, padding="post")
y = keras.utils.pad_sequences([t for _, t in corpus], MAXLEN, padding="post")
x_train, y_train, x_test, y_test = x[:1200], y[:1200], x[1200:], y[1200:]

inp = keras.Input((MAXLEN,), dtype="int32")
h = layers.Embedding(310, 16)(inp)
h = layers.Bidirectional(layers.GRU(16, return_sequences=True))(h)
h = layers.Dropout(0.2)(h)
model = keras.Model(inp, layers.Dense(NUM_TAGS)(h))
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)

xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def masked_loss(tags, logits):
    mask = tf.cast(tf.math.equal(tags, 0), tf.float32)
    return tf.reduce_sum(xent(tags, logits) * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)


@tf.function
def train_step(words, tags):
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        loss = masked_loss(tags, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1200, seed=seed).batch(32)
for epoch in range(8):
    losses = [float(train_step(w, t)) for w, t in train]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

real = y_test > 0
pred = model.predict(x_test, verbose=0).argmax(-1)
print(f"SCORE accuracy on words {np.mean(pred[real] == y_test[real]):.3f}")
