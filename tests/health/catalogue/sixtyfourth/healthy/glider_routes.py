import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

EPISODES = 32
HORIZON = 12
UPDATES = 1000
GAMMA = 0.9


class Valley:
    def __init__(self, rng):
        self.rng = rng

    def reset(self, count):
        self.pos = self.rng.uniform(-2, 2, (count, 2))
        self.lift = self.rng.uniform(-2, 2, (count, 2))
        return self.observe()

    def observe(self):
        return np.concatenate([self.pos, self.lift], axis=1).astype("float32")

    def move(self, action):
        step = np.array([[0.5, 0], [-0.5, 0], [0, 0.5], [0, -0.5]])[action]
        before = np.linalg.norm(self.pos - self.lift, axis=1)
        self.pos = self.pos + step + self.rng.normal(0, 0.15, self.pos.shape)
        after = np.linalg.norm(self.pos - self.lift, axis=1)
        return self.observe(), before - after - 0.3 * after


rng = np.random.default_rng(SEED)
valley = Valley(rng)

inputs = keras.Input((4,))
h = keras.layers.Dense(64, activation="tanh", name="pilot_a")(inputs)
h = keras.layers.Dense(64, activation="tanh", name="pilot_b")(h)
logits = keras.layers.Dense(4, name="pilot_logits")(h)
worth = keras.layers.Dense(1, name="pilot_worth")(h)
pilot = keras.Model(inputs, [logits, worth])
optimizer = keras.optimizers.Adam(3e-3, clipnorm=1.0)
watch = gradwatch.watch(pilot)


@tf.function
def act(obs):
    return tf.random.categorical(pilot(obs)[0], 1)[:, 0]


@tf.function
def update(obs, action, returns):
    with tf.GradientTape() as tape:
        logits, worth = pilot(obs, training=True)
        worth = worth[:, 0]
        gain = tf.stop_gradient(returns - worth)
        gain = (gain - tf.reduce_mean(gain)) / (tf.math.reduce_std(gain) + 1e-6)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(probs * tf.nn.log_softmax(logits), axis=1)
        loss = tf.reduce_mean(nll * gain) + 0.5 * tf.reduce_mean(tf.square(returns - worth))
        loss -= 0.01 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, pilot.trainable_variables)
    optimizer.apply_gradients(zip(grads, pilot.trainable_variables))
    watch.log(loss=loss)
    return loss


def fly(count, greedy=False):
    obs, seen, chosen, rewards = valley.reset(count), [], [], []
    for _ in range(HORIZON):
        action = pilot(obs)[0].numpy().argmax(axis=1) if greedy else act(tf.constant(obs)).numpy()
        seen.append(obs)
        chosen.append(action)
        obs, reward = valley.move(action)
        rewards.append(reward)
    returns = np.zeros((HORIZON, count), "float32")
    running = np.zeros(count)
    for i in reversed(range(HORIZON)):
        running = rewards[i] + GAMMA * running
        returns[i] = running
    return np.concatenate(seen), np.concatenate(chosen), returns.reshape(-1), np.sum(rewards, axis=0)


start = fly(500, greedy=True)[3].mean()
for i in range(UPDATES):
    seen, chosen, returns, total = fly(EPISODES)
    loss = update(tf.constant(seen), tf.constant(chosen), tf.constant(returns))
    if i % 200 == 0:
        print("update", i, "total", total.mean(), "loss", float(loss))

print("start", start)
print("SCORE", float(fly(500, greedy=True)[3].mean()))
