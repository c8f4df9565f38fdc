"""Handwritten digits, with a linear last layer, and softmax on top of it.

The same training as ``dead_relu.py``, with one change: no ReLU before the softmax, so that every class keeps its slope.
"""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

JIT = "--jit" in sys.argv
BATCH_SIZE = 64
LEARNING_RATE = 1.0
STEPS = 600

keras.utils.set_random_seed(0)
images, digits = load_digits(return_X_y=True)
images = images.astype("float32") / 16
train_images, test_images, train_digits, test_digits = train_test_split(
    images, digits, test_size=360, random_state=0, stratify=digits
)

model = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(64, activation="relu", name="hidden"),
        layers.Dense(10, name="scores"),
    ],
    name="digits-relu",
)
optimizer = keras.optimizers.SGD(LEARNING_RATE)
watch = gradwatch.watch(
    model, name="digits-relu", config={"steps": STEPS, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE}
)


@tf.function(jit_compile=JIT)
def train_step(x, y):
    """One step; returns the batch's loss."""
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    watch.log(loss=loss)
    return loss


random = np.random.default_rng(0)
for _ in range(STEPS):
    batch = random.integers(len(train_images), size=BATCH_SIZE)
    train_step(train_images[batch], train_digits[batch])

accuracy = np.mean(np.argmax(model.predict(test_images, verbose=0), axis=1) == test_digits)
print(f"accuracy on {len(test_images)} digits never seen: {accuracy:.1%}")
