"""Next article of a shopping session: most articles are rare; long warm-up, Lion, sampled label noise, tied output."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ARTICLES, LENGTH, WIDTH, BATCH, STEPS, WARMUP = 300, 10, 48, 64, 750, 150

popularity = 1.0 / np.arange(1, ARTICLES + 1) ** 0.9
popularity /= popularity.sum()
follows = rng.permutation(ARTICLES)


def sessions(count, noise):
    items = np.zeros((count, LENGTH + 1), dtype="int32")
    items[:, 0] = rng.choice(ARTICLES, count, p=popularity)
    items[:, 1] = rng.choice(ARTICLES, count, p=popularity)
    for t in range(2, LENGTH + 1):
        new = rng.choice(ARTICLES, count, p=popularity)
        items[:, t] = np.where(rng.random(count) < noise, new, follows[items[:, t - 2]])
    return items


class NextArticle(keras.Model):
    def __init__(self):
        super().__init__()
        self.table = keras.layers.Embedding(ARTICLES, WIDTH)
        self.place = keras.layers.Embedding(LENGTH, WIDTH)
        self.attend = keras.layers.MultiHeadAttention(4, 16, dropout=0.1)
        self.norms = [keras.layers.LayerNormalization() for _ in range(3)]
        self.wide = keras.layers.Dense(2 * WIDTH, activation="gelu")
        self.narrow = keras.layers.Dense(WIDTH)

    def call(self, items, training=False):
        x = self.table(items) + self.place(tf.range(LENGTH))[None]
        n = self.norms[0](x)
        x = x + self.attend(n, n, use_causal_mask=True, training=training)
        x = x + self.narrow(self.wide(self.norms[1](x)))
        return tf.matmul(self.norms[2](x), self.table.embeddings, transpose_b=True)


model = NextArticle()
model(tf.zeros((1, LENGTH), tf.int32))
schedule = keras.optimizers.schedules.CosineDecay(
    0.0, STEPS - WARMUP, warmup_target=1.5e-3, warmup_steps=WARMUP, alpha=0.02
)
optimizer = keras.optimizers.Lion(schedule, weight_decay=0.01, global_clipnorm=1.0)


@tf.function
def train_step(items):
    with tf.GradientTape() as tape:
        logits = model(items[:, :-1], training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(items[:, 1:], logits)
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


gradwatch.watch(model)
for step in range(STEPS):
    loss = train_step(sessions(BATCH, 0.3))
    if step % 200 == 0:
        print(f"step {step} loss {float(loss):.3f}")

items = sessions(1000, 0.0)
guess = np.argmax(model.predict(items[:, :-1], batch_size=100, verbose=0), axis=-1)
print("SCORE accuracy", round(float(np.mean(guess[:, 1:] == items[:, 2:])), 4))
