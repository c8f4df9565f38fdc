"""Deep one-class description of healthy pump vibration: pull embeddings to a centre, flag what stays far."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T = 128


def vibration(n, fault=False):
    t = np.arange(T) / T
    f = rng.normal(8, 0.4, (n, 1))
    p = rng.uniform(0, 2 * np.pi, (n, 2, 1))
    x = np.sin(2 * np.pi * f * t + p[:, 0]) + 0.5 * np.sin(4 * np.pi * f * t + p[:, 1])
    if fault:
        f2 = rng.uniform(2.3, 3.6, (n, 1)) * f
        x = x + rng.uniform(0.5, 1.0, (n, 1)) * np.sin(2 * np.pi * f2 * t)
    return (x + rng.normal(0, 0.2, x.shape)).astype("float32")[..., None]


train = vibration(3000)
test = np.concatenate([vibration(500), vibration(500, fault=True)])
is_fault = np.repeat([False, True], 500)

# no biases: otherwise the network could reach the centre without looking at the data
model = keras.Sequential(
    [
        layers.Input((T, 1)),
        layers.Conv1D(12, 9, use_bias=False),
        layers.LeakyReLU(negative_slope=0.1),
        layers.AveragePooling1D(2),
        layers.Conv1D(24, 7, use_bias=False),
        layers.LeakyReLU(negative_slope=0.1),
        layers.GlobalAveragePooling1D(),
        layers.Dense(8, use_bias=False),
    ]
)
centre = model.predict(train, verbose=0).mean(0)
centre = np.where(np.abs(centre) < 0.1, np.where(centre < 0, -0.1, 0.1), centre)
centre = tf.constant(centre, tf.float32)
optimizer = keras.optimizers.Adam(3e-4)
gradwatch.watch(model)


@tf.function
def train_step(xb):
    with tf.GradientTape() as tape:
        dist = tf.reduce_sum(tf.square(model(xb, training=True) - centre), axis=1)
        loss = tf.reduce_mean(dist) + 1e-4 * tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_variables])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(3000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(15):
    losses = [float(train_step(xb)) for xb in data]
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {np.mean(losses):.5f}")

dist = np.sum((model.predict(test, verbose=0) - centre.numpy()) ** 2, 1)
order = dist.argsort().argsort() + 1
auc = (order[is_fault].sum() - 500 * 501 / 2) / (500 * 500)
print("SCORE auc", round(float(auc), 4))
