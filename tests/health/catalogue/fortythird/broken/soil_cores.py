"""Trains a classifier of soil type from the infrared absorbance of a small set of drill cores."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANDS, TYPES = 120, 5
ideal = rng.normal(0, 0.32, (TYPES, BANDS))


def scan(n):
    label = rng.integers(0, TYPES, n)
    core = ideal[label] * rng.uniform(0.3, 1.3, (n, 1)) + rng.normal(0, 1, (n, BANDS))
    return core.astype("float32"), label.astype("int32")


x_train, y_train = scan(500)
x_test, y_test = scan(3000)
flip = rng.uniform(0, 1, len(y_train)) < 0.2
y_train[flip] = rng.integers(0, TYPES, flip.sum())

inputs = keras.Input((BANDS,))
h = keras.layers.GaussianNoise(0.5)(inputs)
h = keras.layers.Dense(128)(h)
h = keras.layers.BatchNormalization()(h)
h = keras.layers.Activation("relu")(h)
h = keras.layers.Dropout(0.5)(h)
h = keras.layers.Dense(64)(h)
h = keras.layers.BatchNormalization()(h)
h = keras.layers.Activation("relu")(h)
h = keras.layers.Dropout(0.5)(h)
model = keras.Model(inputs, keras.layers.Dense(TYPES)(h))
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(500, seed=SEED).batch(50, drop_remainder=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(100):
    losses = [float(train_step(x, y)) for x, y in dataset]
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")

logits = model(x_test, training=False).numpy()
nll = float(loss_fn(y_test, logits))
print(f"SCORE nll {nll:.4f}")
print(f"SCORE accuracy {np.mean(logits.argmax(1) == y_test):.4f}")
