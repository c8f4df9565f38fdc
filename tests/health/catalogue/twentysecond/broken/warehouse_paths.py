"""DQN for a robot that has to reach a charging station in a small warehouse."""

import os
from collections import deque

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, GOAL, MAX_STEPS = 5, (4, 4), 25
SHELVES = {(1, 1), (1, 3), (3, 1), (3, 3), (2, 3)}
MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]


def observe(pos):
    grid = np.zeros((SIZE, SIZE), "float32")
    grid[pos] = 1.0
    return grid.ravel()


def env_step(pos, action):
    new = (pos[0] + MOVES[action][0], pos[1] + MOVES[action][1])
    if not (0 <= new[0] < SIZE and 0 <= new[1] < SIZE) or new in SHELVES:
        new = pos
    done = new == GOAL
    return new, (1.0 if done else 0.0), done


def start():
    while True:
        pos = tuple(int(v) for v in rng.integers(0, SIZE, 2))
        if pos not in SHELVES and pos != GOAL:
            return pos


model = keras.Sequential(
    [
        keras.Input((SIZE * SIZE,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(4),
    ]
)
target = keras.models.clone_model(model)
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(3e-3)
huber = keras.losses.Huber()
gradwatch.watch(model)

GAMMA, BATCH, TOTAL_UPDATES = 0.9, 64, 600
UPDATE_TARGET_EVERY = 10_000


@tf.function
def train_step(s, a, r, s2, done):
    best = tf.reduce_max(target(s2), axis=1)
    y = r + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s) * tf.one_hot(a, 4), axis=1)
        loss = huber(y, q)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def act(s):
    return tf.argmax(model(s), axis=1)


memory = deque(maxlen=5000)
steps, updates, episode = 0, 0, 0
while updates < TOTAL_UPDATES:
    eps = max(0.3, 1.0 - episode / 40)
    pos = start()
    for _ in range(MAX_STEPS):
        a = int(rng.integers(4)) if rng.random() < eps else int(act(observe(pos)[None])[0])
        new, r, done = env_step(pos, a)
        memory.append((observe(pos), a, r, observe(new), float(done)))
        pos = new
        steps += 1
        if len(memory) >= 400 and steps % 2 == 0:
            idx = rng.integers(0, len(memory), BATCH)
            s, acts, rew, s2, d = (np.array(c) for c in zip(*[memory[i] for i in idx]))
            loss = train_step(s, acts.astype("int32"), rew.astype("float32"), s2, d.astype("float32"))
            updates += 1
            if updates % UPDATE_TARGET_EVERY == 0:
                target.set_weights(model.get_weights())
        if done:
            break
    episode += 1
    if episode % 10 == 0 and updates:
        print(f"episode {episode}: loss {float(loss):.5f} updates {updates}")

wins = 0
cells = [(i, j) for i in range(SIZE) for j in range(SIZE) if (i, j) not in SHELVES and (i, j) != GOAL]
for pos in cells:
    for _ in range(MAX_STEPS):
        pos, _, done = env_step(pos, int(act(observe(pos)[None])[0]))
        if done:
            wins += 1
            break
print(f"SCORE greedy success {wins / len(cells):.3f} ({updates} updates)")
