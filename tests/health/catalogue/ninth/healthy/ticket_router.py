"""Route support tickets to one of six teams from the hashed words they contain."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
VOCAB, TEAMS, WORDS = 30000, 6, 48

popularity = 1.0 / np.arange(1, VOCAB) ** 1.3
leaning = rng.dirichlet(np.full(TEAMS, 0.25), VOCAB - 1)
by_team = popularity[:, None] * leaning
by_team = np.cumsum(by_team / by_team.sum(0), 0)


def tickets(n):
    y = rng.integers(0, TEAMS, n)
    x = np.zeros((n, WORDS), "int32")
    for i in range(n):
        count = rng.integers(5, WORDS + 1)
        x[i, :count] = 1 + np.searchsorted(by_team[:-1, y[i]], rng.random(count))
    return x, y.astype("int32")


x_train, y_train = tickets(256 * 200)
x_test, y_test = tickets(1500)
print("different words seen: %d of %d" % (len(np.unique(x_train)), VOCAB))

words = keras.Input((WORDS,), dtype="int32")
h = layers.Embedding(VOCAB, 32, mask_zero=True, name="words")(words)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu", name="hidden")(h)
model = keras.Model(words, layers.Dense(TEAMS, name="team")(h), name="router")
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer.build(model.trainable_variables)


@tf.function
def run_epoch(data):
    total, count = tf.constant(0.0), tf.constant(0.0)
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        total += loss
        count += 1.0
    return total / count


def accuracy():
    return float(np.mean(np.argmax(model.predict(x_test, batch_size=500, verbose=0), -1) == y_test))


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(20000, seed=SEED).batch(256, drop_remainder=True)
print("accuracy before %.3f" % accuracy())
for epoch in range(2):
    print("epoch %d loss %.4f accuracy %.3f" % (epoch, float(run_epoch(data)), accuracy()))
