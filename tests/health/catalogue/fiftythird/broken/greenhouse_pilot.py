"""A policy that keeps a greenhouse near its wanted temperature (policy gradient)."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_ROOMS, HORIZON, ROUNDS, GAMMA = 48, 40, 400, 0.95
PUSH = np.array([-0.35, 0.0, 0.35])


class Greenhouse:
    def reset(self):
        self.temp = rng.uniform(-2.0, 2.0, N_ROOMS)
        self.flow = np.zeros(N_ROOMS)
        self.pipe = [np.zeros(N_ROOMS) for _ in range(3)]
        self.wind = rng.normal(scale=0.05, size=N_ROOMS)
        return self.look()

    def look(self):
        return np.stack([self.temp, self.flow, *self.pipe], 1).astype("float32")

    def act(self, action):
        self.pipe.append(PUSH[action])
        self.flow = 0.6 * self.flow + self.pipe.pop(0) + self.wind
        self.temp = self.temp + 0.5 * self.flow + rng.normal(scale=0.03, size=N_ROOMS)
        self.temp = np.clip(self.temp, -4, 4)
        return self.look(), -np.abs(self.temp)


policy = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(3),
    ],
    name="policy",
)
opt = keras.optimizers.Adam(3e-3)
gradwatch.watch(policy)


@tf.function
def choose(obs):
    return tf.random.categorical(policy(obs), 1)[:, 0]


@tf.function
def improve(obs, actions, advantage):
    with tf.GradientTape() as tape:
        logits = policy(obs, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(p * tf.nn.log_softmax(logits), axis=-1)
        loss = tf.reduce_mean(nll * advantage) - 0.005 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


def discounted(rewards):
    out = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1])
    for t in range(len(rewards)):
        running = rewards[t] + GAMMA * running
        out[t] = running
    return out


house = Greenhouse()
for rnd in range(ROUNDS):
    obs, seen, done, paid = house.reset(), [], [], []
    for t in range(HORIZON):
        action = choose(tf.constant(obs)).numpy()
        seen.append(obs)
        done.append(action)
        obs, reward = house.act(action)
        paid.append(reward)
    returns = discounted(np.array(paid))
    adv = returns - returns.mean(axis=1, keepdims=True)
    adv = adv / (returns.std(axis=1, keepdims=True) + 1e-6)
    loss = improve(
        tf.constant(np.concatenate(seen)),
        tf.constant(np.concatenate(done).astype("int32")),
        tf.constant(adv.reshape(-1).astype("float32")),
    )
    if (rnd + 1) % 40 == 0:
        print(f"round {rnd + 1} loss {float(loss):+.4f} mean reward {np.mean(paid):.3f}")

obs, total = house.reset(), []
for t in range(HORIZON):
    obs, reward = house.act(np.argmax(policy(obs).numpy(), axis=1))
    total.append(reward)
print("SCORE mean_reward", round(float(np.mean(total)), 4))
