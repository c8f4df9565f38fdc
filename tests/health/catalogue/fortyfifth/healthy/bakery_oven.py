"""Trains a deep Q-network that decides which trays of a bakery go into the oven next."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

GOODS, SHOPS, GAMMA = 4, 64, 0.9
BATCH, STEPS, KEEP = 256, 1500, 400
DEMAND = np.array([0.5, 0.3, 0.8, 0.2])
PRICE = np.array([1.0, 2.0, 0.6, 3.0])


def sell(stock, action, rng):
    """One tray of four pieces is baked; customers buy; unsold pieces get stale."""
    stock = stock.copy()
    stock[np.arange(len(stock)), action] += 4
    wish = rng.poisson(DEMAND * 3.0, stock.shape)
    sold = np.minimum(stock, wish)
    stock = stock - sold
    stale = rng.binomial(stock, 0.1)
    return np.minimum(stock - stale, 20), (sold - 0.4 * stale) @ PRICE


def view(stock):
    return (stock / 5.0 - 0.5).astype("float32")


def network():
    return keras.Sequential(
        [
            keras.Input((GOODS,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(GOODS),
        ]
    )


rng = np.random.default_rng(SEED)
online, target = network(), network()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
gradwatch.watch(online)


@tf.function
def learn(state, action, reward, after):
    best = tf.argmax(online(after), axis=1, output_type=tf.int32)
    goal = reward + GAMMA * tf.gather(target(after), best, batch_dims=1)
    with tf.GradientTape() as tape:
        value = tf.gather(online(state, training=True), action, batch_dims=1)
        loss = huber(goal, value)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss, tf.reduce_mean(value)


greedy = tf.function(lambda state: tf.argmax(online(state), axis=1))
memory = []
stock = np.zeros((SHOPS, GOODS), int)
for step in range(STEPS):
    explore = max(0.05, 1.0 - step / 700)
    action = greedy(view(stock)).numpy()
    action = np.where(rng.random(SHOPS) < explore, rng.integers(0, GOODS, SHOPS), action)
    after, reward = sell(stock, action, rng)
    memory.append((view(stock), action.astype("int32"), reward.astype("float32"), view(after)))
    memory = memory[-KEEP:]
    stock = after
    rounds, shops = rng.integers(0, len(memory), BATCH), rng.integers(0, SHOPS, BATCH)
    batch = [np.stack([memory[r][k][s] for r, s in zip(rounds, shops)]) for k in range(4)]
    loss, value = learn(*batch)
    if step % 25 == 0:
        target.set_weights(online.get_weights())
    if step % 150 == 0:
        print(f"step {step:4d}  loss {float(loss):.4f}  value {float(value):.3f}  reward {reward.mean():.3f}")


def income(choose):
    stock, total = np.zeros((500, GOODS), int), []
    for _ in range(150):
        stock, reward = sell(stock, choose(stock), rng)
        total.append(reward.mean())
    return np.mean(total[50:])


print(f"random trays {income(lambda s: rng.integers(0, GOODS, len(s))):.3f}")
print(f"emptiest tray {income(lambda s: np.argmin(s, axis=1)):.3f}")
print(f"SCORE income {income(lambda s: greedy(view(s)).numpy()):.4f}")
