"""Classifies bird calls from mel patches; memory holds 16 patches at a time, so four of them make one SGD update."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MELS, FRAMES, SPECIES = 20, 30, 6
MICRO, ACCUMULATE, MICRO_STEPS = 16, 4, 480


def make_calls(n):
    species = rng.integers(0, SPECIES, n)
    mel, frame = np.mgrid[0:MELS, 0:FRAMES]
    slope = np.array([-0.5, -0.25, 0.0, 0.25, 0.5, 0.0])[species][:, None, None]
    trill = np.array([0.0, 0, 0, 0, 0, 2.5])[species][:, None, None]
    start = rng.uniform(6, 14, (n, 1, 1))
    when = rng.uniform(10, 20, (n, 1, 1))
    line = start + slope * (frame - when) + trill * np.sin(frame * 1.0)
    call = np.exp(-((mel - line) ** 2) / 1.5) * np.exp(-(((frame - when) / 9) ** 2))
    x = 2.0 * call * rng.uniform(0.7, 1.3, (n, 1, 1)) + 0.3 * rng.standard_normal((n, MELS, FRAMES))
    return x[..., None].astype("float32"), species.astype("int32")


x_train, y_train = make_calls(3000)
x_test, y_test = make_calls(600)

model = keras.Sequential(
    [
        keras.Input((MELS, FRAMES, 1)),
        layers.Conv2D(16, 5, activation="relu", name="conv_1"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, activation="relu", name="conv_2"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.LayerNormalization(name="norm"),
        layers.Dense(SPECIES, name="species"),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
optimizer.build(model.trainable_variables)
sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True)))
    for s, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g / ACCUMULATE)
    return loss


@tf.function
def update():
    optimizer.apply_gradients([(tf.convert_to_tensor(s), v) for s, v in zip(sums, model.trainable_variables)])
    for s in sums:
        s.assign(tf.zeros_like(s))


losses = []
for i in range(MICRO_STEPS):
    rows = rng.integers(0, len(x_train), MICRO)
    losses.append(float(micro_step(x_train[rows], y_train[rows])))
    if (i + 1) % ACCUMULATE == 0:
        update()
    if (i + 1) % 40 == 0:
        print(f"micro step {i + 1} loss {np.mean(losses[-40:]):.4f}")

accuracy = np.mean(np.argmax(model.predict(x_test, verbose=0), -1) == y_test)
print(f"score accuracy {accuracy:.4f} chance {1 / SPECIES:.4f}")
