"""Molecules, gazes, and tests of poison."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches
from tests.health.catalogue.play import Watch


def molecules(seed, n=1600, atoms=12, feats=6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, atoms, feats)).astype("float32")
    adj = np.zeros((n, atoms, atoms), "float32")
    for g in range(n):
        last = atoms - 1 if rng.random() < 0.02 else atoms
        for a in range(1, last):
            b = rng.integers(0, a)
            adj[g, a, b] = adj[g, b, a] = 1.0
    near = adj @ x / np.maximum(adj.sum(-1, keepdims=True), 1.0)
    y = np.maximum(near[..., 0] + x[..., 1], 0).sum(1) - np.abs(near[..., 2]).sum(1)
    y = (y - y.mean()) / y.std()
    return x, adj, y.astype("float32")[:, None]


class BondConv(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.dense = layers.Dense(units, activation="relu")

    def call(self, inputs):
        x, adj = inputs
        degree = tf.reduce_sum(adj, axis=-1)
        inv = tf.pow(degree, -0.5)
        norm = inv[:, :, None] * adj * inv[:, None, :]
        return self.dense(tf.concat([x, tf.matmul(norm, x)], axis=-1))


def molecule_property(watch: Watch, seed: int) -> None:
    """The adjacency is normalised by degree ** -0.5, and one molecule in fifty has an atom without a bond: 0 ** -0.5 is
    infinite, and times 0 NaN.
    """
    keras.utils.set_random_seed(seed)
    x, adj, y = molecules(seed)
    nodes = keras.Input((12, 6))
    bonds = keras.Input((12, 12))
    h = BondConv(32, name="conv1")([nodes, bonds])
    h = BondConv(32, name="conv2")([h, bonds])
    h = layers.Lambda(lambda t: tf.reduce_sum(t, axis=1), output_shape=(32,))(h)
    h = layers.Dense(32, activation="relu", name="readout")(h)
    model = keras.Model([nodes, bonds], layers.Dense(1, name="property")(h))
    watch(model)
    model.compile(keras.optimizers.Adam(2e-3), loss="mse")
    model.fit([x, adj], y, batch_size=32, epochs=5, verbose=0)


def assays(seed, n=4000, feats=30, tasks=6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, feats)).astype("float32")
    w = rng.normal(size=(feats, tasks)) / np.sqrt(feats)
    y = (x @ w + 0.3 * rng.normal(size=(n, tasks)) > 0.2).astype("float32")
    coverage = np.array([0.9, 0.6, 0.5, 0.3, 0.15, 0.045])
    y[rng.random((n, tasks)) > coverage] = -1.0
    return x, y


def tox_assays(watch: Watch, seed: int) -> None:
    """The mean over the known labels of each assay: one batch in twenty has none of the rarest, and 0 / 0 is NaN."""
    keras.utils.set_random_seed(seed)
    x, y = assays(seed)

    def assay_loss(y_true, logits):
        known = tf.cast(y_true >= 0, tf.float32)
        bce = tf.nn.sigmoid_cross_entropy_with_logits(tf.maximum(y_true, 0.0), logits)
        per_assay = tf.reduce_sum(bce * known, axis=0) / tf.reduce_sum(known, axis=0)
        return tf.reduce_mean(per_assay)

    model = keras.Sequential(
        [
            keras.Input((30,)),
            layers.Dense(64, activation="relu", name="trunk1"),
            layers.Dense(32, activation="relu", name="trunk2"),
            layers.Dense(6, name="assays"),
        ]
    )
    watch(model)
    model.compile(keras.optimizers.Adam(2e-3), loss=assay_loss)
    model.fit(x, y, batch_size=64, epochs=5, verbose=0)


def gaze(seed, n=3000):
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(n, 3))
    v[:, 2] = np.abs(v[:, 2]) + 0.5
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    mix = rng.normal(size=(3, 16))
    x = np.tanh(v @ mix) + 0.01 * rng.normal(size=(n, 16))
    return x.astype("float32"), v.astype("float32")


def gaze_direction(watch: Watch, seed: int) -> None:
    """The mean of acos(cosine): as the fit gets good a cosine rounds to 1, where acos has an infinite slope."""
    keras.utils.set_random_seed(seed)
    x, v = gaze(seed)
    model = keras.Sequential(
        [
            keras.Input((16,)),
            layers.Dense(64, activation="relu", name="face1"),
            layers.Dense(64, activation="relu", name="face2"),
            layers.Dense(3, name="direction"),
            layers.UnitNormalization(name="unit"),
        ]
    )
    optimizer = keras.optimizers.Adam(3e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, vb):
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            cosine = tf.reduce_sum(pred * vb, axis=-1)
            loss = tf.reduce_mean(tf.acos(cosine))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 64, 400):
        w.log(loss=float(train_step(x[idx], v[idx])))
