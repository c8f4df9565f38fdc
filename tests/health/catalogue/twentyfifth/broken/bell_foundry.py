"""Recognises the alloy of a cast bell from twelve partials, with a layer of learned prototypes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PARTIALS, ALLOYS, MODES = 12, 5, 4
CENTRES = rng.normal(size=(ALLOYS * MODES, PARTIALS)) * 1.6


def make(n):
    mode = rng.integers(0, ALLOYS * MODES, n)
    x = CENTRES[mode] + rng.normal(size=(n, PARTIALS)) * 0.9
    return x.astype("float32"), (mode % ALLOYS).astype("int32")


x_train, y_train = make(6000)
x_test, y_test = make(2000)


class Prototypes(layers.Layer):
    """Similarity of each sample to a number of learned prototypes."""

    def __init__(self, count, **kwargs):
        super().__init__(**kwargs)
        self.count = count

    def build(self, input_shape):
        start = tf.random.normal((self.count, input_shape[-1]), stddev=0.5)
        self.centres = tf.Variable(start, name="centres", trainable=True)
        self.width = self.add_weight(shape=(self.count,), initializer="ones", name="width")

    def call(self, x):
        gap = x[:, None, :] - self.centres[None, :, :]
        distance = tf.reduce_mean(tf.square(gap), axis=-1)
        return tf.exp(-tf.nn.softplus(self.width) * distance)


inputs = keras.Input((PARTIALS,))
h = Prototypes(24)(inputs)
out = layers.Dense(ALLOYS)(h)
model = keras.Model(inputs, out, name="bells")
optimizer = keras.optimizers.Adam(1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=seed).batch(100)
for epoch in range(20):
    losses = [float(step(x, y)) for x, y in train]
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

pred = np.argmax(model.predict(x_test, verbose=0), axis=1)
print("SCORE test_accuracy", round(float(np.mean(pred == y_test)), 4))
