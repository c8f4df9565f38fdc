"""Match product photos with their titles by a two-tower contrastive model."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BATCH, EPOCHS, DIM, TEMPERATURE = 64, 12, 32, 0.07
WORDS, TITLE, SIZE, ATTRS = 120, 6, 12, 6

colour = rng.normal(0, 1, (ATTRS, 10, SIZE, SIZE)).astype("float32")


def make_products(n):
    attr = rng.integers(0, 10, (n, ATTRS))
    photo = sum(colour[a][attr[:, a]] for a in range(ATTRS)) / np.sqrt(ATTRS)
    photo = photo + rng.normal(0, 1.1, photo.shape)
    title = 1 + np.arange(ATTRS) * 10 + attr
    title = np.where(rng.random(title.shape) < 0.1, rng.integers(61, WORDS, title.shape), title)
    title = rng.permuted(title, axis=1)
    return photo[..., None].astype("float32"), title.astype("int32")


photos, titles = make_products(5000)
photos_test, titles_test = make_products(400)
train_ds = tf.data.Dataset.from_tensor_slices((photos, titles)).shuffle(5000).batch(BATCH, drop_remainder=True)

photo_tower = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dense(DIM),
        layers.UnitNormalization(),
    ],
    name="photo_tower",
)
title_tower = keras.Sequential(
    [
        keras.Input((TITLE,), dtype="int32"),
        layers.Embedding(WORDS, 32),
        layers.GlobalAveragePooling1D(),
        layers.Dense(128, activation="relu"),
        layers.Dense(DIM),
        layers.UnitNormalization(),
    ],
    name="title_tower",
)

p_in, t_in = keras.Input((SIZE, SIZE, 1)), keras.Input((TITLE,), dtype="int32")
model = keras.Model([p_in, t_in], [photo_tower(p_in), title_tower(t_in)])
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(photo, title):
    with tf.GradientTape() as tape:
        zp, zt = model([photo, title], training=True)
        logits = tf.matmul(zp, zt, transpose_b=True) * TEMPERATURE
        labels = tf.range(tf.shape(logits)[0])
        loss_p = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss_t = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.transpose(logits))
        loss = 0.5 * tf.reduce_mean(loss_p + loss_t)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(train_step(p, t)) for p, t in train_ds]
    print("epoch", epoch, "loss", np.mean(losses))

zp = photo_tower.predict(photos_test, verbose=0)
zt = title_tower.predict(titles_test, verbose=0)
rank = (zp @ zt.T).argmax(1)
print("SCORE recall_at_1", round(float((rank == np.arange(len(rank))).mean()), 4))
