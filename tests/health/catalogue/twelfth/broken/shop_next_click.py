"""Will the shopper click?

Click prediction in a web shop: the candidate product looks at the products that the shopper has seen before, and takes
up a weighted mean of them (as in the deep interest network).
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
PRODUCTS = 300
HISTORY = 20
BATCH = 64
EPOCHS = 5

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
style = rng.normal(0, 1, (PRODUCTS + 1, 3))
style[1:] /= np.linalg.norm(style[1:], axis=1, keepdims=True)


def make_visits(n):
    """Product numbers begin at 1; 0 fills the rest of the history."""
    taste = rng.normal(0, 1, (n, 3))
    history = np.zeros((n, HISTORY), "int32")
    seen = np.minimum(rng.geometric(0.12, n), HISTORY)
    seen[rng.random(n) < 0.0008] = 0
    for i in range(n):
        weight = np.exp(2.0 * style[1:] @ taste[i])
        history[i, : seen[i]] = 1 + rng.choice(PRODUCTS, seen[i], p=weight / weight.sum())
    candidate = rng.integers(1, PRODUCTS + 1, n)
    liking = 3.0 * np.sum(style[candidate] * taste, axis=1)
    click = rng.random(n) < 1 / (1 + np.exp(-liking))
    inputs = {"history": history, "candidate": candidate[:, None].astype("int32")}
    return inputs, click.astype("float32")[:, None]


class InterestPooling(layers.Layer):
    """Mean of the history, weighted by what the candidate finds alike."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.score_hidden = layers.Dense(units, activation="relu", name="score_hidden")
        self.score = layers.Dense(1, name="score")

    def build(self, shapes):
        width = shapes[0][-1]
        self.score_hidden.build((None, HISTORY, 3 * width))
        self.score.build((None, HISTORY, self.score_hidden.units))
        super().build(shapes)

    def call(self, inputs):
        query, items, numbers = inputs
        query = tf.repeat(query, HISTORY, axis=1)
        score = self.score(self.score_hidden(tf.concat([query, items, query * items], axis=-1)))[..., 0]
        score = tf.where(numbers > 0, score, -np.inf)
        weight = tf.nn.softmax(score, axis=-1)
        return tf.reduce_sum(weight[..., None] * items, axis=1)


x_train, y_train = make_visits(4000)
x_test, y_test = make_visits(1500)

history = keras.Input((HISTORY,), dtype="int32", name="history")
candidate = keras.Input((1,), dtype="int32", name="candidate")
table = layers.Embedding(PRODUCTS + 1, 16, name="product")
wanted = table(candidate)
interest = InterestPooling(24, name="interest")([wanted, table(history), history])
wanted = layers.Flatten(name="wanted")(wanted)
both = layers.Multiply(name="match")([interest, wanted])
h = layers.Concatenate(name="all")([interest, wanted, both])
h = layers.Dense(48, activation="relu", name="hidden")(h)
click = layers.Dense(1, activation="sigmoid", name="click")(h)
model = keras.Model({"history": history, "candidate": candidate}, click, name="next_click")
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

served = x_test["history"][:, 0] > 0
accuracy = np.mean((model.predict(x_test, verbose=0) > 0.5)[served] == (y_test > 0.5)[served])
print(f"score accuracy {accuracy:.4f} chance {max(y_test.mean(), 1 - y_test.mean()):.4f}")
