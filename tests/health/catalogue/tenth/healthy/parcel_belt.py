"""Total weight of the marked parcels on a conveyor belt, read one by one; the belts get longer as training goes
on."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH = 64
PLAN = [(4, 130), (9, 120), (20, 120)]  # belt length, training steps


def draw_belts(length):
    weight = rng.uniform(-1, 1, (BATCH, length, 1))
    marked = rng.random((BATCH, length, 1)) < 0.6
    total = (weight * marked).sum(1)
    return tf.constant(np.concatenate([weight, marked], -1), tf.float32), tf.constant(total, tf.float32)


belt = tf.keras.Input((None, 2))
h = tf.keras.layers.GRU(72, name="reader")(belt)
total = tf.keras.layers.Dense(1, name="total")(h)
model = tf.keras.Model(belt, total)
gradwatch.watch(model)
optimizer = tf.keras.optimizers.Adam(5e-3)


@tf.function(input_signature=[tf.TensorSpec((BATCH, None, 2)), tf.TensorSpec((BATCH, 1))])
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


step = 0
for length, count in PLAN:
    for _ in range(count):
        loss = train_step(*draw_belts(length))
        if step % 20 == 0:
            print(f"{step:4d} belt {length:2d} loss {float(loss):.4f}")
        step += 1
print(f"end: loss {float(loss):.4f}")
