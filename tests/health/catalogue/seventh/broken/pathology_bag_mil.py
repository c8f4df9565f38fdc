"""Attention pooling over the patches of a slide; one marked patch carries the grade."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PATCHES, FEATURES = 24, 16


def make_slides(n):
    """Feature 0..3 tell whether a patch is tumour, feature 4 is its grade."""
    slides = rng.normal(0, 1, (n, PATCHES, FEATURES))
    slides[:, :, :4] -= 1.0
    where = rng.integers(0, PATCHES, n)
    slides[np.arange(n), where, :4] += 3.0
    grade = slides[np.arange(n), where, 4] - 0.5 * slides[np.arange(n), where, 5]
    return slides.astype("float32"), grade[:, None].astype("float32")


x_train, y_train = make_slides(4000)
x_val, y_val = make_slides(500)


class PatchAttention(layers.Layer):
    """Weighted sum of the patches; the weights come from a small gate network."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.value = layers.Dense(width)
        self.gate = layers.Dense(32, activation="tanh")
        self.score = layers.Dense(1)

    def call(self, patches):
        score = self.score(self.gate(patches))
        weight = tf.nn.softmax(score)
        return tf.reduce_sum(weight * self.value(patches), axis=1)


slide = keras.Input((PATCHES, FEATURES), name="slide")
context = PatchAttention(24, name="patch_attention")(slide)
h = layers.Dense(24, activation="relu", name="mixer")(context)
grade_out = layers.Dense(1, name="grade")(h)
model = keras.Model(slide, grade_out, name="slide_grader")

model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=9,
    validation_data=(x_val, y_val),
    verbose=2,
)

pred = model.predict(x_val, verbose=0)
print("variance of the grade", float(y_val.var()))
print("left over after the model", float(((pred - y_val) ** 2).mean()))
print("correlation", float(np.corrcoef(pred[:, 0], y_val[:, 0])[0, 1]))
