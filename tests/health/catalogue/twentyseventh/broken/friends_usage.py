"""Weekly hours of each member of a social app, from profiles and friends (graph convolution)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
NODES, GROUPS, TRAITS = 900, 8, 24

# few members with hundreds of friends, many with a handful
group = rng.integers(0, GROUPS, NODES)
fame = np.clip(rng.pareto(1.6, NODES) + 0.4, 0, 60)
fame /= fame.mean()
affinity = np.where(group[:, None] == group[None], 1.0, 0.1)
prob = np.clip(0.06 * fame[:, None] * fame[None] * affinity, 0, 0.9)
upper = np.triu(rng.random((NODES, NODES)) < prob, 1)
adj = (upper | upper.T).astype("float32")

leaning = rng.normal(0, 1, (GROUPS, TRAITS))
traits = (0.7 * leaning[group] + rng.normal(0, 1, (NODES, TRAITS))).astype("float32")
mean_friend = (adj @ traits) / np.maximum(1, adj.sum(1, keepdims=True))
w_own, w_friend = rng.normal(0, 0.25, TRAITS), rng.normal(0, 0.5, TRAITS)
hours = 6 + traits @ w_own + 2 * np.tanh(mean_friend @ w_friend) + rng.normal(0, 0.3, NODES)

order = rng.permutation(NODES)
train_idx, test_idx = order[:600], order[600:]
mu, sd = hours[train_idx].mean(), hours[train_idx].std()
print("friends: mean %.1f, most %d" % (adj.sum(1).mean(), adj.sum(1).max()))


def propagation(a):
    a_hat = a + np.eye(len(a), dtype="float32")
    return tf.constant(a_hat)


class GraphConv(layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.own = layers.Dense(units)
        self.friends = layers.Dense(units, use_bias=False)
        self.act = keras.activations.get(activation)

    def call(self, x, prop):
        return self.act(self.own(x) + tf.matmul(prop, self.friends(x)))


class FriendNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.c1 = GraphConv(48, "relu")
        self.c2 = GraphConv(48, "relu")
        self.c3 = GraphConv(24, "relu")
        self.drop = layers.Dropout(0.1)
        self.out = layers.Dense(1)

    def call(self, x, prop, training=False):
        x = self.drop(self.c1(x, prop), training=training)
        x = self.drop(self.c2(x, prop), training=training)
        return self.out(self.c3(x, prop))[:, 0]


prop = propagation(adj)
x = tf.constant(traits)
y = tf.constant((hours - mu) / sd, tf.float32)
model = FriendNet()
model(x, prop)
gradwatch.watch(model)
optimizer = keras.optimizers.AdamW(2e-3, weight_decay=2e-2)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        pred = model(x, prop, training=True)
        loss = tf.reduce_mean(tf.square(tf.gather(pred - y, train_idx)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(250):
    loss = train_step()
    if step % 50 == 0:
        print("step %d loss %.4f" % (step, float(loss)))

pred = model(x, prop, training=False).numpy() * sd + mu
err = np.abs(pred - hours)
print("train mean abs error %.3f hours" % err[train_idx].mean())
test_hours = hours[test_idx]
print("SCORE r2 %.4f" % (1 - np.mean((pred[test_idx] - test_hours) ** 2) / test_hours.var()))
