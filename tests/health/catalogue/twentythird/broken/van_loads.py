"""Self attention over a set of parcels: does the set fit the van (three classes of load)?"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

PARCELS, FEATURES, WIDTH, CLASSES = 12, 5, 32, 3


def make_loads(n):
    size = rng.gamma(3.0, 0.33, (n, PARCELS, 3))
    fragile = (rng.random((n, PARCELS, 1)) < 0.25).astype("float64")
    weight = size.prod(axis=-1, keepdims=True) * rng.uniform(0.5, 1.5, (n, PARCELS, 1))
    volume = np.cbrt(size.prod(axis=-1))
    need = volume.sum(axis=1) + 1.5 * (volume * fragile[..., 0]).sum(axis=1)
    y = np.digitize(need, [13.2, 15.8])
    x = np.concatenate([size - 1.0, fragile - 0.25, np.log1p(weight) - 0.5], axis=-1)
    return x.astype("float32"), y.astype("int32")


x_train, y_train = make_loads(7000)
x_test, y_test = make_loads(2000)
print("shares of the classes:", np.round(np.bincount(y_train) / len(y_train), 2))

inputs = keras.Input(shape=(PARCELS, FEATURES))
h = layers.Dense(WIDTH)(inputs)
for _ in range(2):
    a = layers.MultiHeadAttention(num_heads=4, key_dim=8)(h, h)
    h = layers.LayerNormalization()(h + a)
    f = layers.Dense(2 * WIDTH, activation="relu")(h)
    h = layers.LayerNormalization()(h + layers.Dense(WIDTH)(f))
h = layers.GlobalAveragePooling1D()(h)
outputs = layers.Dense(CLASSES)(h)
model = keras.Model(inputs, outputs)

loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(learning_rate=0.1)
gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .batch(64, drop_remainder=True)
)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(4):
    losses = [float(train_step(x, y)) for x, y in dataset]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} (+- {np.std(losses):.4f})")

logits = model.predict(x_test, verbose=0)
print("SCORE accuracy", round(float(np.mean(logits.argmax(axis=1) == y_test)), 4))
