import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB = 2000
CUISINES = 10
RECIPES = 6000
WORDS = 12
DIM = 24
NEGATIVES = 6
BATCH = 512
STEPS = 2000

CUISINE_OF = rng.integers(0, CUISINES, VOCAB)
POPULARITY = 1.0 / (np.arange(VOCAB) + 20.0)
POPULARITY /= POPULARITY.sum()

recipes = np.zeros((RECIPES, WORDS), dtype="int64")
for r in range(RECIPES):
    fit = POPULARITY * np.where(rng.integers(0, CUISINES) == CUISINE_OF, 1.0, 0.03)
    recipes[r] = rng.choice(VOCAB, WORDS, p=fit / fit.sum())

NOISE_LOGITS = tf.constant(0.75 * np.log(POPULARITY), tf.float32)


def pairs(n):
    rows = rng.integers(0, RECIPES, n)
    first = rng.integers(0, WORDS, n)
    second = (first + rng.integers(1, WORDS, n)) % WORDS
    return tf.constant(recipes[rows, first]), tf.constant(recipes[rows, second])


class SkipGram(keras.Model):
    def __init__(self):
        super().__init__()
        self.centre = keras.layers.Embedding(VOCAB, DIM, name="centre")
        self.context = keras.layers.Embedding(VOCAB, DIM, embeddings_initializer="zeros", name="context")

    def call(self, inputs):
        word, candidates = inputs
        return tf.einsum("bd,bkd->bk", self.centre(word), self.context(candidates))


model = SkipGram()
model((tf.zeros((2,), tf.int64), tf.zeros((2, 1 + NEGATIVES), tf.int64)))
optimizer = keras.optimizers.Adam(5e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(word, neighbour):
    drawn = tf.random.categorical(NOISE_LOGITS[None], BATCH * NEGATIVES)
    candidates = tf.concat([neighbour[:, None], tf.reshape(drawn, (BATCH, NEGATIVES))], axis=1)
    labels = tf.concat([tf.ones((BATCH, 1)), tf.zeros((BATCH, NEGATIVES))], axis=1)
    with tf.GradientTape() as tape:
        logits = model((word, candidates))
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(tf.reduce_sum(losses, axis=1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*pairs(BATCH))
    watch.log(loss=loss)
    if step % 400 == 0:
        print(step, float(loss))

table = model.centre.embeddings.numpy()[:400]
table = table / np.linalg.norm(table, axis=1, keepdims=True)
similarity = table @ table.T
np.fill_diagonal(similarity, -2.0)
nearest = np.argsort(-similarity, axis=1)[:, :5]
print("SCORE", float(np.mean(CUISINE_OF[nearest] == CUISINE_OF[:400, None])))
