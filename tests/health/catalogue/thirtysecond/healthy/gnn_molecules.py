"""Predicts a property of molecule-like graphs by a message-passing network on zero-padded, masked graphs, with gradient accumulation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MAX_NODES, KINDS, WIDTH = 16, 5, 48
MICRO, ACCUM, UPDATES = 32, 2, 450
# Contribution of an atom of a kind, and of a bond between two kinds, to the property.
prop = np.random.default_rng(11)
atom_value = prop.normal(0, 0.5, KINDS)
bond_value = prop.normal(0, 1.0, (KINDS, KINDS))
bond_value = (bond_value + bond_value.T) / 2


def make(n):
    kind = np.zeros((n, MAX_NODES), "int32")
    adj = np.zeros((n, MAX_NODES, MAX_NODES), "float32")
    mask = np.zeros((n, MAX_NODES), "float32")
    y = np.zeros((n, 1), "float32")
    for i in range(n):
        m = rng.integers(6, MAX_NODES + 1)
        kind[i, :m] = rng.integers(0, KINDS, m)
        mask[i, :m] = 1.0
        for v in range(1, m):  # a random tree ...
            u = rng.integers(0, v)
            adj[i, u, v] = adj[i, v, u] = 1.0
        for _ in range(rng.integers(0, 3)):  # ... with up to two ring closures
            u, v = rng.choice(m, 2, replace=False)
            adj[i, u, v] = adj[i, v, u] = 1.0
        k = kind[i]
        bonds = np.triu(adj[i]) * bond_value[k][:, k]
        y[i] = atom_value[k[:m]].sum() + bonds.sum() + rng.normal(0, 0.2)
    return kind, adj, mask, y


train, val, test = make(4000), make(400), make(800)
mean, std = train[3].mean(), train[3].std()


class MessagePassing(layers.Layer):
    """h_v <- LayerNorm(h_v + MLP([h_v, sum over neighbours of MLP(h_u)])), padded nodes stay zero."""

    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.message = keras.Sequential([layers.Dense(width, activation="relu"), layers.Dense(width)])
        self.update = keras.Sequential([layers.Dense(width, activation="relu"), layers.Dense(width)])
        self.norm = layers.LayerNormalization()

    def build(self, shapes):
        h_shape = shapes[0]
        self.message.build(h_shape)
        self.update.build(h_shape[:-1] + (h_shape[-1] + self.message.layers[-1].units,))
        self.norm.build(h_shape)
        self.built = True

    def call(self, inputs):
        h, adj, mask = inputs
        gathered = keras.ops.matmul(adj, self.message(h))
        h = self.norm(h + self.update(keras.ops.concatenate([h, gathered], -1)))
        return h * keras.ops.expand_dims(mask, -1)


kind_in = keras.Input((MAX_NODES,), dtype="int32")
adj_in = keras.Input((MAX_NODES, MAX_NODES))
mask_in = keras.Input((MAX_NODES,))
mask_col = layers.Reshape((MAX_NODES, 1))(mask_in)
h = layers.Multiply()([layers.Embedding(KINDS, WIDTH)(kind_in), mask_col])
for _ in range(3):
    h = MessagePassing(WIDTH)([h, adj_in, mask_in])
atom = layers.Dense(WIDTH, activation="relu")(h)
atom = layers.Multiply()([layers.Dense(1)(atom), mask_col])
out = layers.Lambda(lambda a: keras.ops.sum(a, axis=1), output_shape=(1,))(atom)
model = keras.Model([kind_in, adj_in, mask_in], out)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, UPDATES), global_clipnorm=5.0)
huber = keras.losses.Huber()
variables = model.trainable_variables
optimizer.build(variables)


@tf.function
def update_step(kind, adj, mask, y):
    """One optimizer step from the mean gradient of ACCUM micro-batches (given as the leading axis)."""
    total = [tf.zeros_like(v) for v in variables]
    loss_sum = 0.0
    for j in range(ACCUM):
        with tf.GradientTape() as tape:
            guess = model([kind[j], adj[j], mask[j]], training=True)
            loss = huber(y[j], guess) / ACCUM
        grads = tape.gradient(loss, variables)
        total = [t + tf.convert_to_tensor(g) for t, g in zip(total, grads)]
        loss_sum += loss
    optimizer.apply_gradients(zip(total, variables))
    return loss_sum


def r2(split):
    kind, adj, mask, y = split
    guess = model.predict([kind, adj, mask], batch_size=200, verbose=0) * std + mean
    return 1.0 - float(((guess - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())


kind, adj, mask, y = train
y_scaled = (y - mean) / std
order, pos = rng.permutation(len(y)), 0
for step in range(UPDATES):
    if pos + MICRO * ACCUM > len(y):
        order, pos = rng.permutation(len(y)), 0
    idx = order[pos : pos + MICRO * ACCUM].reshape(ACCUM, MICRO)
    pos += MICRO * ACCUM
    loss = update_step(
        tf.constant(kind[idx]), tf.constant(adj[idx]), tf.constant(mask[idx]), tf.constant(y_scaled[idx])
    )
    if step % 90 == 89:
        print(f"update {step + 1} loss {float(loss):.4f} validation r2 {r2(val):.4f}")


# Baseline: least squares on the counts of atom kinds.
def counts(split):
    c = np.stack([((split[0] == k) * split[2]).sum(1) for k in range(KINDS)], 1)
    return np.concatenate([c, np.ones((len(c), 1))], 1)


coef = np.linalg.lstsq(counts(train), train[3], rcond=None)[0]
resid = counts(test) @ coef - test[3]
print(
    "BASELINE r2 (mean)", round(1.0 - float(((mean - test[3]) ** 2).sum() / ((test[3] - test[3].mean()) ** 2).sum()), 4)
)
print(
    "BASELINE r2 (linear in atom counts)",
    round(1.0 - float((resid**2).sum() / ((test[3] - test[3].mean()) ** 2).sum()), 4),
)
print("SCORE r2", round(r2(test), 4))
