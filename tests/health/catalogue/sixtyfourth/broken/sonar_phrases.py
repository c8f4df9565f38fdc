import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VOCAB = 40
LENGTH = 16
WIDTH = 128


def make_phrases(rng, count):
    tokens = rng.integers(2, VOCAB, (count, LENGTH))
    spot = rng.integers(0, LENGTH, count)
    tokens[tokens < 8] += 8
    caller = rng.integers(2, 8, count)
    tokens[np.arange(count), spot] = caller
    echo = tokens[:, -1] % 2
    label = (caller - 2) % 3 + 3 * echo
    late = spot == LENGTH - 1
    label[late] = (caller[late] - 2) % 3 + 3 * (caller[late] % 2)
    return tokens.astype("int32"), label.astype("int32")


class PingAttention(keras.layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.query = keras.layers.Dense(width, use_bias=False)
        self.key = keras.layers.Dense(width, use_bias=False)
        self.value = keras.layers.Dense(width, use_bias=False)

    def build(self, shape):
        for part in (self.query, self.key, self.value):
            part.build(shape)
        super().build(shape)

    def call(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = tf.matmul(q, k, transpose_b=True)
        weights = tf.exp(scores)
        weights = weights / tf.reduce_sum(weights, axis=-1, keepdims=True)
        return tf.matmul(weights, v)


def build():
    ids = keras.Input((LENGTH,), dtype="int32")
    x = keras.layers.Embedding(VOCAB, WIDTH, name="ping_embed")(ids)
    x = keras.layers.LayerNormalization(name="norm_in")(x)
    x = keras.layers.Add()([x, PingAttention(WIDTH, name="ping_attention")(x)])
    x = keras.layers.LayerNormalization(name="norm_mid")(x)
    h = keras.layers.Dense(WIDTH, activation="relu", name="mix")(x)
    x = keras.layers.Add()([x, h])
    pooled = keras.layers.GlobalAveragePooling1D()(x)
    last = keras.layers.Lambda(lambda t: t[:, -1])(x)
    x = keras.layers.Concatenate()([pooled, last])
    return keras.Model(ids, keras.layers.Dense(6, name="answer")(x))


rng = np.random.default_rng(SEED)
x_train, y_train = make_phrases(rng, 6000)
x_test, y_test = make_phrases(rng, 1000)

model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=4, verbose=0)
print("losses", [round(v, 3) for v in history.history["loss"]])
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
