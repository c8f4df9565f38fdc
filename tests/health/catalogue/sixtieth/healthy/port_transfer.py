import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
basis = rng.normal(0, 1, (6, 20)) / 2


def port(n, shift):
    y = rng.integers(0, 3, n)
    z = rng.normal(0, 0.5, (n, 6))
    z[:, :2] += np.array([[1.2, 0.0], [-0.6, 1.0], [-0.6, -1.0]])[y]
    z[:, 4:] += shift
    return (z @ basis + rng.normal(0, 0.1, (n, 20))).astype("float32"), y.astype("int32")


xs, ys = port(3000, 0.0)
xt, _ = port(3000, 1.5)
x_test, y_test = port(1000, 1.5)


@tf.custom_gradient
def reverse(x, strength):
    def grad(dy):
        return -strength * dy, None

    return tf.identity(x), grad


class PortModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(16)])
        self.label_head = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
        self.domain_head = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])

    def call(self, x, strength=0.0):
        h = self.features(x)
        return self.label_head(h), self.domain_head(reverse(h, strength))


model = PortModel()
model(xs[:2])
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(a, ya, b, strength):
    with tf.GradientTape() as tape:
        logits, domain = model(tf.concat([a, b], 0), strength=strength)
        n = tf.shape(a)[0]
        truth = tf.concat([tf.ones((n, 1)), tf.zeros((tf.shape(b)[0], 1))], 0)
        label_loss = ce(ya, logits[:n])
        domain_loss = bce(truth, domain)
        loss = label_loss + domain_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return label_loss, domain_loss


source = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(3000, seed=SEED).repeat().batch(64)
target = tf.data.Dataset.from_tensor_slices(xt).shuffle(3000, seed=SEED).repeat().batch(64)
TOTAL = 1200
for i, ((a, ya), b) in enumerate(tf.data.Dataset.zip((source, target)).take(TOTAL)):
    strength = tf.constant(0.3 * (2.0 / (1 + np.exp(-10 * i / TOTAL)) - 1), tf.float32)
    label_loss, domain_loss = step(a, ya, b, strength)
    if i % 200 == 0:
        print(i, float(label_loss), float(domain_loss))
print("SCORE", float(np.mean(model(x_test)[0].numpy().argmax(-1) == y_test)))
