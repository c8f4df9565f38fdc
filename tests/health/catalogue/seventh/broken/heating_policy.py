"""Maximum entropy policy for two heating valves, trained through a known reward."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STATE = 4  # indoor error, outdoor error, price, occupancy
VALVES = 2
BATCH = 64
ALPHA = 0.05


def sample_states(n):
    s = rng.normal(0, 1, (n, STATE))
    s[:, 3] = rng.random(n) < 0.6
    return s.astype("float32")


def comfort_reward(state, action):
    """Valves should open when it is too cold and someone is at home."""
    need = -2.0 * state[:, 0] - state[:, 1] + state[:, 3] - 0.5 * state[:, 2]
    total = 0.7 * action[:, 0] + 0.3 * action[:, 1]
    return 10.0 * need * total - 0.3 * tf.reduce_sum(tf.square(action), axis=1)


class Policy(keras.Model):
    def __init__(self):
        super().__init__(name="policy")
        self.d1 = layers.Dense(32, activation="relu")
        self.d2 = layers.Dense(32, activation="relu")
        self.mu = layers.Dense(VALVES)
        self.log_std = layers.Dense(VALVES)

    def call(self, state):
        h = self.d2(self.d1(state))
        return self.mu(h), tf.clip_by_value(self.log_std(h), -3.0, 1.0)

    def act(self, state):
        mu, log_std = self(state)
        noise = tf.random.normal(tf.shape(mu))
        raw = mu + tf.exp(log_std) * noise
        action = tf.tanh(raw)
        log_prob = -0.5 * tf.square(noise) - log_std - 0.5 * np.log(2 * np.pi)
        log_prob -= tf.math.log(1.0 - tf.square(action))
        return action, tf.reduce_sum(log_prob, axis=1)


policy = Policy()
policy(sample_states(2))
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def improve(state):
    with tf.GradientTape() as tape:
        action, log_prob = policy.act(state)
        reward = comfort_reward(state, action)
        loss = tf.reduce_mean(ALPHA * log_prob - reward)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss, tf.reduce_mean(reward), -tf.reduce_mean(log_prob)


gradwatch.watch(policy)
for step in range(600):
    loss, reward, entropy = improve(tf.constant(sample_states(BATCH)))
    if step % 40 == 0 or step == 599:
        print(f"update {step:4d} loss {float(loss):9.4f} reward {float(reward):9.4f} entropy {float(entropy):8.4f}")
