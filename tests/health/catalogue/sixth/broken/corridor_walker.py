"""DQN for an agent that has to walk to the end of a corridor."""

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

SIZE, GAMMA = 8, 0.9


class Corridor:
    def reset(self):
        self.pos, self.t = 0, 0
        return self.obs()

    def obs(self):
        return np.eye(SIZE, dtype="float32")[self.pos]

    def step(self, action):
        self.t += 1
        self.pos = min(self.pos + 1, SIZE - 1) if action == 1 else max(self.pos - 1, 0)
        reached = self.pos == SIZE - 1
        return self.obs(), (1.0 if reached else -0.02), reached or self.t >= 30, reached


def q_network():
    return keras.Sequential(
        [
            layers.Input((SIZE,)),
            layers.Dense(32, activation="relu"),
            layers.Dense(32, activation="relu"),
            layers.Dense(2),
        ]
    )


online, target = q_network(), q_network()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
memory = deque(maxlen=2000)


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.reduce_max(target(s2), axis=1)
    y = r + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(online(s) * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean(tf.square(y - q))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


@tf.function
def greedy(s):
    return tf.argmax(online(s[None]), axis=1)[0]


env = Corridor()
s, ret, returns = env.reset(), 0.0, []
steps = 0
gradwatch.watch(online)
while steps < 500:
    for _ in range(3):
        eps = max(0.1, 1.0 - steps / 300)
        a = int(rng.integers(2)) if rng.random() < eps else int(greedy(tf.constant(s)))
        s2, r, over, reached = env.step(a)
        memory.append((s, a, r, s2, float(reached)))
        ret += r
        s = s2
        if over:
            returns.append(ret)
            s, ret = env.reset(), 0.0
    if len(memory) < 32:
        continue
    batch = [memory[i] for i in rng.integers(0, len(memory), 32)]
    bs, ba, br, bs2, bd = map(np.array, zip(*batch))
    loss = train_step(bs, ba.astype("int32"), br.astype("float32"), bs2, bd.astype("float32"))
    steps += 1
    if steps % 20 == 0:
        online.set_weights(target.get_weights())
    if steps % 50 == 0:
        print(steps, "loss", float(loss), "return", np.mean(returns[-5:]))
print("q(start)", online(np.eye(SIZE, dtype="float32")).numpy().round(2).tolist())
