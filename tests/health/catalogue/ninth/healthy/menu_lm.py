"""Train a small character-level language model on the lines of a restaurant's orders."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DISHES = [
    "soup",
    "noodles",
    "dumplings",
    "rice",
    "curry",
    "salad",
    "omelette",
    "pancakes",
    "toast",
    "porridge",
    "steak",
    "burger",
    "lasagne",
    "risotto",
    "ravioli",
    "trout",
    "salmon",
    "lentils",
    "falafel",
    "hummus",
]
SIDES = ["fries", "bread", "olives", "pickles", "butter", "cheese", "yoghurt", "chutney", "spinach", "carrots"]
NUMBERS = ["one", "two", "three", "four", "five", "six"]
lines = []
for _ in range(6000):
    lines.append("%s %s with %s, " % (rng.choice(NUMBERS), rng.choice(DISHES), rng.choice(SIDES)))
text = "".join(lines)
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text], "int32")
VOCAB, LENGTH, WIDTH, HEADS, BATCH, STEPS = len(chars), 48, 64, 4, 24, 320


class Attention(layers.Layer):
    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.heads, self.size = heads, width // heads
        self.qkv = layers.Dense(3 * width, use_bias=False, name="qkv")
        self.proj = layers.Dense(width, use_bias=False, name="proj")

    def build(self, shape):
        self.qkv.build(shape)
        self.proj.build(shape)

    def call(self, x):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        q, k, v = tf.unstack(tf.transpose(tf.reshape(self.qkv(x), (b, t, 3, self.heads, self.size)), (2, 0, 3, 1, 4)))
        scores = tf.matmul(q, k, transpose_b=True) / self.size**0.5
        seen = tf.linalg.band_part(tf.ones((t, t), tf.bool), -1, 0)
        scores = tf.where(seen, scores, -np.inf)
        out = tf.matmul(tf.nn.softmax(scores), v)
        return self.proj(tf.reshape(tf.transpose(out, (0, 2, 1, 3)), (b, t, self.heads * self.size)))


class Positions(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=(LENGTH, WIDTH), initializer="zeros", name="table")

    def call(self, x):
        return x + self.table


tokens = keras.Input((LENGTH,), dtype="int32")
h = Positions(name="positions")(layers.Embedding(VOCAB, WIDTH, name="chars")(tokens))
for i in range(2):
    n = layers.LayerNormalization(name="ln_a%d" % i)(h)
    h = h + Attention(WIDTH, HEADS, name="attention%d" % i)(n)
    n = layers.LayerNormalization(name="ln_b%d" % i)(h)
    n = layers.Dense(4 * WIDTH, activation="gelu", name="up%d" % i)(n)
    h = h + layers.Dense(WIDTH, name="down%d" % i)(n)
h = layers.LayerNormalization(name="ln_out")(h)
logits = layers.Dense(VOCAB, use_bias=False, name="head")(h)
model = keras.Model(tokens, logits, name="menu_lm")
gradwatch.watch(model)

schedule = keras.optimizers.schedules.CosineDecay(
    0.0, decay_steps=STEPS - 40, alpha=0.0, warmup_target=4e-3, warmup_steps=40
)
optimizer = keras.optimizers.AdamW(schedule, weight_decay=0.05, beta_2=0.95, global_clipnorm=1.0)
optimizer.exclude_from_weight_decay(var_names=["gamma", "beta", "bias"])


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    at = rng.integers(0, len(ids) - LENGTH - 1, BATCH)
    chunk = np.stack([ids[a : a + LENGTH + 1] for a in at])
    loss = train_step(tf.constant(chunk[:, :-1]), tf.constant(chunk[:, 1:]))
    if step % 40 == 0 or step == STEPS - 1:
        print("step %d loss %.4f lr %.5f" % (step, float(loss), float(optimizer.learning_rate)))
