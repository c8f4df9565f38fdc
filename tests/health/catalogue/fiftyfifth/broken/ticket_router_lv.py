"""Routing help-desk tickets of uneven length to a team, with an attention-pooling reader."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


MAX_LEN, TEAMS = 36, ["network", "payroll", "printing", "accounts", "building"]
rng = np.random.default_rng(SEED + 66)
CONSONANTS, VOWELS = list("bdfgklmnprstvz"), list("aeiou")


def made_up_word():
    return "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(rng.integers(2, 4)))


filler = sorted({made_up_word() for _ in range(500)})
topical = [sorted({made_up_word() for _ in range(30)}) for _ in TEAMS]
vocabulary = {w: i + 1 for i, w in enumerate(sorted(set(filler).union(*topical)))}


def ticket():
    team = rng.integers(len(TEAMS))
    length = int(np.clip(rng.gamma(3, 5), 5, MAX_LEN))
    words = list(rng.choice(filler, length))
    for spot in rng.choice(length, 3, replace=False):
        words[spot] = rng.choice(topical[team])
    if rng.random() < 0.3:
        words[rng.integers(length)] = rng.choice(topical[rng.integers(len(TEAMS))])
    ids = [vocabulary[w] for w in words]
    return ids + [0] * (MAX_LEN - length), team


def desk(n):
    ids, team = zip(*(ticket() for _ in range(n)))
    return np.array(ids, "int32"), np.array(team, "int32")


ids_train, team_train = desk(6400)
ids_test, team_test = desk(1500)


class Reader(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.word = keras.layers.Embedding(len(vocabulary) + 1, width)
        self.context = keras.layers.Dense(width, activation="gelu")
        self.attend = keras.layers.MultiHeadAttention(num_heads=4, key_dim=16)
        self.question = self.add_weight(shape=(1, 1, width), initializer="glorot_uniform", name="question")
        self.norm = keras.layers.LayerNormalization()
        self.team = keras.layers.Dense(len(TEAMS))

    def call(self, ids, training=False):
        padding_mask = tf.equal(ids, 0)
        words = self.word(ids)
        words = words + self.context(words)
        question = tf.repeat(self.question, tf.shape(ids)[0], axis=0)
        summary = self.attend(question, words, attention_mask=padding_mask[:, None, :])
        return self.team(self.norm(summary[:, 0] + question[:, 0]))


reader = Reader()
reader(ids_train[:2])
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(reader)


@tf.function
def learn(ids, team):
    with tf.GradientTape() as tape:
        logits = reader(ids, training=True)
        loss = loss_fn(team, logits)
    variables = reader.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == team, tf.float32))


queue = (
    tf.data.Dataset.from_tensor_slices((ids_train, team_train))
    .shuffle(6400, seed=SEED)
    .batch(64, drop_remainder=True)
    .prefetch(2)
)
for epoch in range(7):
    seen = np.array([[v.numpy() for v in learn(ids, team)] for ids, team in queue])
    print(f"epoch {epoch}  loss {seen[:, 0].mean():.3f}  accuracy {seen[:, 1].mean():.3f}")

logits = reader.predict(ids_test, verbose=0)
print("SCORE accuracy", float(np.mean(logits.argmax(1) == team_test)))
