"""Q-learning of a transport robot that has to reach the depot's exit in a windy hall."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, ENVS, LIMIT = 7, 16, 30
MOVES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
EXIT = np.array([5, 1])


class Hall:
    """Sixteen robots in halls of the same plan."""

    def __init__(self):
        self.pos = rng.integers(0, SIZE, (ENVS, 2))
        self.age = np.zeros(ENVS, int)

    def observe(self):
        return self.pos

    def step(self, action):
        self.pos += MOVES[action]
        gust = rng.random(ENVS) < 0.1
        self.pos[gust, 1] += 1
        np.clip(self.pos, 0, SIZE - 1, out=self.pos)
        self.age += 1
        done = (self.pos == EXIT).all(1)
        reward = np.where(done, 1.0, -0.04)
        return self.observe(), reward, done

    def restart(self, done):
        over = done | (self.age >= LIMIT)
        self.pos[over] = rng.integers(0, SIZE, (over.sum(), 2))
        self.age[over] = 0


def encode(pos):
    return np.concatenate([np.eye(SIZE)[pos[:, 0]], np.eye(SIZE)[pos[:, 1]]], 1).astype("float32")


def make():
    return keras.Sequential(
        [
            keras.Input((2 * SIZE,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(4),
        ]
    )


model, target = make(), make()
target.set_weights(model.get_weights())
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def learn(s, a, r, s2, d):
    q_next = tf.reduce_max(target(s2), axis=1)
    goal = r + 0.95 * (1.0 - d) * q_next
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s, training=True) * tf.one_hot(a, 4), axis=1)
        loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


greedy = tf.function(lambda s: tf.argmax(model(s), axis=1))
CAP = 10000
S, S2 = np.zeros((CAP, 2), int), np.zeros((CAP, 2), int)
A, R, D = np.zeros(CAP, "int32"), np.zeros(CAP, "float32"), np.zeros(CAP, "float32")
hall, count = Hall(), 0
for i in range(1500):
    state = hall.observe()
    explore = max(0.1, 1 - i / 700)
    action = np.where(rng.random(ENVS) < explore, rng.integers(0, 4, ENVS), greedy(encode(state)).numpy())
    next_state, reward, done = hall.step(action)
    at = np.arange(count, count + ENVS) % CAP
    S[at], A[at], R[at], S2[at], D[at] = state, action, reward, next_state, done
    count += ENVS
    hall.restart(done)
    if i >= 50:
        j = rng.integers(0, min(count, CAP), 64)
        loss = learn(encode(S[j]), A[j], R[j], encode(S2[j]), D[j])
    if i % 100 == 0:
        target.set_weights(model.get_weights())
        print(i, "reward", reward.mean())

wins = 0
for _ in range(20):
    hall, ok = Hall(), np.zeros(ENVS, bool)
    for _ in range(20):
        _, _, done = hall.step(greedy(encode(hall.observe())).numpy())
        ok |= done
    wins += ok.mean() / 20
print("SCORE success_rate %.4f" % wins)
