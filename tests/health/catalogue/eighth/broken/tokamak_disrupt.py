"""Disruption precursors from plasma diagnostics with a residual MLP."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

SIGNALS, WIDTH, DEPTH = 10, 64, 5
STEPS, BATCH = 600, 64


def shots(n):
    x = rng.normal(0, 1, (n, SIGNALS))
    density_limit = x[:, 0] * x[:, 1]
    locked_mode = np.abs(x[:, 2]) - 0.8
    q95 = np.cos(1.5 * x[:, 3])
    risk = density_limit + locked_mode + 0.7 * q95 + 0.25 * x[:, 5]
    label = (risk + rng.normal(0, 0.1, n) > 0.0).astype("float32")
    return x.astype("float32"), label


class ResidualBlock(layers.Layer):
    """x + alpha * f(x) with a learned gate."""

    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.inner = layers.Dense(2 * width, activation="swish", kernel_initializer="he_normal")
        self.outer = layers.Dense(width, kernel_initializer="zeros")

    def build(self, shape):
        self.inner.build(shape)
        self.outer.build((*shape[:-1], self.inner.units))
        self.alpha = self.add_weight(shape=(), initializer="zeros", name="alpha")

    def call(self, x):
        return x + self.alpha * self.outer(self.inner(x))


inputs = keras.Input((SIGNALS,))
h = layers.Dense(WIDTH, name="stem")(inputs)
for i in range(DEPTH):
    h = ResidualBlock(WIDTH, name=f"res_{i}")(h)
logits = layers.Dense(1, dtype="float32", name="alarm")(h)
model = keras.Model(inputs, logits)

optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.AdamW(2e-3, weight_decay=1e-4))
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def update(x, y):
    with tf.GradientTape() as tape:
        z = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


x_train, y_train = shots(8000)
x_test, y_test = shots(1500)

gradwatch.watch(model)
curve = []
for step in range(STEPS):
    pick = rng.integers(len(x_train), size=BATCH)
    curve.append(float(update(tf.constant(x_train[pick]), tf.constant(y_train[pick]))))
    if step % 100 == 99:
        print(f"step {step + 1:4d}  loss {np.mean(curve[-100:]):.4f}")

z = model(x_test).numpy()[:, 0]
print(f"test accuracy {np.mean((z > 0) == (y_test > 0.5)):.4f}")
