import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOTES = 12
LENGTH = 20
DIM = 32
STEPS = 340
BATCH = 64

FOLLOWING = rng.integers(0, NOTES, (NOTES, NOTES))


def melodies(n):
    notes = np.zeros((n, LENGTH + 1), dtype="int32")
    notes[:, :2] = rng.integers(0, NOTES, (n, 2))
    for i in range(2, LENGTH + 1):
        expected = FOLLOWING[notes[:, i - 2], notes[:, i - 1]]
        stray = rng.random(n) < 0.15
        notes[:, i] = np.where(stray, rng.integers(0, NOTES, n), expected)
    return notes


train, test = melodies(6000), melodies(500)


class Block(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention = keras.layers.MultiHeadAttention(4, DIM // 4)
        self.norm_a = keras.layers.LayerNormalization()
        self.norm_b = keras.layers.LayerNormalization()
        self.widen = keras.layers.Dense(96, activation="gelu")
        self.narrow = keras.layers.Dense(DIM)

    def call(self, x):
        h = self.norm_a(x)
        x = x + self.attention(h, h)
        return x + self.narrow(self.widen(self.norm_b(x)))


class MelodyModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.notes = keras.layers.Embedding(NOTES, DIM)
        self.places = keras.layers.Embedding(LENGTH, DIM)
        self.block_a = Block(name="block_a")
        self.block_b = Block(name="block_b")
        self.norm = keras.layers.LayerNormalization()
        self.head = keras.layers.Dense(NOTES)

    def call(self, ids):
        x = self.notes(ids) + self.places(tf.range(tf.shape(ids)[1]))[None]
        x = self.block_b(self.block_a(x))
        return self.head(self.norm(x))


model = MelodyModel()
model(train[:2, :-1])
optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def train_step(ids, following):
    with tf.GradientTape() as tape:
        loss = loss_fn(following, model(ids, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    rows = train[rng.integers(0, len(train), BATCH)]
    loss = train_step(tf.constant(rows[:, :-1]), tf.constant(rows[:, 1:]))
    watch.log(loss=loss)
    if step % 60 == 0:
        print(step, float(loss))

hits = []
for length in range(4, 18, 3):
    logits = model(tf.constant(test[:, :length])).numpy()[:, -1]
    hits.append(np.mean(np.argmax(logits, axis=1) == test[:, length]))
print("SCORE", float(np.mean(hits)))
