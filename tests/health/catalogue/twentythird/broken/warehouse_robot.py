"""A robot in a warehouse of 7x7 cells learns the way to the packing table from logged moves (Q-learning, off policy)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, GAMMA, BATCH, STEPS, SYNC = 7, 0.9, 128, 1500, 50
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
TABLE = (6, 6)
SHELVES = {(1, 1), (1, 2), (1, 3), (1, 4), (3, 2), (3, 3), (3, 4), (3, 5), (3, 6), (5, 1), (5, 2), (5, 4), (5, 5)}
FREE = [(r, c) for r in range(SIDE) for c in range(SIDE) if (r, c) not in SHELVES and (r, c) != TABLE]


def move(cell, action):
    r, c = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    if not (0 <= r < SIDE and 0 <= c < SIDE) or (r, c) in SHELVES:
        return cell, -0.05, 0.0
    return (r, c), 1.0 if (r, c) == TABLE else -0.01, float((r, c) == TABLE)


def encode(cells):
    cells = np.asarray(cells)
    return np.concatenate([np.eye(SIDE)[cells[:, 0]], np.eye(SIDE)[cells[:, 1]]], axis=1).astype("float32")


log = []
for _ in range(4000):
    cell, action = FREE[rng.integers(len(FREE))], int(rng.integers(4))
    log.append((cell, action, *move(cell, action)))
before = encode([item[0] for item in log])
actions = np.array([item[1] for item in log], dtype="int32")
after = encode([item[2] for item in log])
rewards = np.array([item[3] for item in log], dtype="float32")
ended = np.array([item[4] for item in log], dtype="float32")

q_net = keras.Sequential(
    [
        keras.Input((2 * SIDE,)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(4),
    ]
)


def copy_of(network):
    copy = keras.models.clone_model(network)
    copy.set_weights(network.get_weights())
    return copy


target_net = copy_of(q_net)
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(state, action, reward, following, done):
    best = tf.reduce_max(target_net(following), axis=1)
    goal = reward + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(q_net(state) * tf.one_hot(action, 4), axis=1)
        loss = tf.reduce_mean(tf.square(goal - value))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))
    return loss


gradwatch.watch(q_net)
for step in range(STEPS):
    if step % SYNC == 0:
        target_net = copy_of(q_net)
    pick = rng.integers(0, len(log), BATCH)
    loss = train_step(before[pick], actions[pick], rewards[pick], after[pick], ended[pick])
    if step % 250 == 0:
        print(f"step {step} td {float(loss):.5f}")

policy = {cell: int(a) for cell, a in zip(FREE, np.argmax(q_net.predict(encode(FREE), verbose=0), axis=1))}
arrived = 0
for start in FREE:
    cell, done = start, 0.0
    for _ in range(30):
        cell, _, done = move(cell, policy[cell])
        if done:
            break
    arrived += done
print("SCORE arrived", round(arrived / len(FREE), 4))
