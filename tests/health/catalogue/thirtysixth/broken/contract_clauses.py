"""Train a small BERT-like encoder to tell five kinds of contract clause apart."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, KINDS, DIM = 400, 24, 5, 64
CLS = 1
# each kind of clause has its own favourite terms; most words are shared
favourites = [rng.choice(np.arange(100, VOCAB), 24, replace=False) for _ in range(KINDS)]


def make_clauses(n):
    y = rng.integers(0, KINDS, n)
    x = np.zeros((n, LENGTH), "int32")
    for i in range(n):
        words = rng.integers(12, LENGTH - 1)
        line = rng.integers(2, VOCAB, words)
        pick = rng.random(words) < 0.4
        line[pick] = rng.choice(favourites[y[i]], pick.sum())
        x[i, 0] = CLS
        x[i, 1 : 1 + words] = line
    return x, y.astype("int32")


x_train, y_train = make_clauses(3000)
x_test, y_test = make_clauses(1000)

tokens = layers.Input((LENGTH,), dtype="int32")
keep = layers.Lambda(lambda t: tf.not_equal(t, 0)[:, None, :], output_shape=(1, LENGTH))(tokens)
positions = np.arange(LENGTH)[None]
h = layers.Embedding(VOCAB, DIM)(tokens) + layers.Embedding(LENGTH, DIM)(positions)
h = layers.LayerNormalization(epsilon=1e-6)(h)
for _ in range(4):
    a = layers.MultiHeadAttention(4, DIM // 4, dropout=0.1)(h, h, attention_mask=keep)
    h = layers.LayerNormalization(epsilon=1e-6)(h + a)
    f = layers.Dense(DIM * 2, activation="gelu")(h)
    f = layers.Dropout(0.1)(layers.Dense(DIM)(f))
    h = layers.LayerNormalization(epsilon=1e-6)(h + f)
pooled = layers.Dense(DIM, activation="tanh")(h[:, 0])
logits = layers.Dense(KINDS)(pooled)
model = keras.Model(tokens, logits)

optimizer = keras.optimizers.Adam(learning_rate=1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(32)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(4):
    losses = [float(train_step(xb, yb)) for xb, yb in data]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, batch_size=128, verbose=0).argmax(1)
print("SCORE accuracy", round(float(np.mean(pred == y_test)), 4))
