import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FIRMS = 900
SECTORS = 7
KEYWORDS = 300
HIDDEN = 8
EPOCHS = 400

sector = rng.integers(0, SECTORS, FIRMS)
same = sector[:, None] == sector[None, :]
links = np.triu(rng.random((FIRMS, FIRMS)) < np.where(same, 0.04, 0.005), 1)
links = (links | links.T).astype("float32") + np.eye(FIRMS, dtype="float32")
degree = links.sum(axis=1)
ADJACENCY = tf.constant(links / np.sqrt(degree[:, None] * degree[None, :]))

usage = np.full((SECTORS, KEYWORDS), 0.04)
for s in range(SECTORS):
    usage[s, rng.choice(KEYWORDS, 25, replace=False)] = 0.25
words = (rng.random((FIRMS, KEYWORDS)) < usage[sector]).astype("float32")
FEATURES = tf.constant(words / np.maximum(words.sum(axis=1, keepdims=True), 1.0))
LABELS = tf.constant(sector)

order = rng.permutation(FIRMS)
train_rows, test_rows = order[:350], order[450:]


class GraphConv(keras.layers.Layer):
    def __init__(self, in_features, out_features, **kwargs):
        super().__init__(**kwargs)
        limit = float(np.sqrt(6.0 / (in_features + out_features)))
        self.weight = self.add_weight(
            shape=(in_features, out_features),
            initializer=keras.initializers.RandomUniform(-limit, limit),
            name="weight",
        )
        self.offset = self.add_weight(shape=(out_features,), initializer="zeros", name="offset")

    def call(self, x):
        return tf.matmul(ADJACENCY, tf.matmul(x, self.weight)) + self.offset


class SectorNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv_a = GraphConv(KEYWORDS, HIDDEN, name="conv_a")
        self.conv_b = GraphConv(HIDDEN, HIDDEN, name="conv_b")
        self.drop = keras.layers.Dropout(0.2)
        self.head = keras.layers.Dense(SECTORS, name="head")

    def call(self, x, training=False):
        x = tf.nn.relu(self.conv_a(x))
        x = self.drop(x, training=training)
        x = tf.nn.relu(self.conv_b(x))
        return self.head(x)


model = SectorNet()
model(FEATURES)
optimizer = keras.optimizers.Adam(1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = model(FEATURES, training=True)
        loss = loss_fn(tf.gather(LABELS, train_rows), tf.gather(logits, train_rows))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    loss = train_step()
    watch.log(loss=loss)
    if epoch % 80 == 0:
        print(epoch, float(loss))

predicted = np.argmax(model(FEATURES).numpy(), axis=1)
print("SCORE", float(np.mean(predicted[test_rows] == sector[test_rows])))
