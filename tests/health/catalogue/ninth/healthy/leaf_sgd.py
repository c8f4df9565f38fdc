"""Sort leaves into species from shape and colour measurements with plain SGD."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SPECIES, FEATURES = 12, 24

centres = rng.normal(size=(SPECIES, 3, FEATURES)) * 0.9


def leaves(n):
    y = rng.integers(0, SPECIES, n)
    form = rng.integers(0, 3, n)
    x = centres[y, form] + rng.normal(size=(n, FEATURES)) * 0.8
    return x.astype("float32"), y.astype("int32")


inputs = keras.Input((FEATURES,))
h = layers.Dense(512, use_bias=False, name="fc1")(inputs)
h = layers.BatchNormalization(momentum=0.9, name="bn1")(h)
h = layers.ReLU()(h)
h = layers.Dense(512, use_bias=False, name="fc2")(h)
h = layers.BatchNormalization(momentum=0.9, name="bn2")(h)
h = layers.ReLU()(h)
model = keras.Model(inputs, layers.Dense(SPECIES, name="species")(h), name="leaf")
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.SGD(0.4, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

x_test, y_test = leaves(2000)
print("before", model.evaluate(x_test, y_test, batch_size=1000, verbose=0))
for step in range(400):
    x, y = leaves(768)
    logs = model.train_on_batch(x, y, return_dict=True)
    if step < 20 or step % 40 == 0 or step == 399:
        print("step %d loss %.4f" % (step, float(logs["loss"])))
        model.reset_metrics()
    if step == 280:
        model.optimizer.learning_rate = 0.04
print("after", model.evaluate(x_test, y_test, batch_size=1000, verbose=0))
