"""Sorts words into topics on their co-occurrence graph with a recurrent message-passing network."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 31)

WORDS, TOPICS, ROUNDS, DIM = 600, 5, 8, 32
topic = rng.integers(0, TOPICS, WORDS)

counts = np.zeros((WORDS, WORDS))
for _ in range(9000):
    a = rng.integers(0, WORDS)
    pool = np.flatnonzero(topic == topic[a]) if rng.random() < 0.4 else np.arange(WORDS)
    b = rng.choice(pool)
    if a != b:
        counts[a, b] += 1
        counts[b, a] += 1
counts += np.eye(WORDS)
adjacency = counts / counts.sum(axis=1, keepdims=True)
adjacency = tf.constant(adjacency, tf.float32)

# word features: noisy letter statistics, weakly tied to the topic
centres = rng.normal(size=(TOPICS, 16))
letters = tf.constant(0.35 * centres[topic] + rng.normal(size=(WORDS, 16)), tf.float32)
known = rng.permutation(WORDS)
train_ids, test_ids = known[:300], known[300:]


class Propagate(keras.Model):
    def __init__(self):
        super().__init__()
        self.read = keras.layers.Dense(DIM)
        self.mix = keras.layers.Dense(DIM, use_bias=False)
        self.drop = keras.layers.Dropout(0.2)
        self.out = keras.layers.Dense(TOPICS)

    def call(self, feats, training=False):
        drive = self.read(self.drop(feats, training=training))
        state = tf.nn.relu(drive)
        for _ in range(ROUNDS):
            state = tf.nn.relu(drive + self.mix(tf.matmul(adjacency, state)))
        return self.out(state)


model = Propagate()
model(letters)
opt = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)
labels = tf.constant(topic, tf.int32)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(ids):
    with tf.GradientTape() as tape:
        logits = tf.gather(model(letters, training=True), ids)
        loss = ce(tf.gather(labels, ids), logits)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for it in range(900):
    ids = rng.choice(train_ids, 100, replace=False)
    loss = step(tf.constant(ids, tf.int32))
    if it % 100 == 0:
        print(f"step {it} loss {float(loss):.4f}", flush=True)

guess = tf.argmax(model(letters), axis=-1).numpy()
print("SCORE accuracy", round(float(np.mean(guess[test_ids] == topic[test_ids])), 4))
