import os
from collections import deque

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIDE, LIMIT, ENVS, GAMMA = 6, 24, 16, 0.95
rng = np.random.default_rng(SEED)
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Courier:
    def __init__(self, n):
        self.n = n
        self.pos, self.goal, self.t = (np.zeros((n, 2), int) for _ in range(3))
        self.t = np.zeros(n, int)
        self.reset(np.ones(n, bool))

    def reset(self, who):
        k = who.sum()
        self.pos[who] = rng.integers(0, SIDE, (k, 2))
        self.goal[who] = rng.integers(0, SIDE, (k, 2))
        self.t[who] = 0

    def obs(self):
        return np.concatenate([self.pos / SIDE, self.goal / SIDE, (self.goal - self.pos) / SIDE], 1).astype("float32")

    def step(self, a):
        self.pos = np.clip(self.pos + MOVES[a], 0, SIDE - 1)
        self.t += 1
        home = (self.pos == self.goal).all(1)
        over = home | (self.t >= LIMIT)
        return self.obs(), np.where(home, 10.0, -0.1).astype("float32"), home.astype("float32"), over


def qnet():
    return keras.Sequential(
        [
            keras.Input((6,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(4, name="q"),
        ]
    )


online, target = qnet(), qnet()
target.set_weights(online.get_weights())
target.trainable = False
opt = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(online)


@tf.function
def learn(s, a, r, s2, done):
    best = tf.argmax(online(s2), 1)
    boot = tf.gather(target(s2), best, batch_dims=1)
    goal = r + GAMMA * (1 - done) * boot
    with tf.GradientTape() as tape:
        q = tf.gather(online(s, training=True), a, batch_dims=1)
        loss = tf.reduce_mean(tf.square(goal - q))
    grads = tape.gradient(loss, online.trainable_variables)
    opt.apply_gradients(zip(grads, online.trainable_variables))
    return loss


memory, env = deque(maxlen=20000), Courier(ENVS)
obs = env.obs()
for step in range(2500):
    eps = max(0.05, 1 - step / 1200)
    a = online(obs).numpy().argmax(1)
    a = np.where(rng.random(ENVS) < eps, rng.integers(0, 4, ENVS), a)
    nxt, r, home, over = env.step(a)
    memory.extend(zip(obs, a, r, nxt, home))
    env.reset(over)
    obs = env.obs()
    if len(memory) > 1000:
        batch = [memory[i] for i in rng.integers(0, len(memory), 64)]
        loss = learn(*(tf.constant(np.stack(c)) for c in zip(*batch)))
        watch.log(loss=loss)
        if step % 250 == 0:
            print(step, float(loss))
    if step % 150 == 0:
        target.set_weights(online.get_weights())

test = Courier(500)
reached = np.zeros(500, bool)
for _ in range(LIMIT):
    reached |= test.step(online(test.obs()).numpy().argmax(1))[2] > 0
print("SCORE", float(reached.mean()))
