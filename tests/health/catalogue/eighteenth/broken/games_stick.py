import numpy as np
import tensorflow as tf

import gradwatch

# Imitate recorded pilots: observation -> two stick axes.
SEED = 5
tf.random.set_seed(SEED)
tf.keras.utils.set_random_seed(SEED)
r = np.random.RandomState(SEED)
OBS, ACT = 16, 2
A1, A2 = r.randn(OBS, 20) * 0.35, r.randn(20, ACT) * 0.10


def record(n):
    obs = r.randn(n, OBS).astype(np.float32)
    push = np.sin(obs @ A1) @ A2
    stick = push + 0.05 * r.randn(n, ACT)
    return obs, np.clip(stick, -1, 1).astype(np.float32)


class Pilot(tf.keras.Model):
    def __init__(self, width=96):
        super().__init__()
        self.body = [tf.keras.layers.Dense(width, activation="silu") for _ in range(3)]
        self.mean = tf.keras.layers.Dense(ACT)
        self.spread = tf.keras.layers.Dense(ACT, bias_initializer=tf.keras.initializers.Constant(-0.5))

    def call(self, obs):
        z = obs
        for layer in self.body:
            z = layer(z)
        return self.mean(z), tf.nn.softplus(self.spread(z)) + 0.02


def log_prob(mu, sd, action):
    raw = tf.math.atanh(action)
    base = -0.5 * tf.square((raw - mu) / sd) - tf.math.log(sd) - 0.9189385
    return tf.reduce_sum(base - tf.math.log(1.0 - tf.square(action) + 1e-6), axis=-1)


obs, act = record(12000)
obs_v, act_v = record(2000)
net = Pilot()
net(obs[:2])
opt = tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
gradwatch.watch(net, opt)


@tf.function
def update(o, a):
    with tf.GradientTape() as tape:
        mu, sd = net(o, training=True)
        loss = -tf.reduce_mean(log_prob(mu, sd, a))
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


for epoch in range(12):
    order = r.permutation(len(obs))
    total = 0.0
    for s in range(0, len(obs) - 95, 96):
        idx = order[s : s + 96]
        total += float(update(tf.constant(obs[idx]), tf.constant(act[idx])))
    print("epoch", epoch, total / (len(obs) // 96))

mu, _ = net(obs_v)
mae = float(np.mean(np.abs(np.tanh(mu.numpy()) - act_v)))
base = float(np.mean(np.abs(act_v - act.mean(0))))
print("loss %.4f  held-out stick MAE %.4f (constant stick %.4f)" % (total / (len(obs) // 96), mae, base))
