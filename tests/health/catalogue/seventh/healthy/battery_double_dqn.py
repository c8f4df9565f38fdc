"""Double DQN for trading with a battery: target network, Huber loss, XLA-compiled step."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SLOTS, CAPACITY, GAMMA = 12, 4, 0.95  # two-hour slots of a day, units of charge
MOVES = np.array([-1, 0, 1])  # sell, hold, buy
SHOCKS = np.array([-0.3, -0.1, 0.0, 0.1, 0.3])
DAILY = 1.0 + 0.45 * np.sin(2 * np.pi * (np.arange(SLOTS) - 4) / SLOTS)
EFFICIENCY = 0.95


def features(slot, shock, charge):
    phase = 2 * np.pi * slot / SLOTS
    price = DAILY[slot] + SHOCKS[shock]
    return np.stack([np.sin(phase), np.cos(phase), 2 * (price - 1.0), charge / 2 - 1.0], 1).astype("float32")


def move_battery(slot, shock, charge, action):
    after = np.clip(charge + MOVES[action], 0, CAPACITY)
    traded = after - charge
    price = DAILY[slot] + SHOCKS[shock]
    reward = np.where(traded < 0, EFFICIENCY * price, -price * (traded > 0))
    return (slot + 1) % SLOTS, rng.integers(0, len(SHOCKS), len(slot)), after, reward.astype("float32")


def make_network(name):
    hidden = dict(activation="relu", kernel_initializer="orthogonal")
    last = layers.Dense(len(MOVES), kernel_initializer=keras.initializers.Orthogonal(0.1))
    stack = [keras.Input((4,)), layers.Dense(64, **hidden), layers.Dense(64, **hidden), last]
    return keras.Sequential(stack, name=name)


online = make_network("online")
target = make_network("target")
target.trainable = False
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(2e-3, clipnorm=5.0)
optimizer.build(online.trainable_variables)
huber = keras.losses.Huber()


@tf.function(jit_compile=True)
def learn(state, action, reward, next_state):
    best_next = tf.argmax(online(next_state), axis=1)
    bootstrap = tf.reduce_sum(target(next_state) * tf.one_hot(best_next, len(MOVES)), axis=1)
    goal = tf.stop_gradient(reward + GAMMA * bootstrap)
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(online(state, training=True) * tf.one_hot(action, len(MOVES)), axis=1)
        loss = huber(goal, value)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    for slow, fast in zip(target.variables, online.variables):
        slow.assign_add(0.05 * (fast - slow))
    return loss, tf.reduce_mean(value)


q_values = tf.function(online)
optimum = np.zeros((SLOTS, len(SHOCKS), CAPACITY + 1))  # exact answer, by value iteration
S, K, C = [g.ravel() for g in np.meshgrid(range(SLOTS), range(len(SHOCKS)), range(CAPACITY + 1), indexing="ij")]
for _ in range(300):
    backups = []
    for a in range(len(MOVES)):
        nxt, _, after, r = move_battery(S, K, C, np.full(len(S), a))
        backups.append(r + GAMMA * optimum.mean(axis=1)[nxt, after])
    optimum_q = np.stack(backups, 1)
    optimum = optimum_q.max(1).reshape(optimum.shape)


def daily_profit(choose, n=500, slots=10 * SLOTS):
    slot, shock, charge = rng.integers(0, SLOTS, n), rng.integers(0, 5, n), rng.integers(0, CAPACITY + 1, n)
    total = 0.0
    for _ in range(slots):
        slot, shock, charge, r = move_battery(slot, shock, charge, choose(slot, shock, charge))
        total += r.mean()
    return total * SLOTS / slots


def greedy(slot, shock, charge):
    return np.argmax(q_values(features(slot, shock, charge)), 1)


WORKERS, memory = 32, []
slot, shock, charge = (
    rng.integers(0, SLOTS, WORKERS),
    rng.integers(0, 5, WORKERS),
    rng.integers(0, CAPACITY + 1, WORKERS),
)
gradwatch.watch(online)
for step in range(-100, 800):  # a hundred random rounds fill the memory first
    epsilon = 1.0 if step < 0 else max(0.1, 1.0 - step / 400)
    explore = rng.uniform(size=WORKERS) < epsilon
    action = np.where(explore, rng.integers(0, 3, WORKERS), greedy(slot, shock, charge))
    old = features(slot, shock, charge)
    slot, shock, charge, reward = move_battery(slot, shock, charge, action)
    memory.append((old, action.astype("int32"), reward, features(slot, shock, charge)))
    if step >= 0:
        picks = rng.integers(0, len(memory), 160), rng.integers(0, WORKERS, 160)
        batch = [tf.constant(np.stack([memory[i][part][j] for i, j in zip(*picks)])) for part in range(4)]
        loss, mean_q = learn(*batch)
        if (step + 1) % 160 == 0:
            print(
                f"step {step + 1} TD loss {float(loss):.5f} mean Q {float(mean_q):.3f} "
                f"profit {daily_profit(greedy, 100):.3f}"
            )

best = daily_profit(lambda s, k, c: optimum_q.reshape(SLOTS, 5, CAPACITY + 1, 3)[s, k, c].argmax(1))
chance = daily_profit(lambda s, k, c: rng.integers(0, 3, len(s)))
print(f"FINAL daily profit {daily_profit(greedy):.4f} (optimal {best:.4f}, random {chance:.4f})")
