"""Learn the game Catch (move a paddle under a falling ball) with a deep Q-network and replay."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ROWS, COLS, ENVS, GAMMA = 7, 6, 16, 0.97


class Catch:
    def __init__(self, n):
        self.n = n
        self.row = rng.integers(0, ROWS - 1, n)
        self.ball = rng.integers(0, COLS, n)
        self.paddle = rng.integers(0, COLS, n)

    def observe(self):
        board = np.zeros((self.n, ROWS, COLS), "float32")
        i = np.arange(self.n)
        board[i, self.row, self.ball] = 1.0
        board[i, ROWS - 1, self.paddle] = 1.0
        return board.reshape(self.n, -1)

    def step(self, action):
        self.paddle = np.clip(self.paddle + action - 1, 0, COLS - 1)
        self.row = self.row + 1
        done = self.row == ROWS - 1
        reward = np.where(done, np.where(self.paddle == self.ball, 1.0, -1.0), 0.0)
        after = self.observe()
        k = int(done.sum())
        self.row[done] = 0
        self.ball[done] = rng.integers(0, COLS, k)
        self.paddle[done] = rng.integers(0, COLS, k)
        return after, reward.astype("float32"), done.astype("float32")


def build():
    return keras.Sequential(
        [
            keras.Input((ROWS * COLS,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(3),
        ]
    )


q_net, target_net = build(), build()
target_net.set_weights(q_net.get_weights())
gradwatch.watch(q_net)
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def act(obs):
    return tf.argmax(q_net(obs), axis=1)


@tf.function
def train_step(obs, action, reward, after, done):
    best_next = tf.reduce_max(target_net(after), axis=1)
    target = reward + GAMMA * (1.0 - done) * best_next
    with tf.GradientTape() as tape:
        q_all = q_net(obs, training=True)
        q = tf.gather(q_all, action[:, None], axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(target - q))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


env = Catch(ENVS)
obs = env.observe()
memory = []
for step in range(1400):
    eps = max(0.1, 1.0 - step / 600)
    action = act(obs).numpy()
    explore = rng.random(ENVS) < eps
    action[explore] = rng.integers(0, 3, int(explore.sum()))
    after, reward, done = env.step(action)
    memory.append((obs, action.astype("int32"), reward, after, done))
    obs = env.observe()
    if len(memory) < 20:
        continue
    memory = memory[-600:]
    picks = rng.integers(0, len(memory), 4)
    batch = [np.concatenate([memory[p][k] for p in picks]) for k in range(5)]
    loss = train_step(*batch)
    if step % 50 == 0:
        target_net.set_weights(q_net.get_weights())
    if step % 200 == 0:
        print(f"step {step} eps {eps:.2f} loss {float(loss):.4f}")

env = Catch(200)
obs = env.observe()
caught = total = 0
for _ in range(3 * ROWS):
    _, reward, done = env.step(act(obs).numpy())
    obs = env.observe()
    caught += int((reward > 0).sum())
    total += int(done.sum())
print("SCORE catch_rate", caught / total)
