import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 21)

LENGTH = 60
ACTIONS = 3
HORIZON = 25


class Corridor:
    def __init__(self, count):
        self.count = count

    def reset(self):
        self.pos = rng.integers(0, LENGTH, self.count)
        self.lamp = rng.integers(0, LENGTH, self.count)
        return self.observe()

    def observe(self):
        return np.stack([self.lamp - self.pos, self.pos / LENGTH], axis=1).astype("float32")

    def step(self, action):
        self.pos = np.clip(self.pos + 2 * (action - 1), 0, LENGTH - 1)
        reward = 1.0 - np.abs(self.pos - self.lamp).astype("float32") / 10.0
        return self.observe(), reward


policy = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(64, activation="relu", name="body"),
        layers.Dense(ACTIONS, activation="softmax", name="action_probs"),
    ]
)
optimizer = keras.optimizers.Adam(0.01)
watch = gradwatch.watch(policy)


def sample(probs):
    cum = probs.cumsum(axis=1)
    return (rng.random((len(probs), 1)) > cum[:, :-1]).sum(axis=1)


def rollout(env):
    obs = env.reset()
    states, actions, rewards = [], [], []
    for _ in range(HORIZON):
        probs = policy(obs).numpy()
        act = sample(probs)
        states.append(obs)
        actions.append(act)
        obs, r = env.step(act)
        rewards.append(r)
    rewards = np.array(rewards)
    returns = np.zeros_like(rewards)
    running = np.zeros(env.count, "float32")
    for t in reversed(range(HORIZON)):
        running = rewards[t] + 0.9 * running
        returns[t] = running
    return np.concatenate(states), np.concatenate(actions), returns.reshape(-1), rewards.sum(0).mean()


@tf.function
def update(states, actions, returns):
    with tf.GradientTape() as tape:
        probs = policy(states, training=True)
        chosen = tf.one_hot(actions, ACTIONS)
        log_probs = tf.math.log(probs + 1e-8)
        picked = tf.reduce_sum(log_probs * chosen, axis=1)
        loss = -tf.reduce_mean(picked * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


env = Corridor(12)
for episode in range(300):
    s, a, g, total = rollout(env)
    g = g - g.mean()
    loss = update(tf.constant(s), tf.constant(a), tf.constant(g))
    watch.log(loss=float(loss))
    if episode % 40 == 0:
        print(episode, "loss", float(loss), "reward", total)

test_env = Corridor(400)
final = rollout(test_env)[3]
print("SCORE", float(final) if np.isfinite(policy.get_weights()[0]).all() else float("nan"))
