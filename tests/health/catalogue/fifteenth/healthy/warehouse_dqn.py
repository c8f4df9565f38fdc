"""A warehouse robot learns by Q-learning to reach a shelf on a 5 x 5 floor."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 90)

SIDE, N_ENVS = 5, 32
GAMMA, BATCH, STEPS = 0.9, 128, 1300
TARGET_EVERY = 60
CAPACITY = 12000
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
PILLARS = {(1, 1), (3, 2)}


def free_cells(n):
    cells = np.array([(r, c) for r in range(SIDE) for c in range(SIDE) if (r, c) not in PILLARS])
    return cells[rng.integers(len(cells), size=n)]


def observe(robot, shelf):
    eye = np.eye(SIDE * SIDE, dtype="float32")
    return np.concatenate([eye[robot @ [SIDE, 1]], eye[shelf @ [SIDE, 1]]], axis=1)


def advance(robot, shelf, action):
    moved = np.clip(robot + MOVES[action], 0, SIDE - 1)
    hit = np.array([tuple(m) in PILLARS for m in moved])
    moved = np.where(hit[:, None], robot, moved)
    done = np.all(moved == shelf, axis=1)
    reward = np.where(done, 1.0, -0.05)
    return moved, reward.astype("float32"), done


def build():
    return keras.Sequential(
        [
            keras.layers.Input((2 * SIDE * SIDE,)),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(4),
        ]
    )


online, target = build(), build()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber(delta=1.0)
watch = gradwatch.watch(online, optimizer)


@tf.function
def q_values(obs):
    return online(obs)


@tf.function
def train_step(obs, action, reward, after, done):
    best = tf.argmax(online(after), axis=1)
    future = tf.gather(target(after), best, batch_dims=1)
    goal = reward + GAMMA * (1.0 - done) * future
    with tf.GradientTape() as tape:
        q = tf.gather(online(obs, training=True), action, batch_dims=1)
        loss = huber(goal, q)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


width = 2 * SIDE * SIDE
store = [
    np.zeros((CAPACITY, width), "float32"),
    np.zeros(CAPACITY, "int32"),
    np.zeros(CAPACITY, "float32"),
    np.zeros((CAPACITY, width), "float32"),
    np.zeros(CAPACITY, "float32"),
]
filled = cursor = 0
robot, shelf = free_cells(N_ENVS), free_cells(N_ENVS)
for step in range(STEPS):
    epsilon = max(0.15, 1.0 - step / 500)
    obs = observe(robot, shelf)
    action = q_values(obs).numpy().argmax(axis=1)
    action = np.where(rng.random(N_ENVS) < epsilon, rng.integers(4, size=N_ENVS), action)
    robot, reward, done = advance(robot, shelf, action)
    at = (cursor + np.arange(N_ENVS)) % CAPACITY
    for array, value in zip(store, (obs, action, reward, observe(robot, shelf), done)):
        array[at] = value
    cursor, filled = (cursor + N_ENVS) % CAPACITY, min(filled + N_ENVS, CAPACITY)
    restart = done | (rng.random(N_ENVS) < 0.02)
    robot = np.where(restart[:, None], free_cells(N_ENVS), robot)
    shelf = np.where(restart[:, None], free_cells(N_ENVS), shelf)
    pick = rng.integers(filled, size=BATCH)
    loss = train_step(*[tf.constant(array[pick]) for array in store])
    watch.log(loss=loss)
    if (step + 1) % TARGET_EVERY == 0:
        target.set_weights(online.get_weights())

robot, shelf = free_cells(400), free_cells(400)
arrived = np.all(robot == shelf, axis=1)
for _ in range(12):
    robot, _, done = advance(robot, shelf, q_values(observe(robot, shelf)).numpy().argmax(axis=1))
    arrived |= done
print("score", round(float(arrived.mean()), 4))
