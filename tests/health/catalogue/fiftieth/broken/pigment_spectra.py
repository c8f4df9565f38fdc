# Which pigment is in the paint layer?  Reflectance spectra (96 channels, read as 24 windows of 4),
# a two-block transformer in mixed precision, so that it fits the handheld instrument.
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.RandomState(SEED + 1)

PIGMENTS, CHANNELS, WINDOW, WIDTH = 6, 96, 4, 32
centres = rng.uniform(8, CHANNELS - 8, (PIGMENTS, 3))
widths = rng.uniform(2.0, 5.0, (PIGMENTS, 3))


def measure(n):
    kind = rng.randint(PIGMENTS, size=n)
    grid = np.arange(CHANNELS)
    bands = np.exp(
        -0.5
        * ((grid[None, None] - centres[kind][..., None] - rng.normal(0, 1, (n, 1, 1))) / widths[kind][..., None]) ** 2
    )
    gloss = rng.lognormal(0.0, 0.5, (n, 1))
    counts = gloss * (14.0 * (bands * rng.uniform(0.5, 1.5, (n, 3, 1))).sum(1) + 1.0)
    counts += rng.normal(0, 0.5, (n, CHANNELS))
    return counts.reshape(n, CHANNELS // WINDOW, WINDOW).astype("float32"), kind.astype("int32")


class Attention(keras.layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.width = width
        self.query = keras.layers.Dense(width)
        self.key = keras.layers.Dense(width)
        self.value = keras.layers.Dense(width)

    def call(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = tf.matmul(q, k, transpose_b=True) / (self.width**0.5)
        scores = scores - tf.reduce_max(scores, axis=-1, keepdims=True)
        weights = tf.exp(scores)
        weights = weights / tf.reduce_sum(weights, axis=-1, keepdims=True)
        return tf.matmul(weights, v)


def make_model():
    inp = keras.Input((CHANNELS // WINDOW, WINDOW))
    place = keras.layers.Embedding(CHANNELS // WINDOW, WIDTH)(tf.range(CHANNELS // WINDOW))
    h = keras.layers.Dense(WIDTH)(inp) + place
    for _ in range(2):
        h = h + Attention(WIDTH)(h)
        h = h + keras.layers.Dense(WIDTH)(keras.layers.Dense(2 * WIDTH, activation="relu")(h))
    h = keras.layers.GlobalAveragePooling1D()(keras.layers.LayerNormalization()(h))
    return keras.Model(inp, keras.layers.Dense(PIGMENTS, dtype="float32")(h))


x_train, y_train = measure(5000)
x_test, y_test = measure(800)
model = make_model()
opt = keras.optimizers.Adam(2e-3, epsilon=1e-5)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


stream = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).repeat().batch(32)
for i, (x, y) in enumerate(stream.take(1500)):
    loss = train_step(x, y)
    if i % 100 == 0:
        print(i, float(loss))

hits = np.argmax(model(x_test).numpy(), 1) == y_test
print("SCORE accuracy", round(float(hits.mean()), 4))
