import os
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

GAMMA = 0.9
GRID = 6


class Batch(NamedTuple):
    obs: np.ndarray
    returns: np.ndarray


class CourierWorld:
    """Random-walk courier; parcels pay by distance, rain costs."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def rollout(self, episodes, length=25):
        pos = self.rng.integers(0, GRID, (episodes, 2)).astype("float32")
        goal = self.rng.integers(0, GRID, (episodes, 2)).astype("float32")
        rain = self.rng.random(episodes).astype("float32")
        obs, rewards = [], []
        for _ in range(length):
            dist = np.abs(pos - goal).sum(1)
            obs.append(np.concatenate([pos / GRID, goal / GRID, rain[:, None], dist[:, None] / GRID], axis=1))
            rewards.append(1.0 - 0.3 * dist - 0.8 * rain)
            towards = np.sign(goal - pos)
            drift = self.rng.integers(-1, 2, pos.shape)
            pos = np.clip(pos + np.where(self.rng.random(pos.shape) < 0.3, towards, 0.3 * drift), 0, GRID - 1)
        total, returns = np.zeros(episodes), []
        for r in reversed(rewards):
            total = r + GAMMA * total
            returns.append(total)
        keep = length - 12
        returns = returns[::-1][:keep]
        return Batch(np.concatenate(obs[:keep]).astype("float32"), np.concatenate(returns).astype("float32"))


def make_critic(hidden=(48, 48)):
    inp = keras.Input((6,))
    h = inp
    for i, units in enumerate(hidden):
        h = keras.layers.Dense(units, activation="tanh", name=f"critic_{i}")(h)
    return keras.Model(inp, keras.layers.Dense(1, name="value")(h), name="critic")


def critic_loss(values, returns):
    td = returns - values
    return 0.5 * tf.reduce_mean(tf.square(td))


class ValueLearner:
    def __init__(self, critic, lr=3e-3):
        self.critic = critic
        self.optimizer = keras.optimizers.Adam(lr, global_clipnorm=5.0)

    @tf.function
    def update(self, obs, returns):
        with tf.GradientTape() as tape:
            values = self.critic(obs, training=True)
            loss = critic_loss(values, returns)
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.critic.trainable_variables))
        return loss


def main():
    world = CourierWorld(SEED + 50)
    critic = make_critic()
    learner = ValueLearner(critic)
    watch = gradwatch.watch(critic)
    for it in range(40):
        batch = world.rollout(64)
        order = np.random.permutation(len(batch.obs))
        for idx in np.array_split(order, 12):
            loss = learner.update(tf.constant(batch.obs[idx][:64]), tf.constant(batch.returns[idx][:64]))
            watch.log(loss=loss)
        if it % 10 == 0:
            print("iteration", it, "critic loss", float(loss))
    test = CourierWorld(999).rollout(300)
    pred = critic(test.obs).numpy().ravel()
    print("SCORE", float(1 - np.mean((pred - test.returns) ** 2) / np.var(test.returns)))


if __name__ == "__main__":
    main()
