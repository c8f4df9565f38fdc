"""Which of three regions does a wine come from?  Compiled with XLA."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 3000
centres = rng.normal(0, 1.3, (3, 13))
y = rng.integers(0, 3, N).astype("int32")
x = (centres[y] + rng.normal(size=(N, 13))).astype("float32")

model = keras.Sequential([layers.Input((13,))])
for _ in range(7):
    model.add(layers.Dense(32, activation="sigmoid"))
model.add(layers.Dense(3))
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def train_step(features, labels):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for step in range(300):
    idx = rng.integers(0, 2500, 64)
    loss = train_step(x[idx], y[idx])
    if (step + 1) % 50 == 0:
        acc = np.mean(np.argmax(model(x[2500:]).numpy(), 1) == y[2500:])
        print(step + 1, float(loss), "test accuracy", acc)
