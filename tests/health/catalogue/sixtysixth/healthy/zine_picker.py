import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

READERS = 1500
ZINES = 3000
GENRES = 8
DIM = 16
STEPS = 1500


def reading_log(n, rng):
    reader = rng.integers(0, READERS, n)
    rank = np.minimum(rng.zipf(1.3, n) - 1, ZINES // GENRES - 1)
    noise = rng.uniform(size=n) < 0.1
    genre = np.where(noise, rng.integers(0, GENRES, n), reader % GENRES)
    zine = rank * GENRES + genre
    return reader.astype("int32"), zine.astype("int32")


rng = np.random.default_rng(SEED)
readers, zines = reading_log(40000, rng)
test_readers, test_zines = reading_log(3000, np.random.default_rng(SEED + 8))


class TwoTower(keras.Model):
    def __init__(self):
        super().__init__()
        self.reader_table = layers.Embedding(READERS, DIM, name="reader_table")
        self.zine_table = layers.Embedding(ZINES, DIM, name="zine_table")

    def call(self, ids):
        r = self.reader_table(ids[:, 0])
        z = self.zine_table(ids[:, 1])
        return tf.reduce_sum(r * z, axis=1)


model = TwoTower()
model(np.zeros((1, 2), "int32"))
optimizer = keras.optimizers.Adam(0.02)
optimizer.build(model.trainable_variables)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def step(ids, labels):
    with tf.GradientTape() as tape:
        loss = bce(labels[:, None], model(ids, training=True)[:, None])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for i in range(STEPS):
    pick = rng.integers(0, len(readers), 64)
    fake = zines[rng.integers(0, len(zines), 64)]
    ids = np.stack([np.tile(readers[pick], 2), np.concatenate([zines[pick], fake])], axis=1)
    labels = np.repeat([1.0, 0.0], 64).astype("float32")
    loss = step(tf.constant(ids), tf.constant(labels))
    watch.log(loss=loss)
    if i % 300 == 0:
        print(i, float(loss))

other = test_zines[np.random.default_rng(SEED + 3).permutation(len(test_zines))]
good = model.predict(np.stack([test_readers, test_zines], 1), verbose=0)
bad = model.predict(np.stack([test_readers, other], 1), verbose=0)
print("SCORE", float((good > bad).mean()))
