"""Trains a small robot to reach its shelf on a 5x5 floor with blocked cells, by Q-learning from a ring buffer."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SIDE, CAPACITY = 5, 8000
moves = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]], dtype="int8")
walls = np.zeros((SIDE, SIDE), dtype=bool)
walls[1, 1:4] = True
walls[3, 2] = True
free = np.argwhere(~walls).astype("int8")


class Floor:
    def reset(self):
        a, b = rng.choice(len(free), 2, replace=False)
        self.robot, self.shelf, self.t = free[a].copy(), free[b].copy(), 0
        return self.picture()

    def picture(self):
        p = np.zeros((SIDE, SIDE, 2), dtype="uint8")
        p[tuple(self.robot) + (0,)] = 255
        p[tuple(self.shelf) + (1,)] = 255
        return p

    def step(self, a):
        new = self.robot + moves[a]
        if (new >= 0).all() and (new < SIDE).all() and not walls[tuple(new)]:
            self.robot = new
        self.t += 1
        arrived = bool((self.robot == self.shelf).all())
        return self.picture(), float(arrived), arrived, arrived or self.t >= 25


def network():
    return keras.Sequential(
        [
            layers.Input((SIDE, SIDE, 2), dtype="uint8"),
            layers.Rescaling(1 / 255.0),
            layers.Flatten(),
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
            layers.Dense(4),
        ]
    )


model, target = network(), network()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)

obs = np.zeros((CAPACITY, SIDE, SIDE, 2), dtype="uint8")
nxt = np.zeros_like(obs)
act = np.zeros(CAPACITY, dtype="int32")
rew = np.zeros(CAPACITY, dtype="float32")
end = np.zeros(CAPACITY, dtype=bool)


@tf.function
def values(s):
    return model(s)


@tf.function
def train_step(s, a, r, s2, over):
    best = tf.argmax(model(s2), axis=1)
    ahead = tf.gather(target(s2), best, batch_dims=1)
    goal = r + 0.9 * tf.where(over, 0.0, ahead)
    with tf.GradientTape() as tape:
        q = tf.gather(model(s), a, batch_dims=1)
        loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


floor, count, steps = Floor(), 0, 0
s = floor.reset()
while steps < 1400:
    epsilon = max(0.15, 1.0 - count / 6500)
    a = int(rng.integers(4)) if rng.random() < epsilon else int(np.argmax(values(tf.constant(s[None]))[0]))
    s2, r, arrived, done = floor.step(a)
    i = count % CAPACITY
    obs[i], act[i], rew[i], nxt[i], end[i] = s, a, r, s2, arrived
    count += 1
    s = floor.reset() if done else s2
    if count > 500 and count % 6 == 0:
        j = rng.integers(0, min(count, CAPACITY), 128)
        loss = train_step(*[tf.constant(v[j]) for v in (obs, act, rew, nxt, end)])
        steps += 1
        if steps % 60 == 0:
            target.set_weights(model.get_weights())
        if steps % 200 == 0:
            print("update", steps, "loss", round(float(loss), 5))

wins = 0
for _ in range(100):
    s, done = floor.reset(), False
    while not done:
        s, r, arrived, done = floor.step(int(np.argmax(values(tf.constant(s[None]))[0])))
    wins += arrived
print("SCORE arrival_rate", wins / 100)
