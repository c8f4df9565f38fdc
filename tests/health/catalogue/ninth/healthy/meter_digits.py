"""Train a small convolutional network that reads seven-segment digits from meter photos."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
BOX = {
    "a": (0, 1, 0, 6),
    "b": (0, 6, 5, 6),
    "c": (5, 11, 5, 6),
    "d": (10, 11, 0, 6),
    "e": (5, 11, 0, 1),
    "f": (0, 6, 0, 1),
    "g": (5, 6, 0, 6),
}


def draw(n):
    x = np.zeros((n, 20, 20, 1), "float32")
    y = rng.integers(0, 10, n)
    for i, d in enumerate(y):
        top, left = rng.integers(0, 9), rng.integers(0, 14)
        shine = rng.uniform(0.4, 1.0)
        for s in SEGMENTS[d]:
            r0, r1, c0, c1 = BOX[s]
            x[i, top + r0 : top + r1, left + c0 : left + c1, 0] = shine
    x += rng.normal(0, 0.2, x.shape) + rng.uniform(-0.2, 0.2, (n, 1, 1, 1))
    return x.astype("float32"), y.astype("int32")


x_train, y_train = draw(12000)
x_test, y_test = draw(1000)

model = keras.Sequential(
    [
        keras.Input((20, 20, 1)),
        layers.Conv2D(24, 3, padding="same", name="conv1"),
        layers.BatchNormalization(momentum=0.9, name="bn1"),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(40, 3, padding="same", name="conv2"),
        layers.BatchNormalization(momentum=0.9, name="bn2"),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(40, 3, padding="same", name="conv3"),
        layers.BatchNormalization(momentum=0.9, name="bn3"),
        layers.ReLU(),
        layers.Flatten(),
        layers.Dense(10, name="digit"),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def accuracy():
    return float(np.mean(np.argmax(model.predict(x_test, batch_size=500, verbose=0), -1) == y_test))


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(12000, seed=SEED).repeat().batch(128)
print("accuracy before: %.3f" % accuracy())
for step, (x, y) in enumerate(data.take(280)):
    loss = train_step(x, y)
    if step % 40 == 0 or step == 279:
        print("step %d loss %.4f" % (step, float(loss)))
print("accuracy after: %.3f" % accuracy())
