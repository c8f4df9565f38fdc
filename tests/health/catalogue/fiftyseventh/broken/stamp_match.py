import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

images, labels = load_digits(return_X_y=True)
images = (images / 16.0).reshape(-1, 8, 8, 1).astype("float32")
order = rng.permutation(len(images))
train, test = order[:1200], order[1200:]

encoder = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(16),
        keras.layers.UnitNormalization(),
    ]
)


def pairwise_distances(z):
    dot = tf.matmul(z, z, transpose_b=True)
    sq = tf.linalg.diag_part(dot)
    d2 = sq[:, None] - 2.0 * dot + sq[None, :]
    return tf.sqrt(tf.maximum(d2, 0.0))


def batch_hard_loss(labels, z, margin=0.4):
    dist = pairwise_distances(z)
    same = tf.equal(labels[:, None], labels[None, :])
    positive = tf.cast(same, tf.float32)
    hardest_pos = tf.reduce_max(dist * positive, axis=1)
    far = tf.reduce_max(dist, axis=1, keepdims=True)
    hardest_neg = tf.reduce_min(dist + far * tf.cast(same, tf.float32), axis=1)
    return tf.reduce_mean(tf.nn.relu(hardest_pos - hardest_neg + margin))


optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(encoder)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = batch_hard_loss(y, encoder(x, training=True))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    watch.log(loss=loss)
    return loss


for it in range(600):
    picked = rng.choice(train, 72, replace=False)
    loss = step(tf.constant(images[picked]), tf.constant(labels[picked]))
    if it % 100 == 0:
        print(it, float(loss))

z_train = encoder.predict(images[train], verbose=0)
z_test = encoder.predict(images[test], verbose=0)
nearest = np.argmax(z_test @ z_train.T, axis=1)
print("SCORE", float(np.mean(labels[train][nearest] == labels[test])) if np.isfinite(z_test).all() else float("nan"))
