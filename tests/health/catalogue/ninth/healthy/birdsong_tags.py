"""Name the bird in a short spectrogram, from tags given by volunteers."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
BIRDS, FRAMES, BINS = 10, 24, 20
MICRO, PARTS, STEPS = 112, 4, 200

glide = rng.uniform(-0.5, 0.5, BIRDS)
pitch = np.linspace(4, 15, BIRDS)
trill = rng.uniform(0.2, 1.2, BIRDS)


def songs(n, wrong):
    y = rng.integers(0, BIRDS, n)
    t = np.arange(FRAMES)[None]
    line = pitch[y][:, None] + glide[y][:, None] * (t - 12) / 3 + 2 * np.sin(trill[y][:, None] * t)
    line += rng.normal(0, 0.5, (n, 1))
    x = np.exp(-0.5 * ((np.arange(BINS)[None, None] - line[..., None]) / 0.8) ** 2)
    x += np.abs(rng.normal(0, 0.25, x.shape))
    tag = np.where(rng.random(n) < wrong, rng.integers(0, BIRDS, n), y)
    return x.astype("float32")[..., None], tag.astype("int32")


x_train, y_train = songs(16000, 0.45)
x_test, y_test = songs(1000, 0.0)

model = keras.Sequential(
    [
        keras.Input((FRAMES, BINS, 1)),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu", name="c1"),
        layers.Conv2D(48, 3, strides=2, padding="same", activation="relu", name="c2"),
        layers.Flatten(),
        layers.Dense(96, activation="relu", name="fc"),
        layers.Dropout(0.3),
        layers.Dense(BIRDS, name="bird"),
    ]
)
gradwatch.watch(model)
loss_fn = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2)
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def add_part(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(tf.one_hot(y, BIRDS), model(x, training=True)) / PARTS
    for s, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([tf.convert_to_tensor(s) for s in sums], model.trainable_variables))
    for s in sums:
        s.assign(tf.zeros_like(s))


def accuracy():
    return float(np.mean(np.argmax(model.predict(x_test, batch_size=500, verbose=0), -1) == y_test))


print("accuracy before %.3f" % accuracy())
for step in range(STEPS):
    loss = 0.0
    for _ in range(PARTS):
        pick = rng.integers(0, len(x_train), MICRO)
        loss += float(add_part(tf.constant(x_train[pick]), tf.constant(y_train[pick])))
    update()
    if step % 25 == 0 or step == STEPS - 1:
        print("step %d loss %.4f" % (step, loss))
print("accuracy after %.3f" % accuracy())
