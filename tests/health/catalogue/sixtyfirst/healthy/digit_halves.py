import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

digits = load_digits()
order = np.random.default_rng(SEED).permutation(len(digits.target))
x = (digits.images[order] / 16.0).astype("float32")[..., None]
y = digits.target[order].astype("int32")
x_train, y_train = x[:1400], y[:1400]
x_test, y_test = x[1400:], y[1400:]


def jitter(image, label):
    image = tf.pad(image, [[1, 1], [1, 1], [0, 0]])
    image = tf.image.random_crop(image, (8, 8, 1))
    return image + tf.random.normal((8, 8, 1), stddev=0.08), label


train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train = train.shuffle(1400, seed=SEED).map(jitter).batch(32).prefetch(2)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(128)

inputs = keras.Input((8, 8, 1))
h = keras.layers.Conv2D(12, 3, padding="same", use_bias=False, name="stem")(inputs)
h = keras.layers.BatchNormalization(name="stem_norm")(h)
h = keras.layers.ReLU()(h)
h = keras.layers.MaxPooling2D()(h)
h = keras.layers.Conv2D(24, 3, padding="same", activation="relu", name="body")(h)
h = keras.layers.Flatten()(h)
h = keras.layers.Dropout(0.4)(h)
logits = keras.layers.Dense(10, dtype="float32", name="digit")(h)
model = keras.Model(inputs, logits)

optimizer = keras.optimizers.Adam(2e-3)
scaled = keras.mixed_precision.LossScaleOptimizer(optimizer, initial_scale=2.0**20, dynamic_growth_steps=150)
model.compile(
    optimizer=scaled,
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train, epochs=10, verbose=2)

_, accuracy = model.evaluate(test, verbose=0)
print("SCORE", accuracy)
