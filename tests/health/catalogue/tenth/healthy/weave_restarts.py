"""Classify cloth weaves from camera patches labelled in haste (about a quarter of the tags are wrong), with warm
restarts."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, SIDE, KINDS, BATCH, EPOCHS = 3200, 20, 5, 64, 6


def make_patches():
    kind = rng.integers(0, KINDS, N)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    phase = rng.uniform(0, 6.28, (2, N, 1, 1))
    fx = np.array([0.8, 0.0, 0.8, 1.6, 0.8])[kind][:, None, None]
    fy = np.array([0.0, 0.8, 0.8, 0.8, -1.6])[kind][:, None, None]
    img = (
        np.sin(fx * xx + fy * yy + phase[0])
        + 0.4 * np.sin(2 * fx * xx + phase[1])
        + rng.normal(0, 0.5, (N, SIDE, SIDE))
    )
    tag = np.where(rng.random(N) < 0.25, (kind + rng.integers(1, KINDS, N)) % KINDS, kind)
    return img[..., None].astype("float32"), tag.astype("int32"), kind.astype("int32")


@tf.keras.utils.register_keras_serializable()
class WarmupThenRestarts(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, first):
        self.peak, self.warmup, self.first = peak, warmup, first
        self.restarts = tf.keras.optimizers.schedules.CosineDecayRestarts(peak, first, t_mul=1.5, m_mul=0.8, alpha=0.01)

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return tf.where(
            step < self.warmup, self.peak * (step + 1) / self.warmup, self.restarts(tf.maximum(step - self.warmup, 0.0))
        )

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "first": self.first}


def conv(filters, stride, name):
    return [
        tf.keras.layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False, name=name),
        tf.keras.layers.BatchNormalization(momentum=0.9, name=name + "_bn"),
        tf.keras.layers.ReLU(),
    ]


model = tf.keras.Sequential(
    [tf.keras.Input((SIDE, SIDE, 1))]
    + conv(12, 1, "c1")
    + conv(16, 2, "c2")
    + conv(24, 2, "c3")
    + [tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(KINDS, name="weave")]
)
gradwatch.watch(model)

patches, tags, truth = make_patches()
model.compile(
    optimizer=tf.keras.optimizers.SGD(WarmupThenRestarts(0.4, 30, 80), momentum=0.9, nesterov=True),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(patches, tags, batch_size=BATCH, epochs=EPOCHS, verbose=2)
print("agreement with the true weave:", float((model.predict(patches, verbose=0).argmax(-1) == truth).mean()))
