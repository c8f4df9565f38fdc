import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ENVS, HORIZON, UPDATES, GAMMA, LAM = 24, 8, 260, 0.95, 0.9
ORDER = np.array([0, 3, 6, 9, 12])


class Warehouse:
    """One product, weekly demand pattern, one day of delivery delay."""

    cap = 30

    def __init__(self, n):
        self.stock = rng.integers(0, 20, n).astype(float)
        self.day = rng.integers(0, 7, n)
        self.coming = np.zeros(n)

    def observe(self):
        ang = 2 * np.pi * self.day / 7
        return np.stack([self.stock / 15 - 1, self.coming / 6 - 1, np.sin(ang), np.cos(ang)], 1).astype("float32")

    def act(self, qty):
        self.stock = np.minimum(self.stock + self.coming, self.cap)
        self.coming = qty.astype(float)
        demand = rng.poisson(5 + 3 * np.sin(2 * np.pi * self.day / 7))
        sold = np.minimum(self.stock, demand)
        lost = demand - sold
        self.stock = self.stock - sold
        self.day = (self.day + 1) % 7
        return (2.0 * sold - 1.0 * lost - 0.15 * self.stock - 0.8 * qty - 0.5 * (qty > 0)) / 5.0


def mlp(out, scale):
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(64, activation="tanh", kernel_initializer=keras.initializers.Orthogonal(1.4)),
            keras.layers.Dense(out, kernel_initializer=keras.initializers.Orthogonal(scale)),
        ]
    )


actor, critic = mlp(len(ORDER), 0.01), mlp(1, 1.0)
pi_opt = keras.optimizers.Adam(3e-3)
v_opt = keras.optimizers.Adam(6e-3)
env = Warehouse(ENVS)
policy = tf.function(lambda o: actor(o))
value = tf.function(lambda o: critic(o))
history = []

gradwatch.watch(actor, critic)
for update in range(UPDATES):
    obs, acts, rews = [], [], []
    for _ in range(HORIZON):
        o = env.observe()
        logits = policy(o).numpy()
        a = np.argmax(logits + rng.gumbel(size=logits.shape), 1)
        obs.append(o), acts.append(a), rews.append(env.act(ORDER[a]))
    obs.append(env.observe())
    values = value(np.concatenate(obs)).numpy().reshape(HORIZON + 1, ENVS)
    adv, run = np.zeros((HORIZON, ENVS)), 0.0
    for t in reversed(range(HORIZON)):
        delta = rews[t] + GAMMA * values[t + 1] - values[t]
        run = delta + GAMMA * LAM * run
        adv[t] = run
    target = (adv + values[:-1]).reshape(-1, 1).astype("float32")
    adv = ((adv - adv.mean()) / (adv.std() + 1e-6)).reshape(-1).astype("float32")
    x, a = np.concatenate(obs[:-1]), np.concatenate(acts)

    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(actor(x, training=True))
        chosen = tf.gather(logp, a, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
        pi_loss = -tf.reduce_mean(chosen * adv) - 0.005 * entropy
    g = tape.gradient(pi_loss, actor.trainable_variables)
    g, _ = tf.clip_by_global_norm(g, 0.5)
    pi_opt.apply_gradients(zip(g, actor.trainable_variables))

    with tf.GradientTape() as tape:
        v_loss = tf.reduce_mean(tf.square(target - critic(x, training=True)))
    g = tape.gradient(v_loss, critic.trainable_variables)
    v_opt.apply_gradients(zip(g, critic.trainable_variables))

    history.append(np.mean(rews))
    if (update + 1) % 25 == 0:
        print(
            f"{update + 1:4d} reward {np.mean(history[-25:]):6.3f} pi {float(pi_loss):7.4f} "
            f"v {float(v_loss):7.3f} H {float(entropy):.3f}"
        )
print("first 20:", np.mean(history[:20]).round(3), "last 50:", np.mean(history[-50:]).round(3))
