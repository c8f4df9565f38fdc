"""Which intent does a short message have: embeddings, a small convolution, ten classes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

VOCAB, LENGTH, INTENTS = 500, 20, 10
keywords = rng.permutation(VOCAB)[: INTENTS * 12].reshape(INTENTS, 12)


def make_messages(n):
    y = rng.integers(0, INTENTS, n)
    x = rng.integers(0, VOCAB, (n, LENGTH))
    for i in range(n):
        where = rng.permutation(LENGTH)[:4]
        x[i, where] = rng.choice(keywords[y[i]], 4)
    return x.astype("int32"), y.astype("int32")


x_train, y_train = make_messages(8000)
x_test, y_test = make_messages(2000)


class IntentModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, 32)
        self.conv = layers.Conv1D(48, 3, padding="same", activation="relu")
        self.pool = layers.GlobalMaxPooling1D()
        self.hidden = layers.Dense(48, activation="relu")
        self.head = layers.Dense(INTENTS)

    def call(self, tokens, training=False):
        h = self.pool(self.conv(self.embed(tokens)))
        return self.head(self.hidden(h))


model = IntentModel()
model(x_train[:2])
loss_fn = keras.losses.SparseCategoricalCrossentropy()
optimizer = keras.optimizers.Adam(learning_rate=2e-3)
gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .batch(64, drop_remainder=True)
)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = loss_fn(y, scores)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    hits = tf.equal(tf.argmax(scores, axis=1, output_type=tf.int32), y)
    return loss, tf.reduce_mean(tf.cast(hits, tf.float32))


for epoch in range(6):
    losses, accs = [], []
    for x, y in dataset:
        loss, acc = train_step(x, y)
        losses.append(float(loss))
        accs.append(float(acc))
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} accuracy {np.mean(accs):.3f}")

scores = model(x_test).numpy()
print("SCORE accuracy", round(float(np.mean(scores.argmax(axis=1) == y_test)), 4))
