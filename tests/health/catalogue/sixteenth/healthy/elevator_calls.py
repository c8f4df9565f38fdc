"""Where an idle lift should wait: a policy learnt by REINFORCE on short simulated spells."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FLOORS = 8
HORIZON = 6
LIFTS = 48  # buildings simulated side by side
UPDATES = 300
GAMMA = 0.6


class Building:
    """Calls come from the lobby in the morning, the canteen at noon, offices in the evening."""

    def __init__(self, count):
        self.count = count
        self.canteen = rng.integers(2, FLOORS, count)

    def reset(self):
        self.hour = rng.uniform(6, 20, self.count)
        self.floor = rng.integers(0, FLOORS, self.count)
        return self.observe()

    def observe(self):
        day = 2 * np.pi * self.hour / 24
        return np.concatenate(
            [
                np.eye(FLOORS)[self.floor],
                np.eye(FLOORS)[self.canteen],
                np.stack([np.sin(day), np.cos(day), np.sin(2 * day), (self.hour - 13) / 5], 1),
            ],
            axis=1,
        ).astype("float32")

    def step(self, parked):
        usual = np.where(self.hour < 10.5, 0, np.where(self.hour < 14.5, self.canteen, FLOORS - 2))
        stray = rng.random(self.count) < 0.3
        call = np.where(stray, rng.integers(0, FLOORS, self.count), usual)
        moved = np.abs(parked - self.floor)
        wait = np.abs(call - parked)
        reward = -wait - 0.15 * moved + rng.normal(0, 1.0, self.count)
        self.floor = np.where(rng.random(self.count) < 0.5, rng.integers(0, FLOORS, self.count), call)
        self.hour = np.clip(self.hour + rng.uniform(0, 0.8, self.count), 6, 21)
        return self.observe(), reward


inputs = keras.Input((2 * FLOORS + 4,))
hidden = layers.Dense(64, activation="tanh")(inputs)
hidden = layers.Dense(64, activation="tanh")(hidden)
logits = layers.Dense(FLOORS, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))(hidden)
policy = keras.Model(inputs, logits)
optimizer = keras.optimizers.RMSprop(2e-3)
watch = gradwatch.watch(policy)


@tf.function
def update(states, actions, advantages, entropy_weight):
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(policy(states, training=True))
        chosen = tf.gather(log_probs, actions, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1))
        loss = -tf.reduce_mean(chosen * advantages) - entropy_weight * entropy
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
    return loss


def act(states, greedy=False):
    values = policy(states).numpy()
    return (values if greedy else values + rng.gumbel(size=values.shape)).argmax(-1)


def spell(building, choose):
    states, actions, rewards = [building.reset()], [], []
    for _ in range(HORIZON):
        actions.append(choose(states[-1]))
        state, reward = building.step(actions[-1])
        states.append(state)
        rewards.append(reward)
    return np.array(states[:-1]), np.array(actions), np.array(rewards)


building = Building(LIFTS)
for number in range(UPDATES):
    states, actions, rewards = spell(building, act)
    returns = np.zeros_like(rewards)
    running = np.zeros(LIFTS)
    for t in reversed(range(HORIZON)):
        running = rewards[t] + GAMMA * running
        returns[t] = running
    advantages = returns - returns.mean(1, keepdims=True)
    advantages /= advantages.std() + 1e-6
    loss = update(
        tf.constant(states.reshape(-1, states.shape[-1])),
        tf.constant(actions.reshape(-1)),
        tf.constant(advantages.reshape(-1), tf.float32),
        tf.constant(0.02 * (1 - number / UPDATES), tf.float32),
    )
    watch.log(loss=loss)
    if (number + 1) % 50 == 0:
        print(f"update {number + 1}: loss {float(loss):.4f}, reward {rewards.mean():.3f}")

trial = Building(400)
learnt = spell(trial, lambda s: act(s, greedy=True))[2].mean()
guess = spell(trial, lambda s: rng.integers(0, FLOORS, len(s)))[2].mean()
print(f"mean reward {learnt:.3f}, parked at random {guess:.3f}")
print(f"score {1 - learnt / guess:.4f}")
