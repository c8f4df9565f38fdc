"""Trains an attention model that reads the height of the brightest flash in a night's radio log."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MOMENTS, CHANNELS = 48, 4


def log_nights(n):
    log = rng.normal(0, 1, (n, MOMENTS, CHANNELS))
    log[..., 0] = rng.uniform(0.0, 1.0, (n, MOMENTS))
    when = rng.integers(0, MOMENTS, n)
    rows = np.arange(n)
    log[rows, when, 0] = rng.uniform(1.5, 2.5, n)
    height = log[rows, when, 1] + 0.5 * log[rows, when, 2] + rng.normal(0, 0.05, n)
    return log.astype("float32"), height[:, None].astype("float32")


@keras.saving.register_keras_serializable()
class AttentionPooling(keras.layers.Layer):
    """Weighs the moments of a sequence and returns their weighted mean."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.hidden = keras.layers.Dense(width, activation="tanh")
        self.score = keras.layers.Dense(1)
        self.value = keras.layers.Dense(width)

    def build(self, input_shape):
        shape = tuple(input_shape)
        self.hidden.build(shape)
        self.score.build(shape[:-1] + (self.hidden.units,))
        self.value.build(shape)
        super().build(input_shape)

    def call(self, sequence):
        scores = self.score(self.hidden(sequence))
        weights = tf.nn.softmax(scores, axis=1)
        return tf.reduce_sum(weights * self.value(sequence), axis=1)


inputs = keras.Input((MOMENTS, CHANNELS))
pooled = AttentionPooling(32, name="attention_pooling")(inputs)
h = keras.layers.Dense(32, activation="relu")(pooled)
model = keras.Model(inputs, keras.layers.Dense(1)(h))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)

x_train, y_train = log_nights(8000)
x_test, y_test = log_nights(2000)
dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000, seed=SEED).batch(64, drop_remainder=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    losses = [float(train_step(x, y)) for x, y in dataset]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print(f"SCORE r2 {r2:.4f}")
