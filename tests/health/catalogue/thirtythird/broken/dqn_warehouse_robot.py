"""Deep Q-learning of a warehouse robot which has to reach a given shelf on a small floor."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


W, GAMMA, N_ENV, HORIZON = 7, 0.95, 16, 25
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Floor:
    """A batch of independent floors, stepped together."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.pos = np.zeros((n, 2), int)
        self.goal = np.zeros((n, 2), int)
        self.t = np.zeros(n, int)
        self.reset(np.ones(n, bool))

    def reset(self, which):
        k = int(which.sum())
        self.pos[which] = self.rng.integers(0, W, (k, 2))
        self.goal[which] = (self.pos[which] + self.rng.integers(1, W, (k, 2))) % W
        self.t[which] = 0

    def obs(self):
        return (np.concatenate([self.pos, self.goal], 1) / (W - 1) * 2 - 1).astype("float32")

    def step(self, a):
        self.pos = np.clip(self.pos + MOVES[a], 0, W - 1)
        self.t += 1
        hit = (self.pos == self.goal).all(1)
        reward = np.where(hit, 1.0, -0.05).astype("float32")
        nxt = self.obs()
        self.reset(hit | (self.t >= HORIZON))
        return nxt, reward, hit


def make_net():
    return keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
            layers.Dense(4),
        ]
    )


q_net, target_net = make_net(), make_net()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
gradwatch.watch(q_net)


@tf.function
def q_values(s):
    return q_net(s)


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.reduce_max(target_net(s2), axis=1)
    y = r + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(s, training=True), a, batch_dims=1)
        loss = huber(y, q)
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


CAP = 12000
buf = {
    "s": np.zeros((CAP, 4), "float32"),
    "a": np.zeros(CAP, "int32"),
    "r": np.zeros(CAP, "float32"),
    "s2": np.zeros((CAP, 4), "float32"),
    "d": np.zeros(CAP, "float32"),
}
filled, cursor = 0, 0
env = Floor(N_ENV, rng)
STEPS, WARMUP, SYNC = 1500, 60, 60

for step in range(STEPS + WARMUP):
    eps = max(0.1, 1.0 - step / 500)
    s = env.obs()
    a = q_values(s).numpy().argmax(1)
    a = np.where(rng.random(N_ENV) < eps, rng.integers(0, 4, N_ENV), a)
    s2, r, d = env.step(a)
    idx = (cursor + np.arange(N_ENV)) % CAP
    buf["s"][idx], buf["a"][idx], buf["r"][idx], buf["s2"][idx], buf["d"][idx] = s, a, r, s2, d
    cursor = (cursor + N_ENV) % CAP
    filled = min(filled + N_ENV, CAP)
    if step < WARMUP:
        continue
    b = rng.integers(0, filled, 128)
    loss = train_step(buf["s"][b], buf["a"][b], buf["r"][b], buf["s2"][b], buf["d"][b])
    if step % SYNC == 0:
        q_net.set_weights(target_net.get_weights())
    if step % 300 == 0:
        print("step", step, "loss", round(float(loss), 5), "eps", round(eps, 2))

test = Floor(400, np.random.default_rng(1234))
reached = np.zeros(400, bool)
alive = np.ones(400, bool)
for _ in range(2 * W):
    _, _, d = test.step(q_values(test.obs()).numpy().argmax(1))
    reached |= d & alive
    alive &= ~d
print("SCORE shelf_reached", round(float(reached.mean()), 4))
