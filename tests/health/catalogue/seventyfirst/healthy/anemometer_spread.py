import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

BATCH = 64
EPOCHS = 14


def measure(n):
    x = rng.uniform(-1, 1, (n, 4))
    mean = 0.05 * np.sin(3 * x[:, 0]) + 0.03 * x[:, 1] * x[:, 2]
    spread = 0.004 * np.exp(1.2 * x[:, 3])
    y = mean + spread * rng.normal(0, 1, n)
    return x.astype("float32"), y.astype("float32"), mean


def build_model():
    inputs = keras.Input((4,))
    x = layers.Dense(48, activation="tanh", name="flow")(inputs)
    x = layers.Dense(48, activation="tanh", name="shear")(x)
    mean = layers.Dense(1, name="mean")(x)
    log_scale = layers.Dense(1, name="log_scale")(x)
    return keras.Model(inputs, [mean, log_scale])


model = build_model()
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        mean, log_scale = model(x, training=True)
        log_scale = tf.clip_by_value(log_scale, -7.0, 3.0)
        z = (y[:, None] - mean) * tf.exp(-log_scale)
        loss = tf.reduce_mean(0.5 * tf.square(z) + log_scale)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 10.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


train_x, train_y, _ = measure(6000)
test_x, _, test_mean = measure(1500)
data = tf.data.Dataset.from_tensor_slices((train_x, train_y))
data = data.shuffle(6000, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in data]
    print("epoch", epoch, "loss", round(np.mean(losses), 4))

predicted = model(test_x)[0].numpy()[:, 0]
gap = np.mean((predicted - test_mean) ** 2) / np.var(test_mean)
print("SCORE", round(float(1.0 - gap), 4))
