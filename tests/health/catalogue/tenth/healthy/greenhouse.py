"""Learn to run a greenhouse (heat, wait or vent each quarter of an hour) by policy gradient on a simulated
house."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

HOUSES, HOURS, ROUNDS, GAMMA = 32, 16, 160, 0.8


class Greenhouses:
    def reset(self):
        self.air = rng.normal(0, 2.0, HOUSES)
        self.soil = self.air + rng.normal(0, 0.5, HOUSES)
        self.sun = rng.uniform(-1, 1, HOUSES)
        return self.look()

    def look(self):
        return np.stack([self.air / 2, self.soil / 2, self.sun, self.air - self.soil], 1).astype("float32")

    def step(self, action):
        push = np.array([1.0, 0.0, -1.0])[action]
        self.sun = np.clip(self.sun + rng.normal(0, 0.15, HOUSES), -1, 1)
        self.air = self.air + push + 0.5 * self.sun + 0.1 * (self.soil - self.air) + rng.normal(0, 0.2, HOUSES)
        self.soil = self.soil + 0.05 * (self.air - self.soil)
        return self.look(), (-np.abs(self.air) - 0.05 * (push != 0)).astype("float32")


model = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(32, activation="tanh", name="p1"),
        tf.keras.layers.Dense(32, activation="tanh", name="p2"),
        tf.keras.layers.Dense(3, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.01), name="choice"),
    ]
)
gradwatch.watch(model)
optimizer = tf.keras.optimizers.Adam(5e-3)
env = Greenhouses()


@tf.function
def act(obs):
    return tf.random.categorical(model(obs), 1, dtype=tf.int32)[:, 0]


for rnd in range(ROUNDS):
    obs, seen, taken, got = env.reset(), [], [], []
    for _ in range(HOURS):
        a = act(tf.constant(obs)).numpy()
        seen.append(obs)
        taken.append(a)
        obs, r = env.step(a)
        got.append(r)
    ret = np.zeros((HOURS, HOUSES), "float32")
    run = np.zeros(HOUSES, "float32")
    for t in reversed(range(HOURS)):
        run = got[t] + GAMMA * run
        ret[t] = run
    adv = ret - ret.mean(axis=1, keepdims=True)
    adv = adv / (adv.std() + 1e-6)
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(model(tf.constant(np.concatenate(seen)), training=True))
        chosen = tf.gather(logp, np.concatenate(taken), axis=1, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
        loss = -tf.reduce_mean(chosen * adv.reshape(-1)) - 0.005 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if rnd % 20 == 0 or rnd == ROUNDS - 1:
        print(f"round {rnd:3d} loss {float(loss):+.4f} reward per hour {np.mean(got):.3f}")
