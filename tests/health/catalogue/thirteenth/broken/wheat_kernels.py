"""Name the wheat variety (8 of them) from photographs of single kernels.

The seed station photographs one variety after another on a tray, so the archive is filed by
variety. Accuracy on a second harvest is reported.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VARIETIES, SIDE, PER_VARIETY = 8, 16, 480
BATCH, EPOCHS = 32, 4


def photographs(per_variety):
    """Kernels differ in length, width, groove depth and tilt; filed by variety."""
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    images, labels = [], []
    for v in range(VARIETIES):
        length = 0.55 + 0.35 * (v % 2)
        width = 0.30 + 0.25 * ((v // 2) % 2)
        groove = 0.6 * (v // 4)
        for _ in range(per_variety):
            a = rng.normal(0, 0.25)
            u = xx * np.cos(a) + yy * np.sin(a)
            w = -xx * np.sin(a) + yy * np.cos(a)
            r = (u / (length + rng.normal(0, 0.03))) ** 2 + (w / (width + rng.normal(0, 0.02))) ** 2
            image = np.exp(-(r**2)) - groove * np.exp(-((w / 0.1) ** 2) - r)
            images.append(image + rng.normal(0, 0.08, image.shape))
            labels.append(v)
    return np.array(images, "float32")[..., None], np.array(labels, "int32")


def pipeline(x, y):
    data = tf.data.Dataset.from_tensor_slices((x, y))
    data = data.batch(BATCH).shuffle(len(x), seed=SEED)
    return data.prefetch(tf.data.AUTOTUNE)


class KernelNet(keras.Model):
    def __init__(self):
        super().__init__(name="kernel_net")
        self.stages = []
        for width in (16, 32):
            self.stages.append(layers.Conv2D(width, 3, padding="same", use_bias=False))
            self.stages.append(layers.BatchNormalization())
            self.stages.append(layers.ReLU())
            self.stages.append(layers.MaxPooling2D(2))
        self.flat = layers.Flatten()
        self.out = layers.Dense(VARIETIES)

    def call(self, x, training=False):
        for stage in self.stages:
            x = stage(x, training=training) if isinstance(stage, layers.BatchNormalization) else stage(x)
        return self.out(self.flat(x))


x_train, y_train = photographs(PER_VARIETY)
x_test, y_test = photographs(100)

model = KernelNet()
model(x_train[:1])
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(pipeline(x_train, y_train), epochs=EPOCHS, verbose=0)
print("loss by epoch", np.round(history.history["loss"], 3))

predicted = model.predict(x_test, verbose=0).argmax(1)
print(f"score accuracy {np.mean(predicted == y_test):.3f} chance {1 / VARIETIES:.3f}")
