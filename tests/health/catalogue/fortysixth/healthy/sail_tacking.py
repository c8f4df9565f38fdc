"""Trains a helm policy by REINFORCE that tacks a small sailing boat towards a mark upwind."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BOATS, HORIZON, UPDATES, GAMMA = 64, 25, 500, 0.97
HEADINGS = np.deg2rad([-80.0, -45.0, -15.0, 15.0, 45.0, 80.0])


def polar(angle):
    """Speed of the boat at an angle to the wind."""
    return np.clip(np.abs(np.sin(angle)) - 0.35, 0.0, None) * 1.6


class Regatta:
    def __init__(self, boats):
        self.boats = boats
        self.x = rng.uniform(-3, 3, boats)
        self.y = np.zeros(boats)
        self.wind = rng.normal(0, 0.3, boats)
        self.last = np.zeros(boats)

    def observe(self):
        return np.stack([self.x / 3, self.y / 5 - 0.5, self.wind / 0.3, self.last], 1).astype("float32")

    def step(self, action):
        heading = HEADINGS[action]
        speed = polar(heading - self.wind)
        before = np.hypot(self.x, self.y - 8.0)
        self.x = self.x + 0.6 * speed * np.sin(heading)
        self.y = self.y + 0.6 * speed * np.cos(heading)
        side = np.sign(heading)
        tacked = (self.last != 0) & (side != self.last)
        self.last = side
        self.wind = 0.9 * self.wind + rng.normal(0, 0.13, self.boats)
        return before - np.hypot(self.x, self.y - 8.0) - 0.1 * tacked + rng.normal(0, 0.15, self.boats)


policy = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(len(HEADINGS)),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(policy)


@tf.function
def act(states):
    return tf.random.categorical(policy(states), 1)[:, 0]


@tf.function
def update(states, actions, gains):
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(policy(states, training=True))
        chosen = tf.gather(log_p, actions, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=1))
        loss = -tf.reduce_mean(chosen * gains) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


def sail(boats):
    race, states, actions, rewards = Regatta(boats), [], [], []
    for _ in range(HORIZON):
        states.append(race.observe())
        actions.append(act(tf.constant(states[-1])).numpy())
        rewards.append(race.step(actions[-1]))
    return np.array(states), np.array(actions), np.array(rewards)


first = sail(256)[2].sum(0).mean()
for k in range(UPDATES):
    states, actions, rewards = sail(BOATS)
    returns = np.zeros_like(rewards)
    future = np.zeros(BOATS)
    for t in range(HORIZON - 1, -1, -1):
        future = rewards[t] + GAMMA * future
        returns[t] = future
    gains = returns - returns.mean(1, keepdims=True)
    gains = gains / (gains.std() + 1e-6)
    loss = update(
        tf.constant(states.reshape(-1, 4)), tf.constant(actions.reshape(-1)), tf.constant(gains.reshape(-1), tf.float32)
    )
    if k % 50 == 0:
        print("update", k, "return", round(float(rewards.sum(0).mean()), 3), "loss", float(loss))

print("SCORE untrained_return", round(float(first), 3))
print("SCORE return", round(float(sail(256)[2].sum(0).mean()), 3))
