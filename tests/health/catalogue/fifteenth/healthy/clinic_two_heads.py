"""One trunk, two clinics: clinic A labels a diagnosis, clinic B measures a lung volume."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 120)

LENGTH, CLASSES = 64, 4
BATCH, STEPS = 48, 1000
N_A, N_B, N_TEST = 2000, 2000, 600


def breaths(n):
    t = np.linspace(0, 1, LENGTH)
    rate = rng.uniform(2, 6, (n, 1))
    depth = rng.uniform(0.5, 1.5, (n, 1))
    wheeze = rng.integers(0, 2, (n, 1))
    crackle = rng.integers(0, 2, (n, 1))
    curve = depth * np.sin(2 * np.pi * (rate * t + rng.random((n, 1))))
    curve = curve + 0.4 * wheeze * np.sin(2 * np.pi * (18 * t + rng.random((n, 1))))
    spikes = (rng.random((n, LENGTH)) < 0.08) * 1.2
    curve = curve + crackle * spikes + 0.1 * rng.normal(size=(n, LENGTH))
    diagnosis = (2 * wheeze + crackle)[:, 0]
    volume = (depth / np.sqrt(rate))[:, 0]
    volume = (volume - 0.52) / 0.18
    return curve[..., None].astype("float32"), diagnosis.astype("int32"), volume.astype("float32")


xa, ya, _ = breaths(N_A)
xb, _, yb = breaths(N_B)
x_test, diag_test, vol_test = breaths(N_TEST)

inputs = keras.Input((LENGTH, 1))
h = keras.layers.Conv1D(16, 5, strides=2, activation="relu")(inputs)
h = keras.layers.Conv1D(24, 5, strides=2, activation="relu")(h)
h = keras.layers.Flatten()(h)
h = keras.layers.Dense(64, activation="relu")(h)
trunk = keras.Model(inputs, h, name="trunk")
features = trunk(inputs)
diagnosis = keras.layers.Dense(CLASSES, name="diagnosis")(features)
volume = keras.layers.Dense(1, name="volume")(features)
model = keras.Model(inputs, [diagnosis, volume])
head_a, head_b = model.get_layer("diagnosis"), model.get_layer("volume")

optimizer = keras.optimizers.Adam(1.5e-3)
optimizer.build(model.trainable_variables)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model, optimizer)


@tf.function
def step_a(x, y):
    variables = trunk.trainable_variables + head_a.trainable_variables
    with tf.GradientTape() as tape:
        loss = cross_entropy(y, model(x, training=True)[0])
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def step_b(x, y):
    variables = trunk.trainable_variables + head_b.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x, training=True)[1][:, 0]))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for step in range(STEPS):
    if step % 2 == 0:
        pick = rng.integers(N_A, size=BATCH)
        loss = step_a(tf.constant(xa[pick]), tf.constant(ya[pick]))
    else:
        pick = rng.integers(N_B, size=BATCH)
        loss = step_b(tf.constant(xb[pick]), tf.constant(yb[pick]))
    watch.log(loss=loss)
    if step % 100 < 2:
        print(f"step {step} {'AB'[step % 2]} loss {float(loss):.4f}")

logits, vol = model.predict(x_test, batch_size=200, verbose=0)
accuracy = np.mean(logits.argmax(axis=1) == diag_test)
r2 = 1.0 - np.mean((vol[:, 0] - vol_test) ** 2) / np.var(vol_test)
print(f"diagnosis accuracy {accuracy:.3f} volume R2 {r2:.3f}")
print("score", round(float(min(accuracy, r2)), 4))
