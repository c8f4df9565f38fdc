"""Trains a policy by policy gradient that sets the hourly price of a street's parking meters."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 71)

HOURS, STREETS = 8, 64
PRICES = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0])


def observe(occupancy, demand, hour):
    h = np.full(len(demand), hour / HOURS)
    return np.stack([2 * occupancy - 1, demand, np.sin(6.28 * h), np.cos(6.28 * h)], 1).astype("float32")


def advance(occupancy, demand, hour, price):
    """Reward is one at 85 percent occupancy and falls off on both sides."""
    pull = 0.75 + 0.35 * demand + 0.2 * np.sin(3.14 * hour / HOURS)
    arrive = np.clip(pull * np.exp(-0.35 * (price - 1.0)), 0, 1.4)
    occupancy = np.clip(0.4 * occupancy + 0.6 * arrive + 0.03 * rng.normal(size=len(price)), 0, 1)
    demand = 0.9 * demand + 0.3 * rng.normal(size=len(price))
    return occupancy, demand, np.exp(-(((occupancy - 0.85) / 0.12) ** 2))


def body(outputs, name):
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(64, activation="tanh"),
            keras.layers.Dense(64, activation="tanh"),
            keras.layers.Dense(outputs, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
        ],
        name=name,
    )


policy, critic = body(len(PRICES), "policy"), body(1, "critic")
policy_opt, critic_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(3e-3)
gradwatch.watch(policy, critic)


@tf.function
def act(obs):
    return policy(obs), critic(obs)[:, 0]


@tf.function
def update(obs, action, target, advantage):
    with tf.GradientTape(persistent=True) as tape:
        log_p = tf.nn.log_softmax(policy(obs, training=True))
        chosen = tf.gather(log_p, action, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=1))
        policy_loss = -tf.reduce_mean(chosen * advantage) - 0.005 * entropy
        critic_loss = tf.reduce_mean(tf.square(critic(obs, training=True)[:, 0] - target))
    for opt, net, loss in ((policy_opt, policy, policy_loss), (critic_opt, critic, critic_loss)):
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return policy_loss, critic_loss


def play_day(greedy=False):
    occupancy, demand = rng.uniform(0.2, 0.9, size=STREETS), rng.normal(scale=0.7, size=STREETS)
    obs, actions, rewards, values = [], [], [], []
    for hour in range(HOURS):
        o = observe(occupancy, demand, hour)
        logits, value = (t.numpy() for t in act(o))
        noise = 0 if greedy else rng.gumbel(size=logits.shape)
        action = np.argmax(logits + noise, axis=1)
        occupancy, demand, reward = advance(occupancy, demand, hour, PRICES[action])
        for store, item in zip((obs, actions, rewards, values), (o, action, reward, value)):
            store.append(item)
    return obs, actions, np.array(rewards), np.array(values)


print("untrained reward", round(float(np.mean([play_day()[2].mean() for _ in range(5)])), 4))
for day in range(1, 601):
    obs, actions, rewards, values = play_day()
    returns = np.cumsum(rewards[::-1] * 0.5 ** np.arange(HOURS)[::-1, None], axis=0)[::-1]
    returns = returns / 0.5 ** np.arange(HOURS)[:, None]
    advantage = (returns - values).ravel()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    losses = update(
        np.concatenate(obs),
        np.concatenate(actions).astype("int32"),
        returns.ravel().astype("float32"),
        advantage.astype("float32"),
    )
    if day % 60 == 0:
        print(f"day {day} policy {float(losses[0]):+.4f} critic {float(losses[1]):.4f} reward {rewards.mean():.3f}")
print("SCORE greedy_reward", round(float(np.mean([play_day(True)[2].mean() for _ in range(10)])), 4))
