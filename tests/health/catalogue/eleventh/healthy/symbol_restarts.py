"""Recognition of hand-drawn symbols, SGD with Nesterov momentum and cosine restarts."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def draw(n, s=16):
    c = rng.integers(0, 5, n)
    im = np.zeros((n, s, s), "float32")
    for k in range(n):
        i, j = rng.integers(2, 6, 2)
        length = rng.integers(6, 9)
        if c[k] == 0:
            im[k, i : i + length, j + length // 2] = 1
        elif c[k] == 1:
            im[k, i + length // 2, j : j + length] = 1
        elif c[k] == 2:
            im[k, i : i + length, j + length // 2] = 1
            im[k, i + length // 2, j : j + length] = 1
        elif c[k] == 3:
            im[k, i : i + length, j] = 1
            im[k, i : i + length, j + length - 1] = 1
            im[k, i, j : j + length] = 1
            im[k, i + length - 1, j : j + length] = 1
        else:
            r = np.arange(length)
            im[k, i + r, j + r] = 1
    return (im + rng.normal(0, 0.35, im.shape))[..., None].astype("float32"), c.astype("int32")


X, Y = draw(4000)
XT, YT = draw(1000)

model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        keras.layers.Conv2D(12, 3, padding="same"),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(24, 3, padding="same"),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(5),
    ]
)
gradwatch.watch(model)
rate = keras.optimizers.schedules.CosineDecayRestarts(0.05, first_decay_steps=40, t_mul=2.0, m_mul=0.8, alpha=1e-3)
optimizer = keras.optimizers.SGD(rate, momentum=0.9, nesterov=True)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def one(xb, yb):
    with tf.GradientTape() as g:
        z = model(xb, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yb, z))
    optimizer.apply(g.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


order = rng.permutation(len(X))
for t in range(280):
    pick = np.take(order, np.arange(t * 32, t * 32 + 32), mode="wrap")
    value = one(tf.constant(X[pick]), tf.constant(Y[pick]))
    if t % 20 == 0:
        print(t, "lr %.4f" % float(rate(t)), "loss %.4f" % float(value))
print("held-out accuracy", np.mean(model.predict(XT, verbose=0).argmax(1) == YT))
