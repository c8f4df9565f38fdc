"""Route support tickets to queues with a small transformer encoder."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAD, CLS = 0, 1
VOCAB, MAXLEN, QUEUES, DIM = 260, 28, 6, 32
STEPS, BATCH = 300, 48

keywords = rng.permutation(np.arange(2, 2 + QUEUES * 14)).reshape(QUEUES, 14)


def make_tickets(n):
    ids = np.full((n, MAXLEN), PAD, dtype="int32")
    queue = rng.integers(QUEUES, size=n)
    for i, q in enumerate(queue):
        length = rng.integers(10, 23)
        body = rng.integers(2 + QUEUES * 14, VOCAB, size=length)
        body[:3] = rng.choice(keywords[q], size=3)
        body[-1] = rng.choice(keywords[rng.integers(QUEUES)])
        rng.shuffle(body)
        ids[i, 0] = CLS
        ids[i, 1 : length + 1] = body
    return ids, queue.astype("int32")


angle = np.arange(MAXLEN)[:, None] / 1000.0 ** (np.arange(DIM // 2)[None, :] / (DIM // 2))
POSITIONS = 0.1 * np.concatenate([np.sin(angle), np.cos(angle)], axis=1)[None].astype("float32")


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.norm1 = layers.LayerNormalization(epsilon=1e-5)
        self.norm2 = layers.LayerNormalization(epsilon=1e-5)
        self.up = layers.Dense(2 * dim, activation="gelu")
        self.down = layers.Dense(dim)

    def call(self, x, mask):
        h = self.norm1(x)
        x = x + self.attn(h, h, attention_mask=mask)
        return x + self.down(self.up(self.norm2(x)))


class Router(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens = layers.Embedding(VOCAB, DIM)
        self.blocks = [Block(DIM, 4), Block(DIM, 4)]
        self.norm = layers.LayerNormalization(epsilon=1e-5)
        self.head = layers.Dense(QUEUES)

    def call(self, ids):
        padding = tf.not_equal(ids, PAD)[:, tf.newaxis, :]
        x = self.tokens(ids) + POSITIONS
        for block in self.blocks:
            x = block(x, padding)
        return self.head(self.norm(x[:, 0]))


x_train, y_train = make_tickets(6000)
x_test, y_test = make_tickets(1000)
model = Router()
model(x_train[:2])
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(ids, queue):
    with tf.GradientTape() as tape:
        loss = loss_fn(queue, model(ids))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
losses = []
for step in range(STEPS):
    pick = rng.integers(len(x_train), size=BATCH)
    losses.append(float(train_step(tf.constant(x_train[pick]), tf.constant(y_train[pick]))))
    if (step + 1) % 50 == 0:
        print(f"step {step + 1:4d}  loss {np.mean(losses[-50:]):.4f}")

pred = np.argmax(model(x_test).numpy(), axis=1)
print(f"test accuracy {np.mean(pred == y_test):.4f}")
