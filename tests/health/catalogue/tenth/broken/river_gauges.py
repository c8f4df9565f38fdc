"""Predict the peak flow of a catchment from whatever gauges reported that day (a varying number per catchment)."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FEATURES, BATCH, STEPS = 6, 24, 220


def draw_day():
    """One batch of catchments; gauges drop out in storms."""
    feats, owner, target = [], [], []
    for c in range(BATCH):
        wet = rng.gamma(2.0, 0.5)
        installed = rng.integers(4, 14)
        g = rng.normal(0, 0.4, (installed, FEATURES)) + wet * np.linspace(0.3, 1.2, FEATURES)
        up = rng.random(installed) > 0.12 + 0.1 * min(wet, 4.0)
        feats.append(g[up])
        owner.append(np.full(int(up.sum()), c))
        target.append(1.5 * wet + 0.3 * wet**2)
    return (
        tf.constant(np.concatenate(feats), tf.float32),
        tf.constant(np.concatenate(owner), tf.int32),
        tf.constant(np.array(target), tf.float32),
    )


class CatchmentNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.gauge1 = tf.keras.layers.Dense(1280, activation="swish", name="gauge1")
        self.gauge2 = tf.keras.layers.Dense(1280, activation="swish", name="gauge2")
        self.head1 = tf.keras.layers.Dense(128, activation="swish", name="head1")
        self.head2 = tf.keras.layers.Dense(1, name="head2")

    def call(self, inputs):
        gauges, owner = inputs
        z = self.gauge2(self.gauge1(gauges))
        total = tf.math.unsorted_segment_sum(z, owner, BATCH)
        count = tf.math.unsorted_segment_sum(tf.ones_like(z[:, :1]), owner, BATCH)
        pooled = total / count
        return self.head2(self.head1(pooled))[:, 0]


model = CatchmentNet()
gradwatch.watch(model)
model((tf.zeros((BATCH, FEATURES)), tf.range(BATCH)))
optimizer = tf.keras.optimizers.RMSprop(3e-4)


@tf.function(
    input_signature=[tf.TensorSpec((None, FEATURES)), tf.TensorSpec((None,), tf.int32), tf.TensorSpec((BATCH,))]
)
def update(gauges, owner, target):
    with tf.GradientTape() as tape:
        flow = model((gauges, owner), training=True)
        loss = tf.reduce_mean(tf.abs(flow - target))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = update(*draw_day())
    if step % 20 == 0 or step == STEPS - 1:
        print(f"{step:4d} mean abs error {float(loss):.3f}")
