"""Thirty regression tasks on one network: first all together, then one at a time, the others masked to zero.

The tasks are the 30 pixels that vary most in a handwritten digit, told from the 34 others. Together they train well.
As soon as the mask leaves one task alone, 29 columns of the error are exactly zero, and everything turns to NaN.
"""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

import gradwatch

JIT = "--jit" in sys.argv
BATCH_SIZE = 128
TASKS = 30
LEARNING_RATE = 0.2
STEPS_TOGETHER = 1000
STEPS_PER_TASK = 20

keras.utils.set_random_seed(0)
pixels = load_digits().data.astype("float32") / 16
by_variance = np.argsort(pixels.var(axis=0))
inputs = pixels[:, by_variance[:-TASKS]]
targets = pixels[:, by_variance[-TASKS:]]
targets -= targets.mean(axis=0)

model = keras.Sequential(
    [
        keras.Input((inputs.shape[1],)),
        layers.Dense(512, activation="relu", name="hidden_1"),
        layers.Dense(512, activation="relu", name="hidden_2"),
        layers.Dense(512, activation="relu", name="hidden_3"),
        layers.Dense(TASKS, name="tasks"),
    ],
    name="multitask",
)
optimizer = keras.optimizers.SGD(LEARNING_RATE)

n_steps = STEPS_TOGETHER + TASKS * STEPS_PER_TASK
watch = gradwatch.watch(
    model,
    name="thirty-tasks",
    config={"steps": n_steps, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE, "tasks": TASKS},
)


@tf.function(jit_compile=JIT)
def train_step(x, ystar, ymask):
    """One step on the tasks that the mask lets through; returns the mean distance of a task."""
    with tf.GradientTape() as tape:
        y1 = model(x, training=True)
        y2 = tf.matmul(y1, ymask)
        distance = tf.norm(ystar - y2, axis=0)
        loss = tf.reduce_mean(distance)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    watch.log(loss=loss)
    return loss


random = np.random.default_rng(0)
for step in range(n_steps):
    ymask = np.eye(TASKS, dtype="float32")
    if step >= STEPS_TOGETHER:
        task = (step - STEPS_TOGETHER) // STEPS_PER_TASK
        ymask = np.diag(ymask[task])
    batch = random.integers(len(inputs), size=BATCH_SIZE)
    loss = train_step(inputs[batch], targets[batch] @ ymask, ymask)

error = targets - model.predict(inputs, verbose=0)
print(f"root mean square error over {TASKS} tasks: {np.sqrt(np.mean(error**2)):.3f}, of {targets.std():.3f} untrained")
