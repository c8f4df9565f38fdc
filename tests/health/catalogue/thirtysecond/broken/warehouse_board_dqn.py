"""Double DQN agent that learns to walk a warehouse grid to a parcel while avoiding shelves."""

import os
from collections import deque

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 5
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
SHELVES = {(1, 1), (1, 3), (3, 2)}


class Warehouse:
    """The board has one plane for the robot and one for the parcel."""

    def __init__(self):
        self.board = np.zeros((N, N, 2), "float32")

    def _free(self):
        while True:
            cell = tuple(rng.integers(0, N, 2))
            if cell not in SHELVES:
                return cell

    def reset(self):
        self.robot, self.parcel, self.time = self._free(), self._free(), 0
        while self.parcel == self.robot:
            self.parcel = self._free()
        self.board = np.zeros((N, N, 2), "float32")
        self.board[self.robot][0] = 1.0
        self.board[self.parcel][1] = 1.0
        return self.board

    def step(self, action):
        self.time += 1
        dy, dx = MOVES[action]
        cell = (self.robot[0] + dy, self.robot[1] + dx)
        reward = -0.02
        if 0 <= cell[0] < N and 0 <= cell[1] < N and cell not in SHELVES:
            self.board[self.robot][0] = 0.0
            self.robot = cell
            self.board[self.robot][0] = 1.0
        else:
            reward = -0.1
        if self.robot == self.parcel:
            return self.board, 1.0, True
        return self.board, reward, self.time >= 25


def make_net():
    return keras.Sequential(
        [
            keras.Input((N, N, 2)),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(128, activation="relu"),
            layers.Dense(4),
        ]
    )


GAMMA = 0.95
model, target = make_net(), make_net()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.argmax(model(s2), axis=1)
    q_next = tf.gather(target(s2), best, batch_dims=1)
    goal = r + GAMMA * (1.0 - done) * q_next
    with tf.GradientTape() as tape:
        q = tf.gather(model(s, training=True), a, batch_dims=1)
        loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


q_values = tf.function(lambda s: model(s, training=False))


def act(state, eps):
    if rng.random() < eps:
        return int(rng.integers(4))
    return int(np.argmax(q_values(state[None])[0]))


env = Warehouse()
memory = deque(maxlen=6000)
state = env.reset()
losses = []
for frame in range(6000):
    eps = max(0.1, 1.0 - frame / 4000)
    action = act(state, eps)
    next_state, reward, done = env.step(action)
    memory.append((state, action, reward, next_state, done))
    state = env.reset() if done else next_state
    if frame >= 500 and frame % 4 == 0:
        idx = rng.integers(len(memory), size=128)
        s, a, r, s2, d = zip(*[memory[i] for i in idx])
        losses.append(
            float(
                train_step(
                    tf.constant(np.array(s)),
                    tf.constant(a, tf.int32),
                    tf.constant(r, tf.float32),
                    tf.constant(np.array(s2)),
                    tf.constant(d, tf.float32),
                )
            )
        )
    if frame % 100 == 0:
        target.set_weights(model.get_weights())
    if frame % 1000 == 999:
        print("frame", frame + 1, "loss", round(np.mean(losses[-100:]), 5))

delivered = 0
for _ in range(100):
    state, done = env.reset(), False
    while not done:
        state, reward, done = env.step(act(state, 0.0))
    delivered += reward == 1.0
print("SCORE delivery_rate", delivered / 100)
