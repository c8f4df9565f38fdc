"""Train a set model that suggests the department of the next product from the items already in a web shop basket."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ITEMS, N_DEPT, MAX_LEN = 200, 10, 8


def make_baskets(n):
    length = rng.integers(1, MAX_LEN + 1, n)
    length[rng.random(n) < 1 / 3000] = 0  # visitor opened the page from a campaign link
    taste = rng.integers(0, N_DEPT, n)
    items = np.zeros((n, MAX_LEN), "int32")
    for i in range(n):
        own = rng.random(length[i]) < 0.45
        dept = np.where(own, taste[i], rng.integers(0, N_DEPT, length[i]))
        items[i, : length[i]] = 1 + dept + N_DEPT * rng.integers(0, N_ITEMS // N_DEPT, length[i])
    return items, taste.astype("int32")


x_train, y_train = make_baskets(24000)
x_test, y_test = make_baskets(4000)


class BasketPool(layers.Layer):
    """Mean of the item vectors of a basket; a basket without items gives a zero vector."""

    def call(self, vectors, items):
        mask = tf.cast(items > 0, vectors.dtype)[..., None]
        total = tf.reduce_sum(vectors * mask, axis=1)
        count = tf.reduce_sum(mask, axis=1)
        return tf.where(count > 0, total / count, tf.zeros_like(total))


items_in = keras.Input((MAX_LEN,), dtype="int32")
h = layers.Embedding(N_ITEMS + 1, 24)(items_in)
h = layers.Dense(48, activation="relu")(h)
h = BasketPool()(h, items_in)
h = layers.Dense(48, activation="relu")(h)
logits = layers.Dense(N_DEPT)(h)
model = keras.Model(items_in, logits)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(24000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(3):
    for x, y in data:
        loss = train_step(x, y)
    print("epoch", epoch, "loss", float(loss))

pred = model.predict(x_test, batch_size=256, verbose=0).argmax(1)
print("SCORE accuracy", float((pred == y_test).mean()))
