"""Which berth should a waiting ship get? A policy learned by trial, with the ships' waiting time as cost."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BERTHS, SHIPS, PORTS, UPDATES = 4, 12, 24, 450
DEPTH = np.array([6.0, 9.0, 12.0, 15.0])
GAMMA = 0.9


class Harbour:
    """Many copies of a harbour; a ship comes every hour and must be sent to a berth."""

    def __init__(self, n):
        self.n = n
        self.busy = np.zeros((n, BERTHS))
        self.new_ship()

    def new_ship(self):
        self.draught = rng.uniform(3, 14, self.n)
        self.work = rng.gamma(4.0, 0.8, self.n)

    def view(self):
        fit = (DEPTH[None] - self.draught[:, None]) / 6
        return np.concatenate([self.busy / 4, np.clip(fit, -1, 1), self.work[:, None] / 3 - 1], 1).astype("float32")

    def send(self, berth):
        row = np.arange(self.n)
        grounded = DEPTH[berth] < self.draught
        wait = self.busy[row, berth]
        cost = wait + 8.0 * grounded
        self.busy[row, berth] += np.where(grounded, 0.5, self.work)
        self.busy = np.maximum(self.busy - 1.0, 0)
        self.new_ship()
        return -cost


policy = keras.Sequential(
    [keras.Input((2 * BERTHS + 1,)), layers.Dense(48, activation="tanh"), layers.Dense(BERTHS)],
    name="berth_policy",
)
optimizer = keras.optimizers.Adam(4e-3)
gradwatch.watch(policy)


@tf.function
def improve(seen, chosen, advantage):
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(seen, training=True))
        taken = tf.reduce_sum(logp * tf.one_hot(chosen, BERTHS), axis=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        loss = -tf.reduce_mean(taken * advantage) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


@tf.function
def logits_of(view):
    return policy(view)


def day(greedy=False, n=PORTS):
    port = Harbour(n)
    seen, chosen, rewards = [], [], []
    for _ in range(SHIPS):
        view = port.view()
        logits = logits_of(tf.constant(view)).numpy()
        noise = 0.0 if greedy else rng.gumbel(size=logits.shape)
        berth = (logits + noise).argmax(1)
        rewards.append(port.send(berth))
        seen.append(view)
        chosen.append(berth)
    return seen, chosen, np.array(rewards)


for u in range(UPDATES):
    seen, chosen, rewards = day()
    back = np.zeros_like(rewards)
    run = np.zeros(PORTS)
    for t in reversed(range(SHIPS)):
        run = rewards[t] + GAMMA * run
        back[t] = run
    adv = back - back.mean(1, keepdims=True)
    adv = (adv / (adv.std() + 1e-6)).astype("float32").ravel()
    loss = improve(
        tf.constant(np.concatenate(seen)), tf.constant(np.concatenate(chosen).astype("int32")), tf.constant(adv)
    )
    if u % 50 == 0:
        print(f"update {u} loss {float(loss):+.4f} cost per ship {-rewards.mean():.3f}")

_, _, rewards = day(greedy=True, n=400)
print("SCORE cost_per_ship", round(float(-rewards.mean()), 4))
