"""Learns by deep Q-learning to keep a house at its set temperature with a three-stage boiler."""

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


class House:
    """State: room error, water temperature, outdoor temperature (all scaled)."""

    def reset(self):
        self.state = np.array([rng.uniform(-1, 1), rng.uniform(-0.5, 0.5), rng.uniform(-1, 0.3)], "float32")
        self.t = 0
        return self.observe()

    def observe(self):
        return self.state

    def step(self, action):
        room, water, outdoor = self.state
        drift = np.array(
            [0.5 * water + 0.18 * (outdoor - room), 0.7 * (action - 0.6) - 0.4 * water, 0.1 * rng.normal()], "float32"
        )
        self.state += 0.5 * drift
        np.clip(self.state, -2, 2, out=self.state)
        self.t += 1
        reward = -abs(float(self.state[0])) - 0.02 * action
        return self.observe(), reward, self.t >= 40


def network():
    return keras.Sequential(
        [layers.Input((3,)), layers.Dense(48, activation="relu"), layers.Dense(48, activation="relu"), layers.Dense(3)]
    )


model, target = network(), network()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def values(s):
    return model(s)


@tf.function
def train_step(s, a, r, s2):
    goal = r + 0.95 * tf.reduce_max(target(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(model(s), a, batch_dims=1)
        loss = tf.reduce_mean(tf.square(goal - q))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


house = House()
memory = deque(maxlen=4000)
total = 0
for episode in range(75):
    s, done = house.reset(), False
    epsilon = max(0.08, 1.0 - episode / 40)
    score = 0.0
    while not done:
        if rng.random() < epsilon:
            a = int(rng.integers(3))
        else:
            a = int(np.argmax(values(tf.constant(s[None]))[0]))
        s2, r, done = house.step(a)
        memory.append((s, a, r, s2))
        s = s2
        score += r
        total += 1
        if len(memory) >= 200 and total % 2 == 0:
            pick = rng.integers(0, len(memory), 64)
            bs, ba, br, bs2 = zip(*[memory[i] for i in pick])
            loss = train_step(
                tf.constant(np.stack(bs)),
                tf.constant(np.array(ba, "int32")),
                tf.constant(np.array(br, "float32")),
                tf.constant(np.stack(bs2)),
            )
        if total % 100 == 0:
            target.set_weights(model.get_weights())
    if episode % 15 == 0:
        print("episode", episode, "return", round(score, 2))

returns = []
for _ in range(25):
    s, done, score = house.reset(), False, 0.0
    while not done:
        s, r, done = house.step(int(np.argmax(values(tf.constant(s[None]))[0])))
        score += r
    returns.append(score)
print("SCORE mean_return", round(float(np.mean(returns)), 3))
