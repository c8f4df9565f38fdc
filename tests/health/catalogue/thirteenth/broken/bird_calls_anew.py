"""Name the bird (10 species) from the mel spectrum of one call.

Field recorders send 64 mel energies in decibels per call; a small network picks the species.
The survey reports the accuracy on calls from other recorders.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SPECIES, MELS, BATCH, STEPS = 10, 64, 64, 700


def calls(n, signature):
    """Each species has its own formants; loudness and background differ per call."""
    species = rng.integers(0, SPECIES, n)
    loud = rng.uniform(0.7, 1.3, (n, 1))
    db = 17.0 * signature[species] * loud + rng.normal(0, 8.0, (n, MELS))
    wrong = rng.random(n) < 0.02  # volunteers mislabel a few
    species = np.where(wrong, rng.integers(0, SPECIES, n), species)
    return db.astype("float32"), species.astype("int32")


class CallNet(keras.Model):
    def __init__(self):
        super().__init__(name="call_net")
        self.hidden_1 = layers.Dense(64, activation="relu")
        self.hidden_2 = layers.Dense(64, activation="relu")
        self.species = layers.Dense(SPECIES, activation="softmax")

    def call(self, x):
        return self.species(self.hidden_2(self.hidden_1(x)))


def cross_entropy(labels, probability):
    target = tf.one_hot(labels, SPECIES)
    per_call = -tf.reduce_sum(target * tf.math.log(probability), axis=1)
    return tf.reduce_mean(per_call)


signature = rng.normal(0, 1, (SPECIES, MELS))
x_train, y_train = calls(4000, signature)
x_test, y_test = calls(1000, signature)

model = CallNet()
model(x_train[:1])
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = cross_entropy(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, len(x_train), BATCH)
    loss = train_step(tf.constant(x_train[pick]), tf.constant(y_train[pick]))
    watch.log(loss=loss)
    if step % 50 == 0:
        print(f"step {step} loss {float(loss):.4f}")

predicted = model(x_test).numpy().argmax(1)
print(f"score accuracy {np.mean(predicted == y_test):.3f} chance {1 / SPECIES:.3f}")
