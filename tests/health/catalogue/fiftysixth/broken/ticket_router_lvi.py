import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

VOCAB, MAXLEN, QUEUES, DIM = 200, 24, 4, 32
PAD, CLS = 0, 1
rng = np.random.default_rng(SEED)
hints = rng.choice(np.arange(10, VOCAB), (QUEUES, 12), replace=False)


def tickets(n):
    ids = np.full((n, MAXLEN), PAD, "int32")
    queue = rng.integers(0, QUEUES, n)
    for i in range(n):
        length = rng.integers(8, MAXLEN - 2)
        words = rng.integers(2, VOCAB, length)
        spots = rng.choice(length, 3, replace=False)
        words[spots] = rng.choice(hints[queue[i]], 3)
        ids[i, 0] = CLS
        ids[i, 1 : length + 1] = words
    return ids, queue.astype("int32")


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.ffn = keras.Sequential([layers.Dense(2 * dim, activation="gelu"), layers.Dense(dim)])
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x, mask):
        h = self.n1(x)
        x = x + self.attn(h, h, attention_mask=mask)
        return x + self.ffn(self.n2(x))


class Router(keras.Model):
    def __init__(self):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, DIM, name="tok")
        self.pos = layers.Embedding(MAXLEN, DIM, name="pos")
        self.blocks = [Block(DIM, 4, name=f"block{i}") for i in range(2)]
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(QUEUES, name="head")

    def call(self, ids):
        key_padding_mask = tf.equal(ids, PAD)
        mask = key_padding_mask[:, None, :]
        x = self.tok(ids) + self.pos(tf.range(MAXLEN))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x[:, 0]))


x_train, y_train = tickets(5000)
x_test, y_test = tickets(800)
model = Router()
model(x_train[:2])
watch = gradwatch.watch(model)
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(ids, queue):
    with tf.GradientTape() as tape:
        loss = loss_fn(queue, model(ids, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000).batch(64)
for epoch in range(7):
    for ids, queue in data:
        loss = train_step(ids, queue)
        watch.log(loss=loss)
    print("epoch", epoch, float(loss))

pred = model.predict(x_test, verbose=0).argmax(1)
print("SCORE", float(np.mean(pred == y_test)))
