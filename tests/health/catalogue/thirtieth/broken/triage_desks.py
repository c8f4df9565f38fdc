"""Route short support messages of a utility company to one of six desks, fed through a tf.data pipeline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, DESKS, N = 600, 20, 6, 4000
common = rng.dirichlet(np.full(VOCAB, 0.3))
topic = rng.dirichlet(np.full(VOCAB, 0.03), size=DESKS)
desk = rng.choice(DESKS, N, p=[0.3, 0.22, 0.18, 0.12, 0.1, 0.08])
tokens = np.zeros((N, LENGTH), "int32")
for i in range(N):
    n = rng.integers(8, LENGTH + 1)
    p = 0.7 * common + 0.3 * topic[desk[i]]
    tokens[i, :n] = 1 + rng.choice(VOCAB, n, p=p)

split = 3200
texts = tf.data.Dataset.from_tensor_slices(tokens[:split])
labels = tf.data.Dataset.from_tensor_slices(desk[:split].astype("int32"))
train = tf.data.Dataset.zip((texts.shuffle(split), labels.shuffle(split)))
train = train.batch(32, drop_remainder=True).prefetch(2)

model = keras.Sequential(
    [
        layers.Input((LENGTH,), dtype="int32"),
        layers.Embedding(VOCAB + 1, 32, mask_zero=True),
        layers.GlobalAveragePooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(DESKS),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.AdamW(3e-3, weight_decay=1e-4)
gradwatch.watch(model)


@tf.function
def train_step(ids, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(ids, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = [float(train_step(ids, y)) for ids, y in train]
    print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

pred = np.argmax(model(tokens[split:]).numpy(), 1)
recalls = [np.mean(pred[desk[split:] == c] == c) for c in range(DESKS)]
print("SCORE balanced_accuracy", round(float(np.mean(recalls)), 4))
