"""Trains a Q-network that moves a lift between the floors where people wait."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 9)

FLOORS, LIFTS, ACTIONS = 7, 32, 3
GAMMA = 0.9
CALL_RATE = np.array([0.12, 0.02, 0.02, 0.02, 0.02, 0.02, 0.06])


class Building:
    """Many lifts at once; action 0 goes down, 1 opens the doors, 2 goes up."""

    def __init__(self, count):
        self.floor = rng.integers(0, FLOORS, count)
        self.calls = np.zeros((count, FLOORS), dtype=bool)

    def state(self):
        return np.concatenate([np.eye(FLOORS)[self.floor], self.calls], axis=1).astype("float32")

    def step(self, action):
        rows = np.arange(len(self.floor))
        served = (action == 1) & self.calls[rows, self.floor]
        self.calls[rows[served], self.floor[served]] = False
        self.floor = np.clip(self.floor + action - 1, 0, FLOORS - 1)
        reward = 1.0 * served - 0.05 * self.calls.sum(axis=1)
        self.calls |= rng.random(self.calls.shape) < CALL_RATE
        return reward.astype("float32")


def network(name):
    return keras.Sequential(
        [
            keras.Input((2 * FLOORS,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(ACTIONS),
        ],
        name=name,
    )


model, target = network("lift"), network("lift_target")
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def update(state, action, reward, following):
    best = tf.reduce_max(target(following), axis=1)
    goal = reward + GAMMA * best
    with tf.GradientTape() as tape:
        chosen = tf.reduce_sum(model(state) * tf.one_hot(action, ACTIONS), axis=1, keepdims=True)
        loss = tf.reduce_mean(tf.square(goal - chosen))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def greedy(state):
    return tf.argmax(model(state), axis=1)


building = Building(LIFTS)
memory = []
for tick in range(1800):
    state = building.state()
    action = greedy(state).numpy()
    explore = rng.random(LIFTS) < max(0.1, 1 - tick / 800)
    action = np.where(explore, rng.integers(0, ACTIONS, LIFTS), action).astype("int32")
    reward = building.step(action)
    memory.append((state, action, reward, building.state()))
    memory = memory[-800:]
    if tick >= 50:
        picks = rng.integers(0, len(memory), 4)
        batch = [np.concatenate([memory[i][k] for i in picks]) for k in range(4)]
        loss = update(*batch)
    if tick % 100 == 0:
        target.set_weights(model.get_weights())
    if tick % 300 == 299:
        print(f"tick {tick + 1}  loss {float(loss):.4f}", flush=True)

trial = Building(200)
rewards = [trial.step(greedy(trial.state()).numpy()).mean() for _ in range(200)]
print("SCORE reward", float(np.mean(rewards)))
