import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FERRIES = 32
HORIZON = 30
DT = 0.2
DISCOUNT = 0.95
UPDATES = 250
THRUST = np.array([-1.0, 0.0, 1.0])


class Harbour:
    def reset(self, n):
        self.offset = rng.uniform(-1.5, 1.5, n)
        self.speed = rng.uniform(-0.3, 0.3, n)
        return self.view()

    def view(self):
        return np.stack([self.offset, self.speed], axis=1).astype("float32")

    def step(self, action):
        self.speed = 0.97 * self.speed + DT * THRUST[action] + 0.02 * rng.normal(size=len(action))
        self.offset = np.clip(self.offset + DT * self.speed, -4.0, 4.0)
        return self.view(), -np.abs(self.offset) - 0.1 * np.abs(self.speed)


inputs = keras.Input((2,))
h = keras.layers.Dense(32, activation="tanh", name="bridge_a")(inputs)
h = keras.layers.Dense(32, activation="tanh", name="bridge_b")(h)
policy = keras.Model(inputs, keras.layers.Dense(3, name="thrust_logits")(h))
optimizer = keras.optimizers.Adam(5e-3)
watch = gradwatch.watch(policy)


@tf.function
def sample(states):
    return tf.random.categorical(policy(states), 1)[:, 0]


@tf.function
def update(states, actions, advantages):
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(policy(states, training=True))
        taken = tf.reduce_sum(log_probs * tf.one_hot(actions, 3), axis=1)
        loss = -tf.reduce_mean(taken * advantages)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


def returns_to_go(rewards):
    returns = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        running = rewards[t] + DISCOUNT * running
        returns[t] = running
    return returns


harbour = Harbour()
for iteration in range(UPDATES):
    state = harbour.reset(FERRIES)
    states, actions, rewards = [], [], []
    for _ in range(HORIZON):
        action = sample(tf.constant(state)).numpy()
        states.append(state)
        actions.append(action)
        state, reward = harbour.step(action)
        rewards.append(reward)
    rewards = np.stack(rewards)
    returns = returns_to_go(rewards)
    centred = returns - returns.mean(axis=1, keepdims=True)
    advantages = (centred / (centred.std() + 1e-6)).reshape(-1)
    loss = update(
        tf.constant(np.concatenate(states)),
        tf.constant(np.concatenate(actions)),
        tf.constant(advantages.astype("float32")),
    )
    watch.log(loss=loss)
    if iteration % 50 == 0:
        print(iteration, "return", float(rewards.sum(axis=0).mean()))

state = harbour.reset(200)
total = np.zeros(200)
for _ in range(HORIZON):
    state, reward = harbour.step(sample(tf.constant(state)).numpy())
    total += reward
print("SCORE", float(total.mean()))
