"""Guess a person's village from a weak survey and from whom they telephone."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_PEOPLE, N_VILLAGES, N_ANSWERS, STEPS = 1500, 4, 12, 600


def make_calls():
    village = rng.integers(0, N_VILLAGES, N_PEOPLE)
    centres = rng.normal(size=(N_VILLAGES, N_ANSWERS))
    survey = 0.45 * centres[village] + rng.normal(size=(N_PEOPLE, N_ANSWERS))
    a = rng.integers(0, N_PEOPLE, 60000)
    b = rng.integers(0, N_PEOPLE, 60000)
    chance = np.where(village[a] == village[b], 0.4, 0.03)
    keep = (rng.random(60000) < chance) & (a != b)
    a, b = a[keep], b[keep]
    callers = np.concatenate([a, b]).astype("int32")
    called = np.concatenate([b, a]).astype("int32")
    return survey.astype("float32"), village.astype("int32"), callers, called


survey, village, callers, called = make_calls()
order = rng.permutation(N_PEOPLE)
train_ids, test_ids = order[:400].astype("int32"), order[700:].astype("int32")


class CallRound(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.own = keras.layers.Dense(units)
        self.message = keras.layers.Dense(units)

    def call(self, h, senders, receivers):
        m = tf.gather(self.message(h), senders)
        heard = tf.math.unsorted_segment_mean(m, receivers, N_PEOPLE)
        return tf.nn.relu(self.own(h) + heard)


class VillageNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.rounds = [CallRound(32), CallRound(32)]
        self.drop = keras.layers.Dropout(0.4)
        self.head = keras.layers.Dense(N_VILLAGES)

    def call(self, x, senders, receivers, training=False):
        for layer in self.rounds:
            x = self.drop(layer(x, senders, receivers), training=training)
        return self.head(x)


net = VillageNet()
x = tf.constant(survey)
src, dst = tf.constant(callers), tf.constant(called)
net(x, src, dst)
opt = keras.optimizers.AdamW(3e-3, weight_decay=1e-2)
gradwatch.watch(net)


@tf.function
def step(ids, labels):
    with tf.GradientTape() as tape:
        logits = tf.gather(net(x, src, dst, training=True), ids)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


ids, labels = tf.constant(train_ids), tf.constant(village[train_ids])
for i in range(STEPS):
    loss = step(ids, labels)
    if (i + 1) % 60 == 0:
        guess = np.argmax(net(x, src, dst).numpy(), axis=1)
        seen = np.mean(guess[train_ids] == village[train_ids])
        val = np.mean(guess[order[400:700]] == village[order[400:700]])
        print(f"step {i + 1} loss {float(loss):.4f} train {seen:.3f} val {val:.3f}")

guess = np.argmax(net(x, src, dst).numpy(), axis=1)
print("SCORE accuracy", round(float(np.mean(guess[test_ids] == village[test_ids])), 4))
