"""REINFORCE for restocking a small shop: plain eager loop, noisy returns, entropy bonus."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ORDERS = np.array([0, 2, 4, 6, 8, 10])
DAYS, SHOPS, UPDATES = 14, 64, 240
PRICE, COST, HOLDING, SHORTAGE = 4.0, 2.0, 0.4, 1.0
DISCOUNT, ENTROPY_BONUS = 0.8, 0.01


def state_of(stock, day):
    week = 2 * np.pi * (day % 7) / 7
    weekend = float(day % 7 >= 5)
    n = len(stock)
    columns = [(stock - 5.0) / 5.0, np.full(n, np.sin(week)), np.full(n, np.cos(week)), np.full(n, weekend)]
    return np.stack(columns, 1).astype("float32")


def trade(stock, order, day):
    """One day: goods arrive, customers come; reward is the change in cash plus stock value."""
    demand = rng.poisson(7.0 if day % 7 >= 5 else 4.0, len(stock))
    available = stock + order
    sold = np.minimum(available, demand)
    left = available - sold
    reward = (PRICE - COST) * sold - HOLDING * left - SHORTAGE * (demand - sold)
    return left, reward


def roll_out(choose, n):
    stock = rng.integers(0, 11, n)
    states, actions, rewards = [], [], []
    for day in range(DAYS):
        state = state_of(stock, day)
        action = choose(state, stock, day)
        stock, reward = trade(stock, ORDERS[action], day)
        states.append(state)
        actions.append(action)
        rewards.append(reward)
    return np.stack(states), np.stack(actions), np.stack(rewards)


policy = keras.Sequential(
    [keras.Input((4,)), layers.Dense(32, activation="tanh"), layers.Dense(len(ORDERS))], name="policy"
)
optimizer = keras.optimizers.RMSprop(5e-3)


def sampled(state, stock, day):
    logits = policy(state).numpy()
    return np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


def greedy(state, stock, day):
    return np.argmax(policy(state).numpy(), axis=1)


def up_to(weekday_level, weekend_level):
    def choose(state, stock, day):
        wanted = (weekend_level if day % 7 >= 5 else weekday_level) - stock
        return np.clip((wanted + 1) // 2, 0, len(ORDERS) - 1)

    return choose


history = []
gradwatch.watch(policy)
for update in range(1, UPDATES + 1):
    states, actions, rewards = roll_out(sampled, SHOPS)
    togo = np.zeros_like(rewards)
    running = np.zeros(SHOPS)
    for day in reversed(range(DAYS)):
        running = rewards[day] + DISCOUNT * running
        togo[day] = running
    advantage = togo - togo.mean(axis=1, keepdims=True)
    advantage = (advantage / (advantage.std() + 1e-6)).astype("float32").reshape(-1)
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(policy(states.reshape(-1, 4), training=True))
        taken = tf.gather(log_probs, actions.reshape(-1), batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1))
        loss = -tf.reduce_mean(taken * advantage) - ENTROPY_BONUS * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    history.append(rewards.sum(0).mean())
    if update % 40 == 0:
        print(
            f"update {update} loss {float(loss):+.4f} entropy {float(entropy):.3f} profit {np.mean(history[-40:]):.2f}"
        )

profit = roll_out(greedy, 3000)[2].sum(0).mean()
chance = roll_out(lambda s, stock, day: rng.integers(0, len(ORDERS), len(stock)), 3000)[2].sum(0).mean()
best = max(roll_out(up_to(a, b), 1500)[2].sum(0).mean() for a in range(3, 10) for b in range(5, 14))
print(f"FINAL greedy profit {profit:.2f} per fortnight (random orders {chance:.2f}, best order-up-to rule {best:.2f})")
