"""Learn features of bearing vibration without labels, with VICReg.

Two augmented views (shift, gain, noise) of each window go through a small
Conv1D encoder and an expander; the loss has an invariance, a variance and a
covariance term.  A ridge probe fitted on the frozen encoder with 60 labelled
windows gives the score, its accuracy on new windows (five fault types).
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LENGTH, KINDS = 128, 5


def make_windows(n):
    kind = rng.integers(0, KINDS, n)
    t = np.arange(LENGTH)
    base = np.array([5.0, 8.0, 11.0, 15.0, 20.0])[kind] * rng.uniform(0.92, 1.08, n)
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    wave = np.sin(2 * np.pi * base[:, None] * t / LENGTH + phase)
    side = np.where(kind % 2 == 0, 0.7, 0.1)[:, None]
    wave = wave + side * np.sin(4 * np.pi * base[:, None] * t / LENGTH + 2 * phase)
    wave = wave * rng.uniform(0.6, 1.4, (n, 1)) + 0.9 * rng.normal(size=(n, LENGTH))
    return wave.astype("float32")[..., None], kind


unlabelled, _ = make_windows(4000)
x_probe, y_probe = make_windows(60)
x_test, y_test = make_windows(1500)

encoder = keras.Sequential(
    [
        keras.layers.Input((LENGTH, 1)),
        keras.layers.Conv1D(16, 9, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(32, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
    ],
    name="encoder",
)
expander = keras.Sequential(
    [
        keras.layers.Input((32,)),
        keras.layers.Dense(64),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.Dense(64),
    ],
    name="expander",
)
model = keras.Sequential([keras.layers.Input((LENGTH, 1)), encoder, expander])
optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-4)
optimizer.build(model.trainable_variables)


def augment(x):
    n = tf.shape(x)[0]
    x = tf.roll(x, tf.random.uniform([], 0, LENGTH, tf.int32), axis=1)
    x = x * tf.random.uniform([n, 1, 1], 0.6, 1.5)
    return x + 0.3 * tf.random.normal(tf.shape(x))


def spread(z):
    z = z - tf.reduce_mean(z, axis=0)
    n = tf.cast(tf.shape(z)[0], tf.float32)
    std = tf.sqrt(tf.reduce_sum(z * z, axis=0) / (n - 1) + 1e-4)
    cov = tf.matmul(z, z, transpose_a=True) / (n - 1)
    off = cov - tf.linalg.diag(tf.linalg.diag_part(cov))
    return tf.reduce_mean(tf.nn.relu(1.0 - std)), tf.reduce_sum(off * off) / z.shape[1]


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        za = model(augment(x), training=True)
        zb = model(augment(x), training=True)
        var_a, cov_a = spread(za)
        var_b, cov_b = spread(zb)
        same = tf.reduce_mean(tf.square(za - zb))
        loss = 25.0 * same + 12.5 * (var_a + var_b) + 0.5 * (cov_a + cov_b)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


watch = gradwatch.watch(model, optimizer)
data = tf.data.Dataset.from_tensor_slices(unlabelled).shuffle(4000).repeat().batch(128)
for i, x in enumerate(data.take(400)):
    loss = train_step(x)
    watch.log(loss=loss)
    if i % 50 == 0:
        print(f"step {i} loss {float(loss):.3f}")

f_probe = encoder.predict(x_probe, verbose=0)
f_test = encoder.predict(x_test, batch_size=500, verbose=0)
mean, std = f_probe.mean(0), f_probe.std(0) + 1e-6
a = np.c_[(f_probe - mean) / std, np.ones(len(f_probe))]
b = np.c_[(f_test - mean) / std, np.ones(len(f_test))]
w = np.linalg.solve(a.T @ a + np.eye(a.shape[1]), a.T @ np.eye(KINDS)[y_probe])
score = float(np.mean((b @ w).argmax(1) == y_test))
print(f"score (probe accuracy) {score:.3f} chance {1 / KINDS:.3f}")
