"""Trains a gated recurrent cell of its own to tell which prompt opened a theatre scene from the cue log that follows."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS = 80
CHANNELS = 8
PROMPTS = 6


def scenes(n):
    """Desk channels over a scene; the opening prompt lies in the first three steps."""
    prompt = rng.integers(0, PROMPTS, n)
    log = rng.normal(0.0, 0.5, (n, STEPS, CHANNELS))
    for j in range(3):
        log[np.arange(n), j, prompt] += 1.5
    log[:, :3, -1] += 2.0
    return log.astype("float32"), prompt.astype("int32")


class MemoryCell(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units
        self.output_size = units

    def build(self, input_shape):
        d, u = input_shape[-1], self.units
        self.wx = self.add_weight(name="wx", shape=(d, 2 * u), initializer="glorot_uniform")
        self.wh = self.add_weight(name="wh", shape=(u, 2 * u), initializer="glorot_uniform")
        self.b_keep = self.add_weight(name="b_keep", shape=(u,), initializer=keras.initializers.Constant(4.0))
        self.b_new = self.add_weight(name="b_new", shape=(u,), initializer="zeros")

    def call(self, x, states, training=None):
        h = states[0]
        g, c = tf.split(tf.matmul(x, self.wx) + tf.matmul(h, self.wh), 2, axis=-1)
        keep = tf.sigmoid(g + self.b_keep)
        new = tf.tanh(c + self.b_new)
        h = (1.0 - keep) * h + keep * new
        return h, [h]


x_train, y_train = scenes(4000)
x_test, y_test = scenes(1000)

inputs = keras.Input((STEPS, CHANNELS))
h = keras.layers.RNN(MemoryCell(40))(inputs)
outputs = keras.layers.Dense(PROMPTS)(h)
model = keras.Model(inputs, outputs, name="prompter")
optimizer = keras.optimizers.Adam(2e-3, clipnorm=1.0)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(10):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

guess = model.predict(x_test, batch_size=250, verbose=0).argmax(axis=-1)
print("SCORE accuracy", float((guess == y_test).mean()))
