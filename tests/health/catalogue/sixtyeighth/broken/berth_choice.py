import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BERTHS = 6
FEATURES = 10
BATCH = 128
UPDATES = 1200
ENTROPY_WEIGHT = 0.01

PREFERENCE = rng.normal(0.0, 1.0, (FEATURES, BERTHS))


def arrivals(n):
    ships = rng.normal(0.0, 1.0, (n, FEATURES)).astype("float32")
    free = rng.random((n, BERTHS)) > 0.0005
    return ships, free


def turnaround_reward(ships, berth):
    fit = np.tanh(ships @ PREFERENCE / 2.0)
    return (fit[np.arange(len(ships)), berth] + 0.1 * rng.normal(size=len(ships))).astype("float32")


inputs = keras.Input((FEATURES,))
h = keras.layers.Dense(48, activation="tanh", name="trunk_a")(inputs)
h = keras.layers.Dense(48, activation="tanh", name="trunk_b")(h)
policy = keras.Model(inputs, keras.layers.Dense(BERTHS, name="berth_logits")(h))
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(policy)


def masked_logits(ships, free):
    logits = policy(ships, training=True)
    return tf.where(free, logits, -1e9)


@tf.function
def act(ships, free):
    gumbel = -tf.math.log(-tf.math.log(tf.random.uniform((BATCH, BERTHS), 1e-6, 1.0 - 1e-6)))
    return tf.argmax(masked_logits(ships, free) + gumbel, axis=1)


@tf.function
def update(ships, free, berths, advantages):
    with tf.GradientTape() as tape:
        logits = masked_logits(ships, free)
        probs = tf.nn.softmax(logits)
        chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=berths, logits=logits)
        entropy = -tf.reduce_sum(probs * tf.math.log(probs), axis=1)
        loss = tf.reduce_mean(chosen * advantages) - ENTROPY_WEIGHT * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


baseline = 0.0
for step in range(UPDATES):
    ships, free = arrivals(BATCH)
    ships_t, free_t = tf.constant(ships), tf.constant(free)
    berths = act(ships_t, free_t)
    rewards = turnaround_reward(ships, berths.numpy())
    advantages = rewards - baseline
    baseline = 0.95 * baseline + 0.05 * rewards.mean()
    loss = update(ships_t, free_t, berths, tf.constant(advantages.astype("float32")))
    watch.log(loss=loss)
    if step % 200 == 0:
        print(step, "reward", float(rewards.mean()), "loss", float(loss))

ships, free = arrivals(3000)
greedy = np.argmax(masked_logits(tf.constant(ships), tf.constant(free)).numpy(), axis=1)
best = np.where(free, np.tanh(ships @ PREFERENCE / 2.0), -9.0).max(axis=1)
got = np.tanh(ships @ PREFERENCE / 2.0)[np.arange(3000), greedy]
print("SCORE", float(got.mean() / best.mean()))
