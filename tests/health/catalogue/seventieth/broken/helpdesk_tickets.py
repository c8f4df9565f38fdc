import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 5)

VOCAB = 300
MAX_LEN = 20
TEAMS = 4
DIM = 24


def make_tickets(n):
    tokens = np.zeros((n, MAX_LEN), "int32")
    team = rng.integers(0, TEAMS, n)
    for i in range(n):
        length = int(min(MAX_LEN, rng.poisson(5)))
        words = rng.integers(1 + 4 * 10, VOCAB, length)
        if length:
            k = max(1, length // 4)
            where = rng.choice(length, k, replace=False)
            words[where] = 1 + team[i] * 10 + rng.integers(0, 10, k)
        tokens[i, :length] = words
    return tokens, team.astype("int32")


class MaskedAttention(keras.layers.Layer):
    def __init__(self, dim, **kwargs):
        super().__init__(**kwargs)
        self.query = keras.layers.Dense(dim, name="query")
        self.key = keras.layers.Dense(dim, name="key")
        self.value = keras.layers.Dense(dim, name="value")
        self.scale = dim**-0.5

    def call(self, x, valid):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = tf.matmul(q, k, transpose_b=True) * self.scale
        scores = tf.where(valid[:, None, :], scores, -np.inf)
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.matmul(weights, v)


class TicketRouter(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, DIM, name="embed")
        self.attend = MaskedAttention(DIM, name="attend")
        self.hidden = keras.layers.Dense(32, activation="relu", name="hidden")
        self.team = keras.layers.Dense(TEAMS, name="team")

    def call(self, tokens, training=False):
        valid = tokens > 0
        x = self.attend(self.embed(tokens), valid)
        keep = tf.cast(valid, tf.float32)[..., None]
        pooled = tf.reduce_sum(x * keep, axis=1) / (tf.reduce_sum(keep, axis=1) + 1.0)
        return self.team(self.hidden(pooled))


x_train, y_train = make_tickets(4000)
x_test, y_test = make_tickets(800)

model = TicketRouter()
model(x_train[:2])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(tokens, labels):
    with tf.GradientTape() as tape:
        logits = model(tokens, training=True)
        loss = loss_fn(labels, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=SEED).batch(32)
for epoch in range(6):
    for tokens, labels in dataset:
        loss = train_step(tokens, labels)
        watch.log(loss=loss)
    print("epoch", epoch, "loss", float(loss))

logits = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean(np.argmax(logits, axis=-1) == y_test)))
