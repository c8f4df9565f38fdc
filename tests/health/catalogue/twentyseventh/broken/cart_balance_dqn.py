"""Deep Q-learning of the cart-pole with several simulated carts side by side."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CARTS = 8
STEPS = 2500
BATCH = 64
GAMMA = 0.98
MAX_LENGTH = 200


def physics(state, action):
    """One Euler step of 0.02 s; returns the next states and which poles fell."""
    x, v, angle, spin = state.T
    force = np.where(action == 1, 10.0, -10.0)
    temp = (force + 0.05 * spin**2 * np.sin(angle)) / 1.1
    spin_acc = (9.8 * np.sin(angle) - np.cos(angle) * temp) / (0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1))
    acc = temp - 0.05 * spin_acc * np.cos(angle) / 1.1
    new = np.stack([x + 0.02 * v, v + 0.02 * acc, angle + 0.02 * spin, spin + 0.02 * spin_acc], axis=1)
    fell = (np.abs(new[:, 0]) > 2.4) | (np.abs(new[:, 2]) > 0.21)
    return new.astype("float32"), fell


def fresh(n):
    return rng.uniform(-0.05, 0.05, size=(n, 4)).astype("float32")


def build_q():
    return keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(2),
        ]
    )


q_net, target_net = build_q(), build_q()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
gradwatch.watch(q_net)


@tf.function
def train_step(state, action, reward, next_state):
    target = reward + GAMMA * tf.reduce_max(target_net(next_state), axis=1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(q_net(state, training=True) * tf.one_hot(action, 2), axis=1)
        loss = huber(target, q)
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss, tf.reduce_mean(q)


greedy = tf.function(lambda s: tf.argmax(q_net(s), axis=1))
memory, state, age = [], fresh(CARTS), np.zeros(CARTS, dtype=int)

for step in range(STEPS):
    epsilon = max(0.1, 1.0 - step / 1000)
    explore = rng.random(CARTS) < epsilon
    action = np.where(explore, rng.integers(0, 2, CARTS), greedy(state).numpy())
    new, fell = physics(state, action)
    memory.extend(zip(state, action, np.ones(CARTS, "float32"), new))
    memory = memory[-20000:]
    age += 1
    over = fell | (age >= MAX_LENGTH)
    state = np.where(over[:, None], fresh(CARTS), new)
    age[over] = 0
    if len(memory) < 500:
        continue
    rows = [memory[i] for i in rng.integers(0, len(memory), BATCH)]
    s, a, r, s2 = (np.array(column) for column in zip(*rows))
    loss, q_mean = train_step(s, a.astype("int32"), r, s2)
    if step % 100 == 0:
        target_net.set_weights(q_net.get_weights())
    if step % 500 == 0:
        print(f"step {step} loss {float(loss):.4f} mean q {float(q_mean):.2f}")

state, alive, length = fresh(100), np.ones(100, dtype=bool), np.zeros(100)
for _ in range(MAX_LENGTH):
    state, fell = physics(state, greedy(state).numpy())
    alive &= ~fell
    length += alive
print(f"SCORE mean_episode_length {length.mean():.1f}")
