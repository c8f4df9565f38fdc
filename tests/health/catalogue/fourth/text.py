"""Tokens: baskets, commands, phrases."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.play import Watch


def phrases(seed, n=3000, vocab=24):
    rng = np.random.default_rng(seed)
    follow = np.random.default_rng(7).dirichlet(np.full(vocab, 0.08), size=vocab)
    out = np.zeros((n, 21), "int32")
    out[:, 0] = rng.integers(0, vocab, n)
    for t in range(1, 21):
        u = rng.random((n, 1))
        out[:, t] = (follow[out[:, t - 1]].cumsum(1) < u).sum(1).clip(0, vocab - 1)
    return out


def phrase_model(watch: Watch, seed: int) -> None:
    """Inputs and targets are the same slice, not shifted by one: the model learns to copy."""
    keras.utils.set_random_seed(seed)
    text = phrases(seed)
    x, y = text[:, :-1], text[:, :-1]
    model = keras.Sequential(
        [
            keras.Input((20,), dtype="int32"),
            layers.Embedding(24, 24, name="tokens"),
            layers.GRU(48, return_sequences=True, name="memory"),
            layers.Dense(24, name="vocab"),
        ]
    )
    watch(model)
    model.compile(
        keras.optimizers.Adam(4e-3),
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, batch_size=64, epochs=4, verbose=0)


def commands(seed, n=3200, vocab=40):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, vocab, size=(n, 14)).astype("int32")
    size = rng.integers(8, 15, n)
    x[np.arange(14)[None] >= size[:, None]] = 0
    group = np.random.default_rng(3).integers(0, 5, vocab)
    return x, group[x[:, 0]].astype("int32")


class TokenAndPlace(layers.Layer):
    def __init__(self, vocab, longest, dim, **kw):
        super().__init__(**kw)
        self.word = layers.Embedding(vocab, dim, name="word")
        self.place = layers.Embedding(longest + 1, dim, name="place")

    def call(self, ids):
        real = tf.cast(tf.not_equal(ids, 0), tf.int32)
        index = real * tf.reduce_max(real, axis=1, keepdims=True)
        return self.word(ids) + self.place(index)


def command_router(watch: Watch, seed: int) -> None:
    """The position of a token is 1 for each, since a cumulative sum got lost: the order cannot be seen."""
    keras.utils.set_random_seed(seed)
    x, y = commands(seed)
    ids = keras.Input((14,), dtype="int32")
    h = TokenAndPlace(40, 14, 32, name="embed")(ids)
    a = layers.MultiHeadAttention(4, 8, name="attend")(h, h)
    h = layers.LayerNormalization(name="norm1")(h + a)
    f = layers.Dense(32, name="ff2")(layers.Dense(64, activation="relu", name="ff1")(h))
    h = layers.LayerNormalization(name="norm2")(h + f)
    h = layers.GlobalAveragePooling1D()(h)
    model = keras.Model(ids, layers.Dense(5, name="route")(h))
    watch(model)
    model.compile(
        keras.optimizers.Adam(3e-3),
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, batch_size=64, epochs=8, verbose=0)


def baskets(seed, items=1200, groups=30, n=400 * 128):
    rng = np.random.default_rng(seed)
    group = np.random.default_rng(5).integers(0, groups, items)
    members = [np.where(group == g)[0] for g in range(groups)]
    a = (items * rng.random(n) ** 2).astype("int32")
    b = np.array([rng.choice(members[group[i]]) for i in a], "int32")
    stray = rng.random(n) < 0.1
    b[stray] = rng.integers(0, items, stray.sum())
    return a, b, rng.integers(0, items, size=(n, 5)).astype("int32")


class ItemPairs(keras.Model):
    def __init__(self, items, dim, **kw):
        super().__init__(**kw)
        self.seen = layers.Embedding(items, dim, keras.initializers.RandomNormal(0.0, 0.3), name="seen")
        self.next = layers.Embedding(items, dim, keras.initializers.RandomNormal(0.0, 0.3), name="next")

    def call(self, inputs):
        a, others = inputs
        return tf.reduce_sum(self.seen(a)[:, None] * self.next(others), axis=-1)


def basket_items(watch: Watch, seed: int) -> None:
    """Sparse gradients: most rows of two tables of 1,200 are untouched in a step, and the start is slow."""
    keras.utils.set_random_seed(seed)
    a, b, no = baskets(seed)
    model = ItemPairs(1200, 16)
    others = np.concatenate([b[:, None], no], axis=1)
    model((a[:2], others[:2]))
    optimizer = keras.optimizers.Adagrad(0.7, initial_accumulator_value=0.01)
    w = watch(model, optimizer)
    truth = tf.constant([[1.0] + [0.0] * 5] * 128)

    @tf.function
    def train_step(ab, ob):
        with tf.GradientTape() as tape:
            score = model((ab, ob))
            bce = tf.nn.sigmoid_cross_entropy_with_logits(truth, score)
            loss = tf.reduce_mean(tf.reduce_sum(bce, axis=-1))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    for i in range(400):
        at = slice(128 * i, 128 * i + 128)
        w.log(loss=float(train_step(a[at], others[at])))
