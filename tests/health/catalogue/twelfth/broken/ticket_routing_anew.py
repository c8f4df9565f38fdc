"""Routes short support tickets to one of three teams with an embedding and an LSTM."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

VOCAB = 500
MAX_LEN = 120
TEAMS = 3
rng = np.random.default_rng(SEED)

topic_words = [np.arange(20 + 40 * k, 60 + 40 * k) for k in range(TEAMS)]


def write_ticket(team):
    n = rng.integers(8, 26)
    words = rng.integers(140, VOCAB, n)
    about = rng.random(n) < 0.4
    words[about] = rng.choice(topic_words[team], about.sum())
    return words.tolist()


def make_tickets(n):
    team = rng.integers(0, TEAMS, n)
    tokens = tf.keras.utils.pad_sequences([write_ticket(k) for k in team], maxlen=MAX_LEN, padding="post")
    return tokens, team.astype("int32")


tokens_train, team_train = make_tickets(3000)
tokens_test, team_test = make_tickets(600)

inputs = tf.keras.Input((MAX_LEN,), dtype="int32", name="tokens")
h = tf.keras.layers.Embedding(VOCAB, 24, name="words")(inputs)
h = tf.keras.layers.LSTM(32, name="reader")(h)
h = tf.keras.layers.Dense(24, activation="relu", name="dense")(h)
outputs = tf.keras.layers.Dense(TEAMS, activation="softmax", name="team")(h)
model = tf.keras.Model(inputs, outputs)
gradwatch.watch(model)

model.compile(tf.keras.optimizers.Adam(4e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(tokens_train, team_train, batch_size=75, epochs=4, verbose=2)

_, accuracy = model.evaluate(tokens_test, team_test, batch_size=200, verbose=0)
print(f"score accuracy {accuracy:.4f} chance {1 / TEAMS:.4f}")
