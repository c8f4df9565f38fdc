"""Tell quakes, quarry blasts and traffic apart from three-component seismograph windows with a small attention
model."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED)

FRAMES, FEATS, BATCH, STEPS = 20, 9, 24, 200


def draw_windows():
    kind = rng.integers(0, 3, BATCH)
    t = np.arange(FRAMES)[None, :, None]
    onset = rng.integers(3, 9, (BATCH, 1, 1))
    decay = np.array([6.0, 2.0, 30.0])[kind][:, None, None]
    tone = np.array([0.5, 1.1, 0.2])[kind][:, None, None]
    shape = np.where(t >= onset, np.exp(-(t - onset) / decay), 0.05)
    lanes = np.arange(FEATS)[None, None, :]
    wave = shape * (1.0 + 0.8 * np.sin(tone * (t + 2 * lanes)))
    counts = rng.lognormal(2.0, 0.75, (BATCH, 1, 1)) * wave + rng.normal(0, 0.3, (BATCH, FRAMES, FEATS))
    return tf.constant(counts, tf.float32), tf.constant(kind, tf.int32)


class FrameAttention(tf.keras.layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.q = tf.keras.layers.Dense(width, name="q")
        self.k = tf.keras.layers.Dense(width, name="k")
        self.v = tf.keras.layers.Dense(width, name="v")

    def build(self, shape):
        for d in (self.q, self.k, self.v):
            d.build(shape)
        self.built = True

    def call(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = tf.matmul(q, k, transpose_b=True)
        return tf.matmul(tf.nn.softmax(scores), v)


inp = tf.keras.Input((FRAMES, FEATS))
h = tf.keras.layers.Dense(96, activation="relu", name="frame")(inp)
h = FrameAttention(96, name="attend")(h)
h = tf.keras.layers.LayerNormalization(name="norm")(h)
h = tf.keras.layers.GlobalAveragePooling1D()(h)
h = tf.keras.layers.Dense(32, activation="relu", name="fc")(h)
out = tf.keras.layers.Dense(3, dtype="float32", name="logits")(h)
model = tf.keras.Model(inp, out)
gradwatch.watch(model)
optimizer = tf.keras.optimizers.Adam(2e-3)
xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = xent(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*draw_windows())
    if step % 20 == 0 or step == STEPS - 1:
        print(f"step {step:3d}  loss {float(loss):.4f}")
