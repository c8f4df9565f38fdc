"""Train a residual network that names the weave of fabric patches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
CLASSES = 8


def patches(n):
    y = rng.integers(0, CLASSES, n)
    r, c = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    angle = (y % 4) * np.pi / 4 + rng.normal(0, 0.08, n)
    freq = np.where(y < 4, 0.18, 0.3) + rng.normal(0, 0.01, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    t = r[None] * np.cos(angle)[:, None, None] + c[None] * np.sin(angle)[:, None, None]
    wave = np.sin(2 * np.pi * freq[:, None, None] * t + phase[:, None, None])
    dye = rng.uniform(0.2, 1.0, (n, 1, 1, 3))
    x = wave[..., None] * dye + rng.normal(0, 0.6, (n, 16, 16, 3))
    return x.astype("float32"), y.astype("int32")


def conv_bn(x, filters, kernel, strides, gamma, name):
    x = layers.Conv2D(
        filters,
        kernel,
        strides=strides,
        padding="same",
        use_bias=False,
        kernel_initializer="he_normal",
        name=name + "_conv",
    )(x)
    return layers.BatchNormalization(gamma_initializer=gamma, momentum=0.9, name=name + "_bn")(x)


def block(x, filters, strides, name):
    short = x
    if strides != 1 or x.shape[-1] != filters:
        short = conv_bn(x, filters, 1, strides, "ones", name + "_short")
    y = conv_bn(x, filters, 3, strides, "ones", name + "_a")
    y = layers.ReLU(name=name + "_relu1")(y)
    # every block is the identity at first (Goyal et al. 2017)
    y = conv_bn(y, filters, 3, 1, "zeros", name + "_b")
    return layers.ReLU(name=name + "_relu2")(layers.Add(name=name + "_add")([short, y]))


inputs = keras.Input((16, 16, 3), name="patch")
h = layers.ReLU()(conv_bn(inputs, 12, 3, 1, "ones", "stem"))
for i, (f, s) in enumerate([(12, 1), (12, 1), (24, 2), (24, 1), (32, 2), (32, 1)]):
    h = block(h, f, s, "block%d" % i)
h = layers.GlobalAveragePooling2D()(h)
outputs = layers.Dense(CLASSES, name="weave")(h)
model = keras.Model(inputs, outputs, name="fabric_resnet")
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
x_train, y_train = patches(32 * 110)
x_test, y_test = patches(800)
history = model.fit(x_train, y_train, batch_size=32, epochs=2, validation_data=(x_test, y_test), verbose=2)
print("test accuracy %.3f" % history.history["val_accuracy"][-1])
