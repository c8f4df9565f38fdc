"""Trains a factorization machine that rates perfumes by the notes they combine."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NOTES, RANK, CHOSEN = 60, 12, 7
harmony = rng.normal(0.0, 1.0, (NOTES, 6))
single = rng.normal(0.0, 0.3, NOTES)


def perfumes(n):
    x = np.zeros((n, NOTES), "float32")
    for row in x:
        row[rng.choice(NOTES, CHOSEN, replace=False)] = 1.0
    total = x @ harmony
    pairs = 0.5 * ((total**2) - (x @ harmony**2)).sum(1)
    rating = x @ single + 0.25 * pairs + rng.normal(0.0, 0.1, n)
    return x, rating.astype("float32")


class PairInteractions(keras.layers.Layer):
    """Sum of the inner products of the factors of all pairs of active notes."""

    def __init__(self, rank, **kwargs):
        super().__init__(**kwargs)
        self.rank = rank

    def build(self, input_shape):
        self.factors = self.add_weight(
            shape=(input_shape[-1], self.rank),
            initializer=keras.initializers.Constant(0.1),
            name="factors",
        )

    def call(self, x):
        total = tf.matmul(x, self.factors)
        squares = tf.matmul(tf.square(x), tf.square(self.factors))
        return 0.5 * tf.reduce_sum(tf.square(total) - squares, axis=-1, keepdims=True)


x, y = perfumes(9000)
x_test, y_test = perfumes(2000)
mean, std = y.mean(), y.std()
y, y_test = (y - mean) / std, (y_test - mean) / std

notes = keras.Input((NOTES,))
linear = keras.layers.Dense(1)(notes)
pairs = PairInteractions(RANK, name="pairs")(notes)
model = keras.Model(notes, keras.layers.Add()([linear, pairs]))
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def step_fn(xb, yb):
    with tf.GradientTape() as tape:
        rating = tf.squeeze(model(xb, training=True), axis=-1)
        loss = tf.reduce_mean(tf.square(rating - yb))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


stream = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9000, seed=seed).repeat().batch(100)
for step, (xb, yb) in enumerate(stream.take(3000)):
    loss = step_fn(xb, yb)
    if step % 250 == 0:
        print("step", step, "loss", float(loss))

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", float(1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
