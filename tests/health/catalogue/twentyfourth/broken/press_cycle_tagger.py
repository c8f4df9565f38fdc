"""Tag every step of a press log with the operation it belongs to (two GRUs, one from each end)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, EVENTS, TAGS = 30, 16, 4


def make_logs(n):
    """An operation is announced by its first event or only known by the one that closes it."""
    events = np.zeros((n, STEPS), "int32")
    tags = np.zeros((n, STEPS), "int32")
    for i in range(n):
        pos = 0
        while pos < STEPS:
            length = int(rng.integers(3, 7))
            tag = int(rng.integers(0, TAGS))
            block = rng.integers(8, EVENTS, length)
            if rng.random() < 0.35:
                block[0] = tag
                block[-1] = rng.integers(8, EVENTS)
            else:
                block[-1] = 4 + tag
            end = min(pos + length, STEPS)
            events[i, pos:end] = block[: end - pos]
            tags[i, pos:end] = tag
            pos = end
    return events, tags


x_train, y_train = make_logs(3000)
x_test, y_test = make_logs(500)
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(50)

inputs = keras.Input((STEPS,), dtype="int32")
h = layers.Embedding(EVENTS, 16)(inputs)
forward = layers.GRU(32, return_sequences=True)(h)
backward = layers.GRU(32, return_sequences=True, go_backwards=True)(h)
h = layers.Concatenate()([forward, backward])
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(TAGS)(h)
model = keras.Model(inputs, outputs)

optimizer = keras.optimizers.Adam(4e-3, clipnorm=1.0)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in train]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

pred = model(x_test).numpy().argmax(axis=-1)
print("SCORE tag_accuracy", float(np.mean(pred == y_test)))
