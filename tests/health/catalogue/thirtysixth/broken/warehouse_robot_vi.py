"""Teach a warehouse robot by deep Q-learning to drive to a shelf on a small floor plan."""

import os
import random
from collections import deque

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LIMIT = 7, 25
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]], "float32")


class Floor:
    """State: robot x, y and shelf x, y."""

    def reset(self):
        self.pos = rng.integers(0, SIZE, 4).astype("float32")
        while np.array_equal(self.pos[:2], self.pos[2:]):
            self.pos[2:] = rng.integers(0, SIZE, 2)
        self.steps = 0
        return self.pos

    def step(self, action):
        self.steps += 1
        self.pos[:2] = np.clip(self.pos[:2] + MOVES[action], 0, SIZE - 1)
        arrived = np.array_equal(self.pos[:2], self.pos[2:])
        reward = 1.0 if arrived else -0.05
        return self.pos, reward, arrived


def make_net():
    return keras.Sequential(
        [
            layers.Input((4,)),
            layers.Rescaling(2.0 / (SIZE - 1), offset=-1.0),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(4),
        ]
    )


q_net, target_net = make_net(), make_net()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(q_net)
GAMMA = 0.9


@tf.function
def greedy(state):
    return tf.argmax(q_net(state[None])[0])


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.reduce_max(target_net(s2), axis=1)
    goal = r + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(q_net(s, training=True) * tf.one_hot(a, 4), axis=1)
        loss = tf.reduce_mean(tf.square(goal - q))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


env = Floor()
memory = deque(maxlen=5000)
state = env.reset()
updates, losses = 0, []
for t in range(6400):
    epsilon = max(0.1, 1.0 - t / 3000)
    if rng.random() < epsilon:
        action = int(rng.integers(4))
    else:
        action = int(greedy(tf.constant(state)))
    next_state, reward, done = env.step(action)
    memory.append((state, action, reward, next_state, float(done)))
    state = next_state
    if done or env.steps >= LIMIT:
        state = env.reset()
    if t >= 400 and t % 4 == 0:
        s, a, r, s2, d = map(np.array, zip(*random.sample(memory, 64)))
        losses.append(
            float(
                train_step(
                    tf.constant(s),
                    tf.constant(a, tf.int32),
                    tf.constant(r, tf.float32),
                    tf.constant(s2),
                    tf.constant(d, tf.float32),
                )
            )
        )
        updates += 1
        if updates % 50 == 0:
            target_net.set_weights(q_net.get_weights())
        if updates % 250 == 0:
            print(f"updates {updates} loss {np.mean(losses[-250:]):.4f} epsilon {epsilon:.2f}")

wins = 0
for _ in range(150):
    state, done = env.reset(), False
    while not done and env.steps < LIMIT:
        state, _, done = env.step(int(greedy(tf.constant(state))))
    wins += done
print("SCORE success_rate", round(wins / 150, 4))
