"""Predict which of four phases an alloy forms from its composition, with a deep dense network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
DEPTH, WIDTH, BATCH, STEPS = 34, 48, 192, 400

mix = rng.normal(size=(12, 2)) / np.sqrt(12)


def alloys(n):
    x = rng.normal(size=(n, 12))
    u = x @ mix * 1.5
    first = np.sin(u[:, 0]) + u[:, 1] > 0
    second = u[:, 0] - 0.5 * u[:, 1] ** 2 + 0.3 > 0
    return x.astype("float32"), (2 * first + second).astype("int32")


inputs = keras.Input((12,))
h = inputs
for i in range(DEPTH):
    h = layers.Dense(
        WIDTH, use_bias=False, kernel_initializer=keras.initializers.Orthogonal(seed=SEED + i), name="dense%02d" % i
    )(h)
    h = layers.LayerNormalization(name="norm%02d" % i)(h)
    h = layers.Activation("tanh", name="tanh%02d" % i)(h)
model = keras.Model(inputs, layers.Dense(4, name="phase")(h), name="alloy")
gradwatch.watch(model)
schedule = keras.optimizers.schedules.CosineDecay(1e-4, STEPS - 30, warmup_target=1e-3, warmup_steps=30)
optimizer = keras.optimizers.Adam(schedule)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


x_test, y_test = alloys(2000)


def accuracy():
    return float(np.mean(np.argmax(model.predict(x_test, batch_size=1000, verbose=0), -1) == y_test))


print("accuracy before %.3f" % accuracy())
for step in range(STEPS):
    x, y = alloys(BATCH)
    loss = train_step(tf.constant(x), tf.constant(y))
    if step % 50 == 0 or step == STEPS - 1:
        print("step %d loss %.4f" % (step, float(loss)))
print("accuracy after %.3f" % accuracy())
