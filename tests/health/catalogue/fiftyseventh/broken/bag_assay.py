import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ITEMS, DIM = 12, 8
marker = rng.normal(size=DIM)
marker /= np.linalg.norm(marker)
side = rng.normal(size=DIM)
side -= side @ marker * marker
side /= np.linalg.norm(side)


def bags(n):
    x = rng.normal(size=(n, ITEMS, DIM))
    x -= (x @ marker)[..., None] * marker
    hot = rng.integers(0, ITEMS, n)
    x[np.arange(n), hot] += 3.0 * marker
    y = (x[np.arange(n), hot] @ side > 0).astype("float32")
    return x.astype("float32"), y[:, None]


class BagModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.project = keras.layers.Dense(16)
        self.gate_hidden = keras.layers.Dense(32, activation="tanh")
        self.gate = keras.layers.Dense(1, activation="softmax")
        self.head = keras.layers.Dense(1)

    def call(self, x):
        weights = self.gate(self.gate_hidden(x))
        pooled = tf.reduce_sum(weights * self.project(x), axis=1)
        return self.head(pooled)


x_train, y_train = bags(4000)
x_test, y_test = bags(1000)
model = BagModel()
model(x_train[:1])
optimizer = keras.optimizers.RMSprop(2e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(15):
    order = rng.permutation(len(x_train))
    losses = []
    for i in range(0, len(order), 64):
        j = order[i : i + 64]
        losses.append(float(step(tf.constant(x_train[j]), tf.constant(y_train[j]))))
    print(epoch, np.mean(losses))

pred = model(x_test).numpy() > 0
print("SCORE", float(np.mean(pred == (y_test > 0.5))))
