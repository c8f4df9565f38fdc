"""Actor-critic control of a simulated greenhouse: the state is temperature error, humidity
error and outside drift, and the four actions are heat, cool, mist and idle. The agent is
rewarded for staying in the comfort band. The measure is the share of time spent in the band
with the learnt policy, against a random policy."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ENVS, HORIZON, UPDATES, ACTIONS, GAMMA = 32, 12, 300, 4, 0.9
EFFECT = np.array([[0.5, -0.1], [-0.5, 0.05], [-0.05, 0.5], [0.0, 0.0]])


class Greenhouse:
    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.err = rng.uniform(-1.5, 1.5, (self.n, 2))
        self.drift = rng.uniform(-0.2, 0.2, (self.n, 1))
        return self.observe()

    def observe(self):
        return np.concatenate([self.err, self.drift], 1).astype("float32")

    def step(self, action):
        self.err = self.err + EFFECT[action] + 0.05 * rng.normal(size=(self.n, 2))
        self.err[:, :1] += self.drift
        self.err[:, 1] -= 0.12
        self.err = np.clip(self.err, -2, 2)
        reward = -np.abs(self.err).sum(1)
        inside = (np.abs(self.err) < 0.5).all(1)
        return self.observe(), reward.astype("float32"), inside


inputs = keras.Input((3,), name="climate")
h = layers.Dense(48, activation="tanh", name="trunk_1")(inputs)
h = layers.Dense(48, activation="tanh", name="trunk_2")(h)
model = keras.Model(inputs, [layers.Dense(ACTIONS, name="actor")(h), layers.Dense(1, name="critic")(h)])
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(model, optimizer)


@tf.function(reduce_retracing=True)
def act(obs):
    logits, _ = model(obs)
    return tf.random.categorical(logits, 1)


@tf.function
def train_step(obs, actions, returns):
    with tf.GradientTape() as tape:
        logits, value = model(obs, training=True)
        value = tf.squeeze(value, axis=1)
        advantage = tf.stop_gradient(returns - value)
        advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-6)
        log_probs = tf.nn.log_softmax(logits)
        chosen = tf.gather(log_probs, actions, batch_dims=1)
        actor_loss = -tf.reduce_mean(chosen * advantage)
        critic_loss = tf.reduce_mean(tf.square(returns - value))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1))
        loss = actor_loss + 0.1 * critic_loss - 0.005 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def rollout(env, horizon, policy):
    obs, memory = env.reset(), []
    for _ in range(horizon):
        action = policy(obs)
        nxt, reward, inside = env.step(action[:, 0])
        memory.append((obs, action, reward, inside))
        obs = nxt
    return [np.stack(v) for v in zip(*memory)]


env = Greenhouse(ENVS)
for update in range(UPDATES):
    obs, actions, rewards, _ = rollout(env, HORIZON, lambda o: act(o).numpy())
    returns = np.zeros_like(rewards)
    running = np.zeros(ENVS, "float32")
    for t in reversed(range(HORIZON)):
        running = rewards[t] + GAMMA * running
        returns[t] = running
    loss = train_step(obs.reshape(-1, 3), actions.reshape(-1, 1), returns.reshape(-1))
    watch.log(loss=loss)
    if update % 50 == 0:
        print(f"update {update} reward {rewards.mean():.3f} loss {float(loss):.4f}")

test_env = Greenhouse(300)
score = float(rollout(test_env, 25, lambda o: act(o).numpy())[3].mean())
chance = float(rollout(test_env, 25, lambda o: rng.integers(0, ACTIONS, (300, 1)))[3].mean())
print(f"score in_band {score:.3f} chance {chance:.3f}")
