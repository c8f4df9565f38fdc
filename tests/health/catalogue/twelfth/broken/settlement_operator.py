"""Settlement of the ground under a raft.

A DeepONet surrogate of a slow geotechnical code: from soil and load parameters it gives the settlement (in metres) on
a grid of points. Custom loop in mixed precision.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
GRID = 24
BASIS = 48
BATCH = 64
STEPS = 300
TYPICAL = 0.01  # a settlement of one centimetre

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
axis = np.linspace(-1, 1, GRID)
points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def solve(n):
    """Sum of the dips under a distributed load and two columns, over the stiffness of the soil."""
    p = rng.uniform(-1, 1, (n, 8))
    stiffness = np.exp(0.5 * p[:, 0])
    width = 0.5 + 0.2 * p[:, 1]
    field = 0.6 * (1.5 + p[:, 2])[:, None] * np.exp(-np.sum(points**2, axis=1)[None] / (2 * width[:, None] ** 2))
    for load, x, y in ((p[:, 3], p[:, 4], p[:, 5]), (p[:, 6], p[:, 7], p[:, 1])):
        gap = (points[None, :, 0] - 0.6 * x[:, None]) ** 2 + (points[None, :, 1] - 0.6 * y[:, None]) ** 2
        field += 0.5 * (1 + load)[:, None] * np.exp(-gap / 0.25)
    return p.astype("float32"), (TYPICAL * field / stiffness[:, None]).astype("float32")


class DeepONet(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.branch = keras.Sequential(
            [
                layers.Dense(96, activation="gelu", name="branch_1"),
                layers.Dense(96, activation="gelu", name="branch_2"),
                layers.Dense(BASIS, name="branch_out"),
            ],
            name="branch",
        )
        self.trunk = keras.Sequential(
            [
                layers.Dense(64, activation="tanh", name="trunk_1"),
                layers.Dense(64, activation="tanh", name="trunk_2"),
                layers.Dense(BASIS, activation="tanh", name="trunk_out"),
            ],
            name="trunk",
        )

    def call(self, inputs):
        parameters, where = inputs
        product = tf.matmul(self.branch(parameters), self.trunk(where), transpose_b=True)
        return TYPICAL * tf.cast(product, tf.float32)


p_train, field_train = solve(3000)
p_test, field_test = solve(400)
where = tf.constant(points, tf.float32)

model = DeepONet(name="settlement")
gradwatch.watch(model)
model((tf.constant(p_train[:2]), where))
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(parameters, field):
    with tf.GradientTape() as tape:
        predicted = model((parameters, where), training=True)
        loss = tf.reduce_mean(tf.square(predicted - field))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((p_train, field_train)).shuffle(3000, seed=SEED).repeat().batch(BATCH)
for step, (parameters, field) in enumerate(data.take(STEPS)):
    loss = train_step(parameters, field)
    if step % 50 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  rms error {float(loss) ** 0.5 * 1000:7.3f} mm")

predicted = np.asarray(model((tf.constant(p_test), where)))
r2 = 1 - np.mean((predicted - field_test) ** 2) / field_test.var()
print(f"score R2 {r2:.4f} chance 0.0")
