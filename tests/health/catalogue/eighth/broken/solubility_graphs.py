import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 13)

ATOM_TYPES = 9
GRAPHS = 5600
PER_BATCH = 16
weights_of = np.array([0.0, 0.6, -0.5, -0.9, 0.3, 0.8, -0.2, 1.1, -1.4])


def compound():
    n = int(rng.integers(6, 18))
    types = rng.choice(7, n, p=[0.05, 0.5, 0.15, 0.15, 0.05, 0.05, 0.05])
    bonds = [(i, int(rng.integers(max(0, i - 3), i))) for i in range(1, n)]
    if rng.random() < 0.5 and n > 8:
        bonds.append((0, 5))
    if rng.random() < 0.0012:
        types = np.append(types, 8)
    value = 0.25 * weights_of[types].sum()
    value += 0.12 * sum(weights_of[types[a]] * weights_of[types[b]] for a, b in bonds)
    return types, bonds, value + rng.normal(0, 0.05)


def collate(group):
    types, src, dst, owner, value = [], [], [], [], []
    for g, (t, bonds, v) in enumerate(group):
        base = len(types)
        types.extend(t)
        owner.extend([g] * len(t))
        for a, b in bonds:
            src.extend([base + a, base + b])
            dst.extend([base + b, base + a])
        value.append(v)
    return [np.array(z, np.int32) for z in (types, src, dst, owner)] + [np.array(value, np.float32)]


class MaxMessage(layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.message = layers.Dense(width, activation="relu")
        self.update = layers.Dense(width, activation="relu")

    def call(self, h, src, dst):
        sent = tf.gather(self.message(h), src)
        heard = tf.math.unsorted_segment_max(sent, dst, tf.shape(h)[0])
        return h + self.update(tf.concat([h, heard], axis=-1))


class SolubilityNet(keras.Model):
    def __init__(self, width=96, rounds=3):
        super().__init__()
        self.atom = layers.Dense(width, use_bias=False)
        self.rounds = [MaxMessage(width) for _ in range(rounds)]
        self.readout = layers.Dense(1)

    def call(self, types, src, dst, owner):
        h = self.atom(tf.one_hot(types, ATOM_TYPES))
        for r in self.rounds:
            h = r(h, src, dst)
        return tf.math.unsorted_segment_sum(self.readout(h)[:, 0], owner, PER_BATCH)


compounds = [compound() for _ in range(GRAPHS)]
net = SolubilityNet()
net(*[tf.constant(z) for z in collate(compounds[:PER_BATCH])[:4]])
opt = keras.optimizers.RMSprop(5e-4)
ints = tf.TensorSpec([None], tf.int32)


@tf.function(input_signature=[ints, ints, ints, ints, tf.TensorSpec([None], tf.float32)])
def step(types, src, dst, owner, value):
    with tf.GradientTape() as tape:
        error = net(types, src, dst, owner) - value
        loss = tf.reduce_mean(tf.sqrt(1.0 + tf.square(error)) - 1.0)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


gradwatch.watch(net)
trace = []
for at in range(0, GRAPHS, PER_BATCH):
    trace.append(float(step(*map(tf.constant, collate(compounds[at : at + PER_BATCH])))))
    if len(trace) % 50 == 0:
        print(len(trace), "loss", round(float(np.mean(trace[-50:])), 4))
