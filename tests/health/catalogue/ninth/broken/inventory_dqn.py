"""Re-ordering policy of a small shop, learned with deep Q-learning from logged days.

State: stock of four articles, weekday and recent sales; action: which article to re-order
(or none). Reward: the day's margin in euros less storage and delivery cost.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ARTICLES, ACTIONS = 4, 5
MARGIN = np.array([6.0, 4.0, 9.0, 3.0])
GAMMA = 0.8
BATCH, STEPS = 128, 400


def log_days(days=6000):
    stock = np.full(ARTICLES, 15.0)
    recent = np.full(ARTICLES, 4.0)
    rows = []
    for day in range(days):
        week = day % 7
        state = np.concatenate([stock / 10 - 1, recent / 4 - 1, np.eye(7)[week]])
        a = rng.integers(ACTIONS)
        if a < ARTICLES:
            stock[a] += 15
        want = rng.poisson(np.array([5, 6, 3, 7]) * (1.6 if week >= 5 else 0.8))
        sold = np.minimum(stock, want)
        stock = np.minimum(stock - sold, 40.0)
        recent = 0.7 * recent + 0.3 * sold
        reward = (sold * MARGIN).sum() - 0.25 * stock.sum() - (12.0 if a < ARTICLES else 0.0)
        nxt = np.concatenate([stock / 10 - 1, recent / 4 - 1, np.eye(7)[(day + 1) % 7]])
        rows.append((state, a, reward, nxt))
    s, a, r, n = zip(*rows)
    return np.array(s, "float32"), np.array(a, "int32"), np.array(r, "float32"), np.array(n, "float32")


def q_network():
    return keras.Sequential(
        [
            keras.Input((ARTICLES * 2 + 7,)),
            keras.layers.Dense(256, activation="relu", name="q1"),
            keras.layers.Dense(256, activation="relu", name="q2"),
            keras.layers.Dense(ACTIONS, name="q_values"),
        ]
    )


states, actions, rewards, next_states = log_days()
model = q_network()
gradwatch.watch(model)
target = q_network()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)


def td_loss(q, goal):
    error = tf.clip_by_value(goal - q, -1.0, 1.0)
    return tf.reduce_mean(tf.square(error))


@tf.function
def learn(s, a, r, n):
    goal = r + GAMMA * tf.reduce_max(target(n), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(model(s, training=True), a, batch_dims=1)
        loss = td_loss(q, tf.stop_gradient(goal))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss, tf.reduce_mean(q), tf.reduce_mean(tf.abs(goal - q))


for step in range(STEPS):
    i = rng.integers(0, len(states), BATCH)
    loss, q, gap = learn(*(tf.constant(v[i]) for v in (states, actions, rewards, next_states)))
    if step % 20 == 19:
        target.set_weights(model.get_weights())
    if step % 40 == 0:
        print(f"{step:4d}  loss {loss.numpy():.3f}  mean Q {q.numpy():8.2f}  mean |td| {gap.numpy():7.2f}")
