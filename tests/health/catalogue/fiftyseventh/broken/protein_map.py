import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, K, F = 360, 4, 24
family = rng.integers(0, K, N)
same = family[:, None] == family[None, :]
links = np.triu(rng.random((N, N)) < np.where(same, 0.07, 0.006), 1)
adjacency = (links | links.T).astype("float32")
centers = rng.normal(size=(K, F))
features = (0.35 * centers[family] + rng.normal(size=(N, F))).astype("float32")
train_mask = np.zeros(N, "float32")
train_mask[rng.permutation(N)[:120]] = 1.0


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.dense = keras.layers.Dense(units)
        self.act = keras.activations.get(activation)

    def call(self, h, a_hat):
        return self.act(tf.matmul(a_hat, self.dense(h)))


class FamilyNet(keras.Model):
    def __init__(self, edge_drop=0.08):
        super().__init__()
        self.edge_drop = edge_drop
        self.conv1 = GraphConv(32, "relu")
        self.drop = keras.layers.Dropout(0.4)
        self.conv2 = GraphConv(K)

    def drop_edges(self, a):
        u = tf.random.uniform(tf.shape(a))
        u = tf.linalg.band_part(u, 0, -1)
        u = u + tf.transpose(tf.linalg.band_part(u, 0, -1) - tf.linalg.band_part(u, 0, 0))
        return a * tf.cast(u > self.edge_drop, tf.float32)

    def propagation(self, a, training):
        a = a + tf.eye(N)
        if training:
            a = self.drop_edges(a)
        inv_sqrt = tf.pow(tf.reduce_sum(a, axis=1), -0.5)
        return inv_sqrt[:, None] * a * inv_sqrt[None, :]

    def call(self, x, a, training=False):
        a_hat = self.propagation(a, training)
        h = self.drop(self.conv1(x, a_hat), training=training)
        return self.conv2(h, a_hat)


model = FamilyNet()
x, a, y = tf.constant(features), tf.constant(adjacency), tf.constant(family)
model(x, a)
optimizer = keras.optimizers.Adam(1e-2)
watch = gradwatch.watch(model)


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = model(x, a, training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        loss = tf.reduce_sum(ce * train_mask) / tf.reduce_sum(train_mask)
        loss += 5e-4 * tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(400):
    loss = step()
    if epoch % 50 == 0:
        print(epoch, float(loss))

logits = model(x, a).numpy()
hit = (logits.argmax(1) == family)[train_mask == 0].mean()
print("SCORE", float(hit) if np.isfinite(logits).all() else float("nan"))
