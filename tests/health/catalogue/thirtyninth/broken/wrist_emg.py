"""Recognises hand gestures from short windows of wrist EMG in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
keras.mixed_precision.set_global_policy("mixed_float16")

T, CH, GESTURES = 32, 8, 7
gain = np.abs(rng.normal(0.4, 0.6, (GESTURES, CH)))
speed = rng.uniform(0.15, 0.9, (GESTURES, CH))


def make_windows(n):
    y = rng.integers(0, GESTURES, n)
    t = np.arange(T)[None, :, None]
    x = gain[y][:, None] * np.sin(speed[y][:, None] * t + rng.uniform(0, 6.28, (n, 1, CH)))
    return (x + rng.normal(0, 0.5, x.shape)).astype("float32"), y


x_train, y_train = make_windows(2500)
x_test, y_test = make_windows(800)

model = keras.Sequential(
    [
        layers.Input((T, CH)),
        layers.Conv1D(16, 5, activation="relu"),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(GESTURES, dtype="float32"),
    ]
)
gradwatch.watch(model)
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.03, momentum=0.9))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2500, seed=seed).batch(50)
for epoch in range(10):
    print("epoch", epoch, np.mean([float(step(x, y)) for x, y in data]))
print("SCORE accuracy", float(np.mean(model.predict(x_test, verbose=0).argmax(1) == y_test)))
