"""Identifies the species of a particle from the energies it leaves in twenty calorimeter cells."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_CELLS, N_SPECIES, BATCH, STEPS = 20, 5, 64, 900

# Each species has its own shower profile; cell energies are log-normal around it.
profile = rng.normal(0.0, 0.8, (N_SPECIES, N_CELLS))


def shower(n):
    species = rng.integers(0, N_SPECIES, n)
    beam = rng.normal(0.0, 0.9, (n, 1))
    energy = np.exp(profile[species] + beam + rng.normal(0.0, 0.8, (n, N_CELLS)))
    return energy.astype("float32"), species.astype("int32")


x_train, y_train = shower(8000)
x_test, y_test = shower(2000)
mean, std = x_train.mean(0), x_train.std(0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std

model = keras.Sequential(
    [
        keras.Input((N_CELLS,)),
        layers.Dense(96, activation="relu", kernel_initializer="he_normal"),
        layers.Dense(96, activation="relu", kernel_initializer="he_normal"),
        layers.Dense(N_SPECIES, activation="softmax"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prob = model(x, training=True)
        loss = -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(prob), axis=-1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((x_train, keras.utils.to_categorical(y_train, N_SPECIES).astype("float32")))
    .shuffle(8000, seed=seed)
    .repeat()
    .batch(BATCH)
)
for step, (xb, yb) in enumerate(data.take(STEPS)):
    loss = train_step(xb, yb)
    if step % 75 == 0:
        print(f"step {step:4d}  loss {float(loss):.4f}")

pred = model.predict(x_test, batch_size=256, verbose=0)
print("SCORE accuracy", float(np.mean(pred.argmax(-1) == y_test)))
