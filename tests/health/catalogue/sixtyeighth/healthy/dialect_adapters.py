import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FEATURES = 30
VOWELS = 8
RANK = 3
SCALE = 2.0

CENTRES = rng.normal(0.0, 1.0, (VOWELS, FEATURES))
TILT = np.eye(FEATURES) + 1.6 * rng.normal(size=(FEATURES, 2)) @ rng.normal(size=(2, FEATURES)) / np.sqrt(FEATURES)


def speech(n, dialect):
    vowel = rng.integers(0, VOWELS, n)
    x = CENTRES[vowel] + 1.0 * rng.normal(size=(n, FEATURES))
    if dialect:
        x = x @ TILT
    return x.astype("float32"), vowel


class AdaptedDense(keras.layers.Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.base = keras.layers.Dense(units)
        self.activation = keras.activations.get(activation)
        self.units = units

    def build(self, input_shape):
        self.base.build(input_shape)
        self.down = self.add_weight(shape=(input_shape[-1], RANK), initializer="he_normal", name="down")
        self.up = self.add_weight(shape=(RANK, self.units), initializer="zeros", name="up")

    def call(self, x):
        low = tf.matmul(tf.matmul(x, self.down), self.up)
        return self.activation(self.base(x) + SCALE * low)


inputs = keras.Input((FEATURES,))
first = AdaptedDense(64, activation="relu", name="first")
second = AdaptedDense(48, activation="relu", name="second")
head = AdaptedDense(VOWELS, name="head")
model = keras.Model(inputs, head(second(first(inputs))))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

x_standard, y_standard = speech(3000, dialect=False)
x_dialect, y_dialect = speech(1200, dialect=True)
x_test, y_test = speech(1500, dialect=True)

base_variables = [v for layer in (first, second, head) for v in layer.base.trainable_variables]
base_optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def base_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    base_optimizer.apply_gradients(zip(tape.gradient(loss, base_variables), base_variables))
    return loss


for step in range(500):
    rows = rng.integers(0, 3000, 64)
    loss = base_step(tf.constant(x_standard[rows]), tf.constant(y_standard[rows]))
print("standard loss", float(loss))
print("before", float(np.mean(np.argmax(model.predict(x_test, verbose=0), axis=1) == y_test)))

for layer in (first, second, head):
    layer.base.trainable = False
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(model)


@tf.function
def adapter_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(800):
    rows = rng.integers(0, 1200, 64)
    loss = adapter_step(tf.constant(x_dialect[rows]), tf.constant(y_dialect[rows]))
    watch.log(loss=loss)
    if step % 200 == 0:
        print(step, float(loss))

print("SCORE", float(np.mean(np.argmax(model.predict(x_test, verbose=0), axis=1) == y_test)))
