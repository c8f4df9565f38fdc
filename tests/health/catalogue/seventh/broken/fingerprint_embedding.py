"""Identity embeddings in the plane with an additive angular margin (for a plot in a report)."""

import math
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

IDENTITIES = 6
FEATURES = 40
SCALE = 16.0
MARGIN = 0.1

centres = rng.normal(0, 1, (IDENTITIES, FEATURES))


def minutiae_batch(n):
    who = rng.integers(0, IDENTITIES, n)
    x = centres[who] + rng.normal(0, 0.8, (n, FEATURES))
    return x.astype("float32"), who.astype("int32")


encoder = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        layers.Dense(64, activation="elu"),
        layers.Dense(64, activation="elu"),
        layers.Dense(2, name="plane"),
    ],
    name="encoder",
)


class AngularHead(layers.Layer):
    def build(self, input_shape):
        self.proxies = self.add_weight(shape=(input_shape[-1], IDENTITIES), initializer="glorot_normal", name="proxies")

    def call(self, embedding, labels):
        e = tf.math.l2_normalize(embedding, axis=1)
        w = tf.math.l2_normalize(self.proxies, axis=0)
        cosine = tf.matmul(e, w)
        angle = tf.acos(cosine)
        target = tf.one_hot(labels, IDENTITIES)
        return SCALE * tf.cos(angle + MARGIN * target), cosine


head = AngularHead(name="angular_head")
head.build((None, 2))
variables = encoder.trainable_variables + head.trainable_variables
optimizer = keras.optimizers.Adam(3e-3)
optimizer.build(variables)


@tf.function(jit_compile=True)
def train_step(x, who):
    with tf.GradientTape() as tape:
        logits, cosine = head(encoder(x, training=True), who)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=who, logits=logits))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    hit = tf.cast(tf.equal(tf.argmax(cosine, 1, output_type=tf.int32), who), tf.float32)
    return loss, tf.reduce_mean(hit)


gradwatch.watch(encoder)
for step in range(500):
    x, who = minutiae_batch(16)
    loss, acc = train_step(tf.constant(x), tf.constant(who))
    if step % 50 == 0 or step == 499:
        print(f"step {step} loss {float(loss):.4f} acc {float(acc):.3f}")
print("margin in degrees:", round(math.degrees(MARGIN), 2))
