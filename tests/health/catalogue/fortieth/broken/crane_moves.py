"""Teaches a crane trolley by Q-learning to reach its station and hold there."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

envs, horizon, capacity, gamma = 16, 40, 20000, 0.95


def start(n):
    return np.stack([rng.uniform(-2.4, 2.4, n), rng.normal(0, 0.3, n)], 1).astype("float32")


def advance(state, action):
    pos, vel = state[:, 0], state[:, 1]
    vel = 0.9 * vel + 0.3 * (action - 1.0)
    pos = np.clip(pos + 0.3 * vel, -2.9, 2.9)
    reward = -0.4 * np.abs(pos) - 0.02 * np.abs(action - 1.0)
    return np.stack([pos, vel], 1).astype("float32"), reward


def q_network():
    return keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(48, activation="relu"),
            layers.Dense(48, activation="relu"),
            layers.Dense(3),
        ]
    )


model, slow = q_network(), q_network()
slow.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)

states = np.zeros((capacity, 2), "float32")
followers = np.zeros_like(states)
actions = np.zeros(capacity, "int32")
rewards = np.zeros_like(actions)


@tf.function
def greedy(s):
    return tf.argmax(model(s, training=False), axis=-1)


@tf.function
def train_step(s, a, r, s2):
    goal = r + gamma * tf.reduce_max(slow(s2, training=False), axis=-1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s, training=True) * tf.one_hot(a, 3), axis=-1)
        loss = tf.reduce_mean(tf.square(goal - q))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


state, filled = start(envs), 0
for step in range(1400):
    if step % horizon == 0:
        state = start(envs)
    epsilon = max(0.1, 1.0 - step / 600)
    action = greedy(tf.constant(state)).numpy()
    explore = rng.random(envs) < epsilon
    action[explore] = rng.integers(0, 3, explore.sum())
    follower, reward = advance(state, action)
    slots = (filled + np.arange(envs)) % capacity
    states[slots], actions[slots], rewards[slots], followers[slots] = state, action, reward, follower
    filled += envs
    state = follower
    if filled >= 640:
        pick = rng.integers(0, min(filled, capacity), 64)
        train_step(
            tf.constant(states[pick]),
            tf.constant(actions[pick]),
            tf.constant(rewards[pick], tf.float32),
            tf.constant(followers[pick]),
        )
    if step % 40 == 0:
        slow.set_weights(model.get_weights())

state, total = start(200), 0.0
for _ in range(horizon):
    state, reward = advance(state, greedy(tf.constant(state)).numpy())
    total += reward.mean()
print("SCORE mean_reward", float(total / horizon))
