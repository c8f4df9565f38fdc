"""Tag short support tickets (multi-label) with a GRU; gradients of several micro-batches are summed to fit in memory."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
VOCAB, LENGTH, TAGS, MICRO, ACCUM = 300, 16, 6, 16, 4

# every tag has its own key words; a negation word right before a key word cancels it
key_words = rng.permutation(np.arange(2, VOCAB))[: TAGS * 10].reshape(TAGS, 10)
NEGATION = 1


def make_tickets(n):
    words = rng.integers(2, VOCAB, (n, LENGTH))
    words[np.isin(words, key_words)] = 2
    labels = np.zeros((n, TAGS), "float32")
    for row in range(n):
        slots = rng.choice(np.arange(1, LENGTH, 2), 3, replace=False)
        for slot, tag in zip(slots, rng.choice(TAGS, 3, replace=False)):
            words[row, slot] = rng.choice(key_words[tag])
            if rng.random() < 0.35:
                words[row, slot - 1] = NEGATION
            else:
                labels[row, tag] = 1.0
    return words.astype("int32"), labels


x_train, y_train = make_tickets(3000)
x_test, y_test = make_tickets(600)

model = keras.Sequential(
    [
        keras.Input((LENGTH,), dtype="int32"),
        layers.Embedding(VOCAB, 32),
        layers.Bidirectional(layers.GRU(24, return_sequences=True)),
        layers.GlobalMaxPooling1D(),
        layers.Dense(TAGS),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True)) / ACCUM
    for total, grad in zip(sums, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(tf.convert_to_tensor(grad))
    return loss * ACCUM


@tf.function
def apply_sums():
    optimizer.apply_gradients(zip([s.read_value() for s in sums], model.trainable_variables))


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(MICRO, drop_remainder=True)

gradwatch.watch(model)
micro = 0
for epoch in range(4):
    losses = []
    for x, y in data:
        losses.append(float(micro_step(x, y)))
        micro += 1
        if micro % ACCUM == 0:
            apply_sums()
    print("epoch %d loss %.4f" % (epoch, np.mean(losses)))

pred = model.predict(x_test, verbose=0) > 0
truth = y_test > 0.5
f1 = 2 * (pred & truth).sum() / (pred.sum() + truth.sum())
print("SCORE micro_f1 %.4f" % f1)
