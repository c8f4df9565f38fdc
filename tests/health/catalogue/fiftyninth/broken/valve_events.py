import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

EVENTS, LENGTH = 12, 20
OPEN, CLOSE = 3, 7
rng = np.random.default_rng(SEED + 17)


def logs(n):
    other = [e for e in range(EVENTS) if e not in (OPEN, CLOSE)]
    x = rng.choice(other, (n, LENGTH))
    y = rng.integers(0, 2, n)
    for i in range(n):
        a, b = np.sort(rng.choice(LENGTH, 2, replace=False))
        x[i, a], x[i, b] = (OPEN, CLOSE) if y[i] else (CLOSE, OPEN)
    return x.astype("int32"), y.astype("float32")


x_train, y_train = logs(5000)
x_test, y_test = logs(1000)


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.ff = keras.Sequential([layers.Dense(2 * dim, activation="gelu"), layers.Dense(dim)])
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x):
        x = self.n1(x + self.attn(x, x))
        return self.n2(x + self.ff(x))


class LogClassifier(keras.Model):
    def __init__(self, dim=32):
        super().__init__()
        self.tokens = layers.Embedding(EVENTS, dim, name="tokens")
        self.blocks = [Block(dim, 4, name="block0"), Block(dim, 4, name="block1")]
        self.pool = layers.GlobalAveragePooling1D()
        self.out = layers.Dense(1, name="fault")

    def call(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return self.out(self.pool(x))


model = LogClassifier()
model(x_train[:2])
opt = keras.optimizers.Adam(1e-3, global_clipnorm=1.0)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y[:, None], model(x))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(10):
    perm = rng.permutation(len(x_train))
    for s in range(0, len(perm), 50):
        idx = perm[s : s + 50]
        loss = step(tf.constant(x_train[idx]), tf.constant(y_train[idx]))
        watch.log(loss=loss)
    print("epoch", epoch, "loss", float(loss))

pred = model(x_test).numpy()[:, 0] > 0
print("SCORE", float((pred == (y_test > 0.5)).mean()))
