import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, CLASSES = 48, 12
grid = np.arange(LENGTH) / LENGTH
shapes = [
    np.sin(2 * np.pi * (1 + k // 2) * grid)
    + (0.8 * np.sign(np.sin(2 * np.pi * (3 + k) * grid)) if k % 2 else 0.8 * np.cos(2 * np.pi * (5 + k) * grid))
    for k in range(CLASSES)
]
shapes = np.array(shapes)


def record(n):
    kind = rng.integers(0, CLASSES, n)
    roll = rng.integers(0, LENGTH, n)
    x = np.stack([np.roll(shapes[k], r) for k, r in zip(kind, roll)])
    return x.astype("float32"), kind


def augment(x):
    n = tf.shape(x)[0]
    shift = tf.random.uniform((n, 1), 0, LENGTH, tf.int32)
    index = (tf.range(LENGTH)[None] + shift) % LENGTH
    x = tf.gather(x, index, batch_dims=1)
    x = x * tf.random.uniform((n, 1), 0.6, 1.4)
    return (x + 0.6 * tf.random.normal(tf.shape(x)))[..., None]


encoder = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        keras.layers.Conv1D(32, 7, padding="same", activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(48, 5, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(24),
    ]
)


def nt_xent(z1, z2, temperature=0.2):
    n = tf.shape(z1)[0]
    z = tf.reshape(tf.stack([z1, z2], axis=1), (2 * n, -1))
    z = tf.math.l2_normalize(z, axis=1)
    sim = tf.matmul(z, z, transpose_b=True) / temperature
    sim = sim - 1e9 * tf.eye(2 * n)
    target = tf.concat([tf.range(n) + n, tf.range(n)], axis=0)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, sim))


optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(encoder)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        z1 = encoder(augment(x), training=True)
        z2 = encoder(augment(x), training=True)
        loss = nt_xent(z1, z2)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    watch.log(loss=loss)
    return loss


x_train, k_train = record(4000)
x_test, k_test = record(800)
for epoch in range(12):
    order = rng.permutation(len(x_train))
    losses = [float(step(tf.constant(x_train[order[i : i + 64]]))) for i in range(0, 3968, 64)]
    print(epoch, np.mean(losses))

normed = lambda x: tf.math.l2_normalize(encoder(augment(tf.constant(x))), axis=1).numpy()
near = np.argsort(-normed(x_test) @ normed(x_train).T, axis=1)[:, :5]
votes = np.array([np.bincount(k_train[row], minlength=CLASSES).argmax() for row in near])
print("SCORE", float(np.mean(votes == k_test)))
