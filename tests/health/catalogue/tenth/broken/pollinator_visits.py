"""Which insect visits which plant: link prediction in a pollination network
from a table of (plant, insect, seen or not) records."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PLANTS, INSECTS = 300, 420
plant_traits = rng.normal(size=(PLANTS, 3))
insect_traits = rng.normal(size=(INSECTS, 3))
affinity = 3.0 * plant_traits @ insect_traits.T
plants, insects = [a.ravel() for a in np.meshgrid(np.arange(PLANTS), np.arange(INSECTS), indexing="ij")]
seen = (rng.random(affinity.shape) < 1 / (1 + np.exp(-affinity))).ravel().astype("float32")


class VisitModel(keras.Model):
    def __init__(self, dim=16):
        super().__init__(name="visits")
        self.plant = layers.Embedding(PLANTS, dim, name="plant")
        self.insect = layers.Embedding(INSECTS, dim, name="insect")
        self.mix = layers.Dense(128, activation="relu", name="mix")
        self.mix2 = layers.Dense(32, activation="relu", name="mix2")
        self.score = layers.Dense(1, name="score")

    def call(self, pair):
        p, i = self.plant(pair[:, 0]), self.insect(pair[:, 1])
        h = tf.concat([p, i, p * i], axis=-1)
        return tf.squeeze(self.score(self.mix2(self.mix(h))), -1)


model = VisitModel()
gradwatch.watch(model)
model(tf.zeros((1, 2), tf.int32))

# weight decay on the matrices, none on the rest
decay_vars = [v for v in model.trainable_variables if "kernel" in v.name]
plain_vars = [v for v in model.trainable_variables if "bias" in v.name]
opt_decay = keras.optimizers.AdamW(learning_rate=3e-3, weight_decay=1e-4)
opt_plain = keras.optimizers.Adam(learning_rate=3e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(pair, y):
    with tf.GradientTape() as tape:
        logit = model(pair, training=True)
        loss = bce(y, logit)
    g_decay, g_plain = tape.gradient(loss, (decay_vars, plain_vars))
    opt_decay.apply_gradients(zip(g_decay, decay_vars))
    opt_plain.apply_gradients(zip(g_plain, plain_vars))
    hit = tf.reduce_mean(tf.cast(tf.equal(logit > 0, y > 0.5), tf.float32))
    return loss, hit


pairs = np.stack([plants, insects], 1).astype("int32")
for step in range(400):
    idx = rng.integers(0, len(pairs), 12288)
    loss, hit = train_step(tf.constant(pairs[idx]), tf.constant(seen[idx]))
    if step % 40 == 0 or step == 399:
        print(f"step {step}: loss {float(loss):.4f} accuracy {float(hit):.3f}")
