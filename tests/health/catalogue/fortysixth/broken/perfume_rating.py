"""Trains a ranking model that orders perfumes by how likely a panel is to buy them."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_NOTES, NOTES_PER_SCENT, DIM = 60, 6, 16
STEPS, BATCH = 2500, 16

affinity = rng.normal(0, 1, (N_NOTES, 4))
taste = rng.normal(0, 1, 4)


def make_scents(n):
    notes = np.stack([rng.choice(N_NOTES, NOTES_PER_SCENT, replace=False) for _ in range(n)])
    price = rng.normal(0, 1, (n, 1)).astype("float32")
    appeal = (affinity[notes].mean(1) @ taste) * 2.0 - 0.6 * price[:, 0]
    appeal = (appeal - appeal.mean()) / appeal.std() + rng.normal(0, 0.3, n)
    bought = (appeal > 0.75).astype("float32")
    return notes.astype("int32"), price, bought


train = make_scents(5000)
test = make_scents(1500)

notes_in = keras.Input((NOTES_PER_SCENT,), dtype="int32")
price_in = keras.Input((1,))
x = keras.layers.Embedding(N_NOTES, DIM)(notes_in)
x = keras.layers.GlobalAveragePooling1D()(x)
x = keras.layers.Concatenate()([x, price_in])
x = keras.layers.Dense(32, activation="relu")(x)
score = keras.layers.Dense(1)(x)
model = keras.Model([notes_in, price_in], score)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


def ranking_loss(bought, scores):
    """Average hinge over all pairs (bought, not bought) of the batch."""
    better = bought[:, None] * (1.0 - bought[None, :])
    margin = scores[:, None] - scores[None, :]
    hinge = tf.nn.relu(1.0 - margin) * better
    return tf.reduce_sum(hinge) / tf.reduce_sum(better)


@tf.function
def train_step(notes, price, bought):
    with tf.GradientTape() as tape:
        scores = model([notes, price], training=True)[:, 0]
        loss = ranking_loss(bought, scores)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(5000, seed=seed).repeat().batch(BATCH)
for step, (notes, price, bought) in enumerate(data.take(STEPS)):
    loss = train_step(notes, price, bought)
    if step % 100 == 0:
        print("step", step, "loss", float(loss))

scores = model.predict([test[0], test[1]], batch_size=500, verbose=0)[:, 0]
pos, neg = scores[test[2] == 1], scores[test[2] == 0]
auc = np.mean(pos[:, None] > neg[None, :])
print("SCORE auc", round(float(auc), 4))
