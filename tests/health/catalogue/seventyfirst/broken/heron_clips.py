import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

STEPS = 24
FEATURES = 10
SPECIES = 5


def make_clips(n):
    clips = rng.normal(0.0, 1.0, (n, STEPS, FEATURES)).astype("float32")
    species = rng.integers(0, SPECIES, n)
    others = rng.integers(0, SPECIES, (n, STEPS))
    clips[:, :, :SPECIES] += 2.0 * np.eye(SPECIES)[others]
    call_at = rng.integers(0, STEPS, n)
    rows = np.arange(n)
    clips[rows, call_at, :SPECIES] = 2.5 * np.eye(SPECIES)[species]
    clips[:, :, -1] *= 0.3
    clips[rows, call_at, -1] += 3.0
    return clips, species


class FrameAttention(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.project = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1)

    def call(self, frames):
        scores = self.score(self.project(frames))
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.reduce_sum(weights * frames, axis=1)


def build_model():
    inputs = keras.Input((STEPS, FEATURES))
    frames = layers.Dense(24, name="frame_embed")(inputs)
    pooled = FrameAttention(16, name="frame_attention")(frames)
    hidden = layers.Dense(32, activation="relu", name="hidden")(pooled)
    outputs = layers.Dense(SPECIES, name="species")(hidden)
    return keras.Model(inputs, outputs)


train_x, train_y = make_clips(3000)
test_x, test_y = make_clips(1000)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=64, epochs=15, validation_split=0.1, verbose=2)
_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("SCORE", round(float(accuracy), 4))
