"""CTC training of a small convolutional recogniser for sequences of noisy tone symbols."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


K, T, D, MAXL = 5, 48, 12, 5
tone = rng.normal(size=(K, D))


def make(n):
    x = 0.35 * rng.normal(size=(n, T, D))
    y = np.zeros((n, MAXL), "int32")
    n_y = rng.integers(2, MAXL + 1, n)
    for i in range(n):
        pos = rng.integers(0, 4)
        for j in range(n_y[i]):
            k, dur = rng.integers(0, K), rng.integers(4, 8)
            x[i, pos : pos + dur] += tone[k] * rng.uniform(0.7, 1.2)
            y[i, j] = k + 1
            pos += dur + rng.integers(1, 3)
    return x.astype("float32"), y, n_y.astype("int32")


x_train, y_train, n_train = make(2500)
x_test, y_test, n_test = make(400)

model = keras.Sequential(
    [
        keras.Input((T, D)),
        layers.Conv1D(48, 5, padding="same", activation="relu"),
        layers.Conv1D(48, 5, padding="same", activation="relu"),
        layers.Dropout(0.1),
        layers.Conv1D(48, 3, padding="same", activation="relu"),
        layers.Dense(K + 1),
    ]
)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(2e-3, 700, 1e-4))
gradwatch.watch(model)


@tf.function
def train_step(x, y, n_y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.nn.ctc_loss(
            labels=y,
            logits=logits,
            label_length=n_y,
            logit_length=tf.fill((tf.shape(x)[0],), T),
            logits_time_major=False,
            blank_index=0,
        )
        loss = tf.reduce_mean(loss)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(700):
    b = rng.integers(0, len(x_train), 32)
    loss = train_step(x_train[b], y_train[b], n_train[b])
    if step % 100 == 0:
        print("step", step, "loss", round(float(loss), 4))

best = model.predict(x_test, verbose=0).argmax(-1)
right = 0
for i, path in enumerate(best):
    out = [int(s) for j, s in enumerate(path) if s != 0 and (j == 0 or s != path[j - 1])]
    right += out == list(y_test[i, : n_test[i]])
print("SCORE sequence_accuracy", round(right / len(best), 4))
