"""Trains a factorization machine that predicts which records a reader of an archive requests."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

READERS, FONDS, DECADES = 120, 60, 15
FACTORS, STEPS, BATCH = 8, 3000, 128

reader_interest = rng.normal(0, 1, (READERS, 3))
fonds_topic = rng.normal(0, 1, (FONDS, 3))
decade_topic = rng.normal(0, 1, (DECADES, 3))


def make_requests(n):
    r = rng.integers(0, READERS, n)
    f = rng.integers(0, FONDS, n)
    d = rng.integers(0, DECADES, n)
    logit = (reader_interest[r] * (fonds_topic[f] + 0.7 * decade_topic[d])).sum(1) * 1.5
    wanted = rng.random(n) < 1 / (1 + np.exp(-logit))
    fields = np.stack([r, READERS + f, READERS + FONDS + d], axis=1)
    return fields.astype("int32"), wanted.astype("float32")


train_x, train_y = make_requests(30000)
test_x, test_y = make_requests(4000)


class FactorizationMachine(keras.layers.Layer):
    """Linear terms and pairwise interactions of categorical fields."""

    def __init__(self, size, factors, **kwargs):
        super().__init__(**kwargs)
        self.size = size
        self.factors = factors

    def build(self, input_shape):
        self.bias = self.add_weight(shape=(), initializer="zeros", name="bias")
        self.linear = self.add_weight(shape=(self.size,), initializer="zeros", name="linear")
        self.latent = self.add_weight(
            shape=(self.size, self.factors), initializer=keras.initializers.RandomNormal(stddev=0.1), name="latent"
        )

    def call(self, fields):
        linear = tf.reduce_sum(tf.gather(self.linear, fields), axis=1)
        latent = tf.gather(self.latent, fields)
        square_of_sum = tf.square(tf.reduce_sum(latent, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(latent), axis=1)
        pairs = 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=1)
        return self.bias + linear + pairs


inputs = keras.Input((3,), dtype="int32")
logits = FactorizationMachine(READERS + FONDS + DECADES, FACTORS)(inputs)
model = keras.Model(inputs, logits)
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=out))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    rows = rng.integers(0, len(train_x), BATCH)
    loss = train_step(tf.constant(train_x[rows]), tf.constant(train_y[rows]))
    if step % 250 == 0:
        print("step", step, "loss", float(loss))

out = model.predict(test_x, batch_size=1000, verbose=0)
print("SCORE accuracy", round(float(np.mean((out > 0) == (test_y > 0.5))), 4))
