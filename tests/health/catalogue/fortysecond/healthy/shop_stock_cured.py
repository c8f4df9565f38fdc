"""Trains a value function for a shop's reordering policy by temporal differences."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

GAMMA, CAPACITY, STEPS, BATCH = 0.9, 20, 3500, 128


def random_states(count):
    return np.stack(
        [rng.integers(0, CAPACITY + 1, count), rng.uniform(0.2, 1.5, count), rng.uniform(1.0, 8.0, count)], axis=1
    )


def advance(state):
    stock, price, demand_rate = state.T
    demand = rng.poisson(demand_rate)
    sold = np.minimum(stock, demand)
    reward = 0.3 * price * sold - 0.02 * (stock - sold)
    left = stock - sold
    order = np.where(left < 5, 12 - left, 0)
    reward = reward - 0.2 * (order > 0)
    closed = rng.uniform(size=len(stock)) < 0.02
    after = np.stack([np.minimum(left + order, CAPACITY), price, demand_rate], axis=1)
    return reward, after, closed


def encode(state):
    scale = np.array([10.0, 0.85, 4.5]), np.array([6.0, 0.4, 2.0])
    return ((state - scale[0]) / scale[1]).astype("float32")


def simulate_value(state, repeats=100, horizon=50):
    now = np.repeat(state, repeats, axis=0)
    total, alive = np.zeros(len(now)), np.ones(len(now))
    for t in range(horizon):
        reward, now, closed = advance(now)
        total += GAMMA**t * alive * reward
        alive *= ~closed
    return total.reshape(len(state), repeats).mean(1)


def value_net():
    return keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(48, activation="tanh"),
            layers.Dense(48, activation="tanh"),
            layers.Dense(1),
        ]
    )


critic, slow_critic = value_net(), value_net()
slow_critic.set_weights(critic.get_weights())
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(critic)


@tf.function
def td_step(state, reward, after, going):
    value_after = slow_critic(after)[:, 0]
    target = reward + GAMMA * going * value_after
    with tf.GradientTape() as tape:
        value = critic(state, training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(tf.stop_gradient(target) - value))
    grads = tape.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    for slow, fast in zip(slow_critic.variables, critic.variables):
        slow.assign(0.95 * slow + 0.05 * fast)
    return loss


history = []
for step in range(1, STEPS + 1):
    state = random_states(BATCH)
    reward, after, closed = advance(state)
    loss = td_step(encode(state), reward.astype("float32"), encode(after), (~closed).astype("float32"))
    history.append(float(loss))
    if step % 500 == 0:
        print(f"step {step} td error {np.mean(history[-500:]):.4f}")

probe = random_states(200)
truth = simulate_value(probe)
guess = critic.predict(encode(probe), verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((guess - truth) ** 2) / np.var(truth)))
