"""Predicts the glass transition temperature of small polymer fragments from their bond graph."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ATOMS = 12
KINDS = 5
BATCH = 32
EPOCHS = 8


def make_fragment():
    """A branched chain with a few ring closures and some bonds the parser could not read."""
    kinds = rng.choice(KINDS, size=ATOMS, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    bonds = np.zeros((ATOMS, ATOMS), "float32")
    for j in range(1, ATOMS):
        i = j - 1 if rng.random() < 0.75 else rng.integers(0, j)
        bonds[i, j] = bonds[j, i] = 1.0
    for _ in range(rng.integers(0, 4)):
        i, j = rng.choice(ATOMS, size=2, replace=False)
        bonds[i, j] = bonds[j, i] = 1.0
    if rng.random() < 0.02:
        i, j = np.argwhere(np.triu(bonds))[rng.integers(np.triu(bonds).sum())]
        bonds[i, j] = bonds[j, i] = 0.0
    return kinds, bonds


PAIR = np.random.default_rng(7).normal(size=(KINDS, KINDS))
PAIR = PAIR + PAIR.T


def temperature(kinds, bonds):
    stiffness = (bonds * PAIR[kinds][:, kinds]).sum() / 2
    return stiffness + 0.6 * (kinds == 4).sum() + 0.3 * rng.normal()


fragments = [make_fragment() for _ in range(1600)]
atoms = np.eye(KINDS, dtype="float32")[np.stack([k for k, _ in fragments])]
bonds = np.stack([b for _, b in fragments])
target = np.array([temperature(k, b) for k, b in fragments], "float32")
train, test = slice(0, 1280), slice(1280, None)
target = (target - target[train].mean()) / target[train].std()


class BondConv(keras.layers.Layer):
    """Symmetrically normalised neighbour sum plus the atom itself."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.own = keras.layers.Dense(units)
        self.near = keras.layers.Dense(units, use_bias=False)

    def call(self, x, adjacency):
        degree = tf.reduce_sum(adjacency, axis=-1)
        scale = 1.0 / tf.sqrt(degree)
        weights = scale[:, :, None] * adjacency * scale[:, None, :]
        return tf.nn.relu(self.own(x) + tf.matmul(weights, self.near(x)))


class FragmentNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = BondConv(48)
        self.second = BondConv(48)
        self.hidden = keras.layers.Dense(48, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        x, adjacency = inputs
        x = self.first(x, adjacency)
        x = self.second(x, adjacency)
        size = tf.reduce_sum(adjacency, axis=[1, 2])[:, None] / (2.0 * ATOMS)
        pooled = tf.concat([tf.reduce_mean(x, axis=1), tf.reduce_max(x, axis=1), size], axis=-1)
        return self.out(self.hidden(pooled))[:, 0]


model = FragmentNet()
model((atoms[:2], bonds[:2]))
watch = gradwatch.watch(model)
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def train_step(x, a, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((x, a)) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((atoms[train], bonds[train], target[train]))
data = data.shuffle(1280, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    losses = []
    for x, a, y in data:
        loss = train_step(x, a, y)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"epoch {epoch} mse {np.mean(losses):.4f}")

predicted = model((atoms[test], bonds[test])).numpy()
error = np.mean((predicted - target[test]) ** 2)
print("score", round(float(1.0 - error / np.var(target[test])), 4))
