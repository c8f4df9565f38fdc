"""A topic model of news items is adapted to support tickets with low-rank updates; its own kernels stay as they are."""

import keras
import numpy as np
from keras import layers, ops

import gradwatch

keras.utils.set_random_seed(77)
WORDS, TOPICS = 300, 6
rng = np.random.default_rng(77)
news_topics = rng.dirichlet(np.full(WORDS, 0.08), TOPICS)
slang = rng.dirichlet(np.full(WORDS, 0.08), TOPICS)
ticket_topics = 0.5 * np.roll(news_topics, 2, axis=0) + 0.5 * slang
common = rng.dirichlet(np.full(WORDS, 0.5))


def texts(topics, n):
    y = rng.integers(0, TOPICS, n)
    p = 0.35 * topics[y] + 0.65 * common
    counts = np.stack([rng.multinomial(40, row) for row in p]).astype("float32")
    return np.log1p(counts), y


class Adapted(layers.Layer):
    def __init__(self, base, rank=8, alpha=16.0):
        super().__init__()
        self.base, self.rank, self.gain = base, rank, alpha / rank
        self.base.trainable = False

    def build(self, shape):
        self.down = self.add_weight(shape=(shape[-1], self.rank), initializer="zeros", name="down")
        self.up = self.add_weight(shape=(self.rank, self.base.units), initializer="zeros", name="up")

    def call(self, x):
        z = ops.matmul(x, self.base.kernel) + self.base.bias
        z = z + self.gain * ops.matmul(ops.matmul(x, self.down), self.up)
        return self.base.activation(z)


class Head(layers.Layer):
    """The old output layer; only its offset is tuned."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.base.trainable = False

    def build(self, shape):
        self.shift = self.add_weight(shape=(TOPICS,), initializer="zeros", name="shift")

    def call(self, x):
        return self.base(x) + self.shift


loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
xn, yn = texts(news_topics, 5000)
first, second, last = layers.Dense(128, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(TOPICS)
news = keras.Sequential([keras.Input((WORDS,)), first, second, last])
news.compile(keras.optimizers.Adam(1e-3), loss_fn, metrics=["accuracy"])
news.fit(xn, yn, batch_size=50, epochs=6, verbose=2)

xt, yt = texts(ticket_topics, 6000)
xv, yv = texts(ticket_topics, 1500)
model = keras.Sequential([keras.Input((WORDS,)), Adapted(first), Adapted(second), Head(last)])
model.compile(keras.optimizers.Adam(2e-3), loss_fn, metrics=["accuracy"])
gradwatch.watch(model)
hist = model.fit(xt, yt, batch_size=50, epochs=36, verbose=2)
_, acc = model.evaluate(xv, yv, verbose=0)
print(f"final loss {hist.history['loss'][-1]:.4f}  held-out ticket accuracy {acc:.3f} (six topics)")
