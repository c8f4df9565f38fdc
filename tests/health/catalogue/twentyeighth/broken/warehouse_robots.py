"""DQN for a picker that walks a 6x6 warehouse to the ordered shelf (many vectorised episodes)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
GRID, ENVS, BATCH, GAMMA, LIMIT = 6, 32, 128, 0.9, 20
MOVES = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])


class Warehouse:
    def __init__(self, n):
        self.pos, self.goal = np.zeros((n, 2), int), np.zeros((n, 2), int)
        self.age = np.zeros(n, int)
        self.reset(np.ones(n, bool))

    def reset(self, which):
        k = which.sum()
        self.pos[which] = rng.integers(0, GRID, (k, 2))
        self.goal[which] = rng.integers(0, GRID, (k, 2))
        self.age[which] = 0

    def observe(self):
        return np.concatenate([self.pos, self.goal], 1).astype("float32") / (GRID - 1) * 2 - 1

    def step(self, actions):
        self.pos = np.clip(self.pos + MOVES[actions], 0, GRID - 1)
        self.age += 1
        reached = (self.pos == self.goal).all(1)
        reward = np.where(reached, 1.0, -0.05).astype("float32")
        nxt = self.observe()
        self.reset(reached | (self.age >= LIMIT))
        return nxt, reward, reached.astype("float32")


def build():
    return keras.Sequential(
        [keras.Input((4,)), layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(4)]
    )


q_net, target_net = build(), build()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(obs, actions, rewards, nxt, done):
    best = tf.reduce_max(target_net(nxt), axis=1)
    target = rewards + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q_taken = tf.gather(q_net(obs, training=True), actions, axis=1)
        error = target - q_taken
        loss = tf.reduce_mean(tf.where(tf.abs(error) < 1.0, 0.5 * error**2, tf.abs(error) - 0.5))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


greedy = tf.function(lambda obs: tf.argmax(q_net(obs), axis=1))

env, memory = Warehouse(ENVS), []
gradwatch.watch(q_net)
for step in range(1200):
    obs = env.observe()
    epsilon = max(0.1, 1.0 - step / 600)
    explore = rng.random(ENVS) < epsilon
    actions = np.where(explore, rng.integers(0, 4, ENVS), greedy(obs).numpy()).astype("int32")
    nxt, reward, done = env.step(actions)
    memory.append((obs, actions, reward, nxt, done))
    memory = memory[-400:]
    if step >= 20:
        rows, cols = rng.integers(0, len(memory), BATCH), rng.integers(0, ENVS, BATCH)
        batch = [np.stack([memory[r][f][c] for r, c in zip(rows, cols)]) for f in range(5)]
        loss = train_step(*map(tf.constant, batch))
    if step % 50 == 0:
        target_net.set_weights(q_net.get_weights())
    if step % 200 == 199:
        print("step %d loss %.4f" % (step, float(loss)))

test, finished, success = Warehouse(500), np.zeros(500, bool), np.zeros(500, bool)
for _ in range(LIMIT - 1):
    _, _, done = test.step(greedy(test.observe()).numpy())
    success |= (done > 0) & ~finished
    finished |= done > 0
print("SCORE success_rate %.4f" % success.mean())
