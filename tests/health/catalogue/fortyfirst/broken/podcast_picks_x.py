"""Learns which of eight offered podcast episodes a listener picks, from the log of shown lists."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


USERS, ITEMS, SHOWN = 300, 120, 8
taste = rng.normal(size=(USERS, 4))
style = rng.normal(size=(ITEMS, 4))
popular = 0.5 * rng.normal(size=ITEMS)


def collect(n):
    user = rng.integers(0, USERS, n)
    shown = np.stack([rng.choice(ITEMS, SHOWN, replace=False) for _ in range(n)])
    utility = 1.3 * np.einsum("nd,nkd->nk", taste[user], style[shown]) + popular[shown]
    picked = np.argmax(utility + rng.gumbel(size=utility.shape), axis=1)
    return user.astype("int32"), shown.astype("int32"), picked.astype("int32")


u_train, s_train, p_train = collect(12000)
u_test, s_test, p_test = collect(2000)

user_in = keras.Input((), dtype="int32")
item_in = keras.Input((), dtype="int32")
u = layers.Embedding(USERS, 8)(user_in)
v = layers.Embedding(ITEMS, 8)(item_in)
h = layers.Concatenate()([u, v, layers.Multiply()([u, v])])
h = layers.Dense(32, activation="relu")(h)
model = keras.Model([user_in, item_in], layers.Dense(1)(h))
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


def score_lists(user, shown):
    """One score for every shown episode, (batch, SHOWN)."""
    listeners = tf.tile(user, [SHOWN])
    episodes = tf.reshape(shown, [-1])
    return tf.reshape(model([listeners, episodes]), [-1, SHOWN])


@tf.function
def train_step(user, shown, picked):
    with tf.GradientTape() as tape:
        logits = score_lists(user, shown)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(picked, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((u_train, s_train, p_train)).shuffle(12000).batch(64, drop_remainder=True)
for epoch in range(6):
    losses = [float(train_step(*b)) for b in data]
    print("epoch", epoch, "loss", round(np.mean(losses), 4))

logits = score_lists(tf.constant(u_test), tf.constant(s_test)).numpy()
print("SCORE hit_at_1", round(float(np.mean(logits.argmax(1) == p_test)), 4))
