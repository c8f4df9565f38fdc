"""Re-identify machined parts by their profile with a triplet loss.

Each part has a latent shape, seen through a fixed non-linear sensor with
nuisance factors.  An embedding is trained with batch-all triplets on 60 parts
and evaluated on 40 parts never seen: the score is the recall at 1 against a
gallery with one profile of each new part.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LATENT, NUISANCE, SENSOR = 8, 6, 48

mix = rng.normal(size=(LATENT + NUISANCE, 64)) / np.sqrt(LATENT)
out = rng.normal(size=(64, SENSOR)) / 8


def profiles(shapes, per_part):
    part = np.repeat(np.arange(len(shapes)), per_part)
    z = np.c_[shapes[part] + 0.12 * rng.normal(size=(len(part), LATENT)), 1.6 * rng.normal(size=(len(part), NUISANCE))]
    x = np.tanh(z @ mix) @ out + 0.02 * rng.normal(size=(len(part), SENSOR))
    return x.astype("float32"), part


train_x, train_part = profiles(rng.normal(size=(60, LATENT)), 40)
train_x = train_x.reshape(60, 40, SENSOR)
new_shapes = rng.normal(size=(40, LATENT))
gallery, gallery_part = profiles(new_shapes, 1)
query, query_part = profiles(new_shapes, 25)

model = keras.Sequential(
    [
        keras.layers.Input((SENSOR,)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(16),
        keras.layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, label):
    same = tf.equal(label[:, None], label[None, :])
    positive = same & ~tf.eye(tf.shape(label)[0], dtype=tf.bool)
    valid = tf.cast(positive[:, :, None] & ~same[:, None, :], tf.float32)
    with tf.GradientTape() as tape:
        z = model(x, training=True)
        dist = 2.0 - 2.0 * tf.matmul(z, z, transpose_b=True)
        hinge = valid * tf.nn.relu(dist[:, :, None] - dist[:, None, :] + 0.25)
        active = tf.reduce_sum(tf.cast(hinge > 1e-9, tf.float32))
        loss = tf.reduce_sum(hinge) / tf.maximum(active, 1.0)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, active / tf.reduce_sum(valid)


def recall_at_1():
    zq = model.predict(query, batch_size=500, verbose=0)
    zg = model.predict(gallery, verbose=0)
    return float(np.mean(gallery_part[(zq @ zg.T).argmax(1)] == query_part))


watch = gradwatch.watch(model, optimizer)
for step in range(600):
    parts = rng.choice(60, 10, replace=False)
    views = np.stack([rng.choice(40, 4, replace=False) for _ in parts])
    x = train_x[parts[:, None], views].reshape(-1, SENSOR)
    loss, share = train_step(tf.constant(x), tf.constant(np.repeat(parts, 4)))
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f} active triplets {float(share):.3f}")

score = recall_at_1()
print(f"score (recall at 1, new parts) {score:.3f} chance {1 / 40:.3f}")
