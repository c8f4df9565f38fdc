"""Learns to drive an ore cart through a mine to the hoist from logged random drives."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MAP = [".....#", ".##...", "...o#.", ".#....", ".#.##.", "....oG"]
ROWS, COLS = len(MAP), len(MAP[0])
MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]
FREE = [(r, c) for r in range(ROWS) for c in range(COLS) if MAP[r][c] == "."]
GAMMA = 0.9
SYNC = 10


def drive(cell, action, dice):
    """One move; wet rails sometimes send the cart sideways, shafts ('o') end the trip."""
    if dice.random() < 0.01:
        action = (action + dice.choice([1, 3])) % 4
    r, c = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    if not (0 <= r < ROWS and 0 <= c < COLS) or MAP[r][c] == "#":
        return cell, -0.03, False
    if MAP[r][c] == "o":
        return (r, c), -0.5, True
    if MAP[r][c] == "G":
        return (r, c), 1.0, True
    return (r, c), -0.01, False


def observe(cell):
    view = np.zeros(ROWS * COLS, "float32")
    view[cell[0] * COLS + cell[1]] = 1.0
    return view


def log_drives(count):
    rows = []
    while len(rows) < count:
        cell = FREE[rng.integers(len(FREE))]
        for _ in range(20):
            action = int(rng.integers(4))
            after, reward, over = drive(cell, action, rng)
            rows.append((observe(cell), action, reward, observe(after), float(over)))
            if over:
                break
            cell = after
    s, a, r, s2, d = zip(*rows)
    return (np.stack(s), np.array(a, "int32"), np.array(r, "float32"), np.stack(s2), np.array(d, "float32"))


def q_network():
    return keras.Sequential(
        [
            keras.Input((ROWS * COLS,)),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dense(4),
        ]
    )


class Agent:
    def __init__(self):
        self.online = q_network()
        self.target = q_network()
        self.target.set_weights(self.online.get_weights())
        self.optimizer = keras.optimizers.Adam(2e-3)
        self.updates = 0

    @tf.function
    def learn(self, s, a, r, s2, done):
        best = tf.argmax(self.online(s2), axis=1)
        after = tf.gather(self.target(s2), best, batch_dims=1)
        goal = r + GAMMA * (1.0 - done) * after
        with tf.GradientTape() as tape:
            chosen = tf.gather(self.online(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - chosen))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.online.trainable_variables))
        self.updates += 1
        if self.updates % SYNC == 0:
            for old, new in zip(self.target.variables, self.online.variables):
                old.assign(new)
        return loss


agent = Agent()
watch = gradwatch.watch(agent.online)
drives = log_drives(10000)
for step in range(600):
    rows = rng.integers(0, len(drives[1]), 256)
    loss = agent.learn(*[tf.constant(column[rows]) for column in drives])
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} td {float(loss):.5f}")

policy = {cell: int(np.argmax(q)) for cell, q in zip(FREE, agent.online(np.stack([observe(c) for c in FREE])).numpy())}
dice = np.random.default_rng(1000 + SEED)
arrived = []
for trip in range(400):
    cell, over, reward = FREE[dice.integers(len(FREE))], False, 0.0
    for _ in range(40):
        action = policy[cell] if dice.random() > 0.05 else int(dice.integers(4))
        cell, reward, over = drive(cell, action, dice)
        if over:
            break
    arrived.append(over and reward > 0)
print("score", round(float(np.mean(arrived)), 4))
