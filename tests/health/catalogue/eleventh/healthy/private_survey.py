"""Survey answers to a health outcome under differential privacy.

Each person's gradient is cut to norm one, the sum gets Gaussian noise.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CLIP, NOISE, LOT, STEPS = 1.0, 0.8, 128, 300
W = rng.normal(size=20) / 2


def people(n):
    x = rng.normal(size=(n, 20)).astype("float32")
    z = 2.0 * (x @ W) + 0.8 * np.abs(x[:, 0]) - 0.6 + rng.logistic(size=n)
    return x, (z > 0).astype("float32")


x, y = people(10000)
x_test, y_test = people(2000)

model = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(16, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
gradwatch.watch(model)
sgd = keras.optimizers.SGD(0.25, momentum=0.5)
params = model.trainable_variables


@tf.function
def private_step(xb, yb):
    with tf.GradientTape() as tape:
        z = model(xb, training=True)[:, 0]
        each = tf.nn.sigmoid_cross_entropy_with_logits(yb, z)
    jac = tape.jacobian(each, params)
    sq = tf.add_n([tf.reduce_sum(tf.reshape(j, (LOT, -1)) ** 2, 1) for j in jac])
    factor = tf.minimum(1.0, CLIP / tf.sqrt(sq + 1e-12))
    grads = []
    for j in jac:
        total = tf.tensordot(factor, j, 1)
        grads.append((total + tf.random.normal(tf.shape(total), stddev=NOISE * CLIP)) / LOT)
    sgd.apply(grads, params)
    return tf.reduce_mean(each)


for t in range(STEPS):
    lot = rng.integers(0, len(x), LOT)
    loss = private_step(tf.constant(x[lot]), tf.constant(y[lot]))
    if t % 30 == 0 or t == STEPS - 1:
        print("lot %3d  loss %.4f" % (t, float(loss)))
z = model.predict(x_test, verbose=0)[:, 0]
print("held-out accuracy %.3f" % np.mean((z > 0) == y_test))
