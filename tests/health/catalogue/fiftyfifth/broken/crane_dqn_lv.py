"""Q-learning for a harbour crane trolley: drive to the hatch and stop there, 24 simulators at once."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


CRANES, HORIZON, GAMMA = 24, 40, 0.95
PUSH = np.array([-0.12, 0.0, 0.12], "float32")
rng = np.random.default_rng(SEED + 88)


class Trolley:
    """State: offset from the hatch, velocity, wind."""

    def reset(self):
        self.state = np.zeros((CRANES, 3), "float32")
        self.state[:, 0] = rng.uniform(-1.5, 1.5, CRANES)
        self.state[:, 2] = rng.uniform(-0.03, 0.03, CRANES)
        return self.state

    def step(self, action):
        self.state[:, 1] += PUSH[action] + self.state[:, 2]
        self.state[:, 1] *= 0.92
        self.state[:, 0] += self.state[:, 1]
        np.clip(self.state[:, 0], -2.5, 2.5, out=self.state[:, 0])
        cost = np.abs(self.state[:, 0]) + 0.05 * (action != 1)
        return self.state, -cost.astype("float32")


class Memory:
    def __init__(self, slots=400):
        self.slots, self.rows = slots, []

    def add(self, *row):
        self.rows.append(row)
        del self.rows[: -self.slots]

    def sample(self, n):
        picks, crane = rng.integers(0, len(self.rows), n), rng.integers(0, CRANES, n)
        rows = [[column[c] for column in self.rows[p]] for p, c in zip(picks, crane)]
        return [np.stack(column) for column in zip(*rows)]


def q_network():
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(3),
        ]
    )


q_net, target_net = q_network(), q_network()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
gradwatch.watch(q_net)


@tf.function
def improve(state, action, reward, following):
    target = reward + GAMMA * tf.reduce_max(target_net(following), axis=1)
    with tf.GradientTape() as tape:
        chosen = tf.gather(q_net(state), action, axis=1, batch_dims=1)
        loss = huber(target, chosen)
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


greedy = tf.function(lambda state: tf.argmax(q_net(state), axis=1))


def drive(yard, epsilon, memory=None):
    state, earned, losses = yard.reset(), 0.0, []
    for _ in range(HORIZON):
        action = greedy(tf.constant(state)).numpy()
        action = np.where(rng.random(CRANES) < epsilon, rng.integers(0, 3, CRANES), action)
        following, reward = yard.step(action)
        earned += reward.mean()
        if memory is not None:
            memory.add(state, action.astype("int32"), reward, following)
            if len(memory.rows) > 60:
                losses.append(float(improve(*map(tf.constant, memory.sample(128)))))
        state = following
    return earned, losses


yard, memory = Trolley(), Memory()
for episode in range(40):
    earned, losses = drive(yard, max(0.05, 1.0 - episode / 20), memory)
    if episode % 5 == 0:
        target_net.set_weights(q_net.get_weights())
        print(f"episode {episode:3d}  return {earned:.2f}  loss {np.mean(losses) if losses else 0:.4f}")

print("SCORE greedy_return", float(np.mean([drive(yard, 0.0)[0] for _ in range(10)])))
