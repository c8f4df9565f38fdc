"""Learn the hidden rule of a light wired to three of twenty-four switches (on when an odd number is up)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SWITCHES = 24
wired = rng.choice(SWITCHES, 3, replace=False)


def draw(n):
    x = rng.integers(0, 2, (n, SWITCHES))
    return (2 * x - 1).astype("float32"), (x[:, wired].sum(1) % 2).astype("float32")[:, None]


model = keras.Sequential(
    [
        layers.Input((SWITCHES,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1400):
    x, y = draw(128)
    loss = train_step(tf.constant(x), tf.constant(y))
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

x, y = draw(4000)
acc = np.mean((model.predict(x, verbose=0) > 0) == (y > 0.5))
print("SCORE accuracy", round(float(acc), 4))
