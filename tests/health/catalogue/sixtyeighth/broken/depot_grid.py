import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE = 6
GOAL = (5, 5)
SHELVES = {(1, 1), (1, 2), (1, 3), (3, 2), (3, 3), (3, 4), (3, 5)}
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
FREE = np.array([(r, c) for r in range(SIZE) for c in range(SIZE) if (r, c) not in SHELVES and (r, c) != GOAL])

ROBOTS = 16
CAPACITY = 8000
BATCH = 64
DISCOUNT = 0.95
EPSILON = 0.3
UPDATES = 2500
COPY_EVERY = 10000


def encode(cells):
    flat = np.zeros((len(cells), SIZE * SIZE), dtype="float32")
    flat[np.arange(len(cells)), cells[:, 0] * SIZE + cells[:, 1]] = 1.0
    return flat


def advance(cells, actions):
    moved = np.clip(cells + MOVES[actions], 0, SIZE - 1)
    blocked = np.array([tuple(c) in SHELVES for c in moved])
    moved[blocked] = cells[blocked]
    done = (moved == GOAL).all(axis=1)
    return moved, done.astype("float32"), done


def q_network():
    inputs = keras.Input((SIZE * SIZE,))
    h = keras.layers.Dense(64, activation="relu", name="hidden_a")(inputs)
    h = keras.layers.Dense(64, activation="relu", name="hidden_b")(h)
    return keras.Model(inputs, keras.layers.Dense(4, name="action_values")(h))


online, target = q_network(), q_network()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
watch = gradwatch.watch(online)


@tf.function
def choose(states):
    return tf.argmax(online(states), axis=1)


@tf.function
def learn(states, actions, rewards, following, done):
    best_next = tf.reduce_max(target(following), axis=1)
    goals = rewards + DISCOUNT * (1.0 - done) * best_next
    with tf.GradientTape() as tape:
        values = tf.reduce_sum(online(states, training=True) * tf.one_hot(actions, 4), axis=1)
        loss = huber(goals, values)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


cells = FREE[rng.integers(0, len(FREE), ROBOTS)]
memory_s = np.zeros((CAPACITY, 2), dtype=int)
memory_n = np.zeros((CAPACITY, 2), dtype=int)
memory_a = np.zeros(CAPACITY, dtype=int)
memory_r = np.zeros(CAPACITY, dtype="float32")
memory_d = np.zeros(CAPACITY, dtype="float32")
filled = 0

for update in range(UPDATES):
    actions = choose(tf.constant(encode(cells))).numpy()
    explore = rng.random(ROBOTS) < EPSILON
    actions[explore] = rng.integers(0, 4, explore.sum())
    moved, rewards, done = advance(cells, actions)
    slots = (filled + np.arange(ROBOTS)) % CAPACITY
    memory_s[slots], memory_n[slots], memory_a[slots] = cells, moved, actions
    memory_r[slots], memory_d[slots] = rewards, done
    filled += ROBOTS
    lost = done | (rng.random(ROBOTS) < 0.03)
    moved[lost] = FREE[rng.integers(0, len(FREE), lost.sum())]
    cells = moved
    rows = rng.integers(0, min(filled, CAPACITY), BATCH)
    loss = learn(
        tf.constant(encode(memory_s[rows])),
        tf.constant(memory_a[rows]),
        tf.constant(memory_r[rows]),
        tf.constant(encode(memory_n[rows])),
        tf.constant(memory_d[rows]),
    )
    watch.log(loss=loss)
    if (update + 1) % COPY_EVERY == 0:
        target.set_weights(online.get_weights())
    if update % 500 == 0:
        print(update, "loss", float(loss))

cells = FREE.copy()
arrived = np.zeros(len(cells), dtype=bool)
for _ in range(20):
    moved, _, done = advance(cells, choose(tf.constant(encode(cells))).numpy())
    arrived |= done
    cells = np.where(arrived[:, None], cells, moved)
print("SCORE", float(arrived.mean()))
