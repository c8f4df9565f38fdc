"""Direction of gravity in the body frame from a cheap, distorted three-axis sensor plus temperature."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MISALIGN = np.array([[1.0, 0.25, -0.1], [0.05, 0.8, 0.2], [-0.15, 0.1, 1.2]])
OFFSET = np.array([0.15, -0.3, 0.2])


def measure(n):
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    temperature = rng.uniform(-1, 1, (n, 1))
    raw = direction @ MISALIGN.T + OFFSET * (1 + 0.5 * temperature)
    raw = np.tanh(0.9 * raw) + 0.1 * temperature * raw[:, ::-1]
    raw = raw + 0.004 * rng.normal(size=raw.shape)
    return np.hstack([raw, temperature]).astype("float32"), direction.astype("float32")


readings, directions = measure(20000)
test_readings, test_directions = measure(3000)


class UnitVector(keras.layers.Layer):
    def call(self, x):
        return tf.math.l2_normalize(x, axis=-1)


model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(96, activation="tanh", name="calib_1"),
        keras.layers.Dense(96, activation="tanh", name="calib_2"),
        keras.layers.Dense(3, name="raw_direction"),
        UnitVector(name="unit"),
    ],
    name="tilt",
)

schedule = keras.optimizers.schedules.CosineDecay(3e-3, 3000, alpha=0.02)
optimizer = keras.optimizers.Adam(schedule)
optimizer.build(model.trainable_variables)


def angle_between(predicted, true):
    cosine = tf.reduce_sum(predicted * true, axis=-1)
    return tf.acos(cosine)


@tf.function(jit_compile=True)
def step(x, d):
    with tf.GradientTape() as tape:
        predicted = model(x, training=True)
        loss = tf.reduce_mean(angle_between(predicted, d))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

batch = 128
n = len(readings)
done = 0
for epoch in range(20):
    order = rng.permutation(n)
    total = []
    for start in range(0, n - batch + 1, batch):
        pick = order[start : start + batch]
        total.append(float(step(tf.constant(readings[pick]), tf.constant(directions[pick]))))
        done += 1
    print(f"epoch {epoch + 1:2d}  step {done:5d}  mean angle {np.degrees(np.mean(total)):.3f} deg")

predicted = model(test_readings).numpy()
cosine = np.clip((predicted * test_directions).sum(axis=1), -1, 1)
print(f"SCORE mean_error_degrees {np.degrees(np.arccos(cosine)).mean():.4f}")
