"""Critic for a reservoir operator: learns the value of a state (expected
discounted water delivered, in m3) from rolled-out episodes of a fixed policy."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CAPACITY = 8.0e6  # m3
GAMMA = 0.9
HORIZON = 60


def rollouts(episodes):
    level = rng.uniform(0.1, 1.0, episodes)
    season = rng.uniform(0, 1, episodes)
    wet = rng.normal(0, 1, episodes)
    states, rewards = [], []
    for _ in range(HORIZON):
        demand = 0.06 + 0.04 * np.cos(2 * np.pi * season)
        states.append(np.stack([level, np.sin(2 * np.pi * season), np.cos(2 * np.pi * season), wet, demand * 10], 1))
        release = np.minimum(demand * np.clip(level / 0.4, 0.2, 1.0), level)
        wet = 0.85 * wet + 0.5 * rng.normal(size=episodes)
        inflow = np.maximum(0, 0.05 * (1 + 0.6 * np.sin(2 * np.pi * season)) + 0.03 * wet)
        level = np.clip(level - release + inflow, 0, 1)
        season = (season + 1 / 52) % 1
        rewards.append(release * CAPACITY)
    states, rewards = np.stack(states), np.stack(rewards)
    returns = np.zeros_like(rewards)
    running = np.zeros(episodes)
    for t in reversed(range(HORIZON)):
        running = rewards[t] + GAMMA * running
        returns[t] = running
    keep = HORIZON - 25
    return states[:keep].reshape(-1, 5).astype("float32"), returns[:keep].reshape(-1).astype("float32")


states, returns = rollouts(400)
target = returns
target_var = float(np.var(target))

model = keras.Sequential(
    [
        keras.Input((5,)),
        layers.Dense(512, activation="relu", name="state1"),
        layers.Dense(512, activation="relu", name="state2"),
        layers.Dense(1, name="value"),
    ],
    name="critic",
)
gradwatch.watch(model)
optimizer = keras.optimizers.Nadam(1e-3)


@tf.function
def update(s, g):
    with tf.GradientTape() as tape:
        v = tf.squeeze(model(s, training=True), -1)
        loss = tf.reduce_mean(tf.square(g - v))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(400):
    idx = rng.integers(0, len(states), 1024)
    loss = update(tf.constant(states[idx]), tf.constant(target[idx]))
    if step % 40 == 0 or step == 399:
        pred = model.predict_on_batch(states)[:, 0]
        ev = 1 - np.mean((target - pred) ** 2) / target_var
        print(f"step {step:4d}  loss {float(loss):.4g}  explained variance {ev:.3f}")
