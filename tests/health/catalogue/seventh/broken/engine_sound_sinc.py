"""Band-pass front end with learned cut-offs (SincNet) for engine fault sounds."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

RATE = 4000.0
LENGTH = 800
N = 1200


def make_clips(n):
    t = np.arange(LENGTH) / RATE
    label = rng.integers(0, 3, n)
    base = np.array([180.0, 420.0, 900.0])[label]
    freq = base * rng.uniform(0.9, 1.1, n)
    phase = rng.uniform(0, 6.28, n)
    clip = np.sin(2 * np.pi * freq[:, None] * t + phase[:, None])
    clip = clip + 0.6 * np.sin(2 * np.pi * 60 * t) + rng.normal(0, 1.0, clip.shape)
    return clip[..., None].astype("float32"), label.astype("int32")


class SincConv(layers.Layer):
    def __init__(self, filters, width, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.width = width

    def build(self, input_shape):
        edges = np.linspace(60.0, 1300.0, self.filters + 1) / RATE
        self.low = self.add_weight(shape=(self.filters,), initializer=keras.initializers.Constant(0.0), name="low")
        self.band = self.add_weight(shape=(self.filters,), initializer="zeros", name="band")
        self.low.assign(edges[:-1])
        self.band.assign(np.diff(edges))
        half = self.width // 2
        self.n = tf.range(-half, half + 1, dtype=tf.float32)[:, None]
        self.window = tf.signal.hamming_window(self.width, periodic=False)[:, None]

    def sinc(self, x):
        return tf.where(tf.equal(x, 0.0), tf.ones_like(x), tf.sin(x) / x)

    def call(self, inputs):
        f1 = tf.abs(self.low)
        f2 = f1 + tf.abs(self.band)
        wide = 2.0 * f2 * self.sinc(2.0 * np.pi * f2 * self.n)
        narrow = 2.0 * f1 * self.sinc(2.0 * np.pi * f1 * self.n)
        kernel = (wide - narrow) * self.window
        return tf.nn.conv1d(inputs, kernel[:, None, :], stride=2, padding="SAME")


clip_in = keras.Input((LENGTH, 1))
h = SincConv(12, 65, name="sinc_conv")(clip_in)
h = layers.BatchNormalization()(h)
h = layers.Activation("relu")(h)
h = layers.MaxPooling1D(8)(h)
h = layers.Conv1D(16, 5, activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
logits = layers.Dense(3)(h)
net = keras.Model(clip_in, logits)

loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Nadam(2e-3)
x, y = make_clips(N)
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(N, seed=SEED).batch(32).repeat()


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        out = net(xb, training=True)
        loss = loss_fn(yb, out)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    hits = tf.equal(tf.argmax(out, -1, output_type=tf.int32), yb)
    return loss, tf.reduce_mean(tf.cast(hits, tf.float32))


gradwatch.watch(net)
for step, (xb, yb) in enumerate(batches.take(200)):
    loss, acc = train_step(xb, yb)
    if step % 20 == 0:
        print(f"step {step:4d} loss {float(loss):.4f} acc {float(acc):.3f}")
