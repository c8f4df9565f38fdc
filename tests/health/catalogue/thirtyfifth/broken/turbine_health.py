"""Learns a turbine's fault type and its remaining life together from windows of sensor readings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, SENSORS, FAULTS, BATCH, EPOCHS = 40, 6, 4, 32, 12
patterns = rng.normal(size=(FAULTS, SENSORS))


def make_windows(n):
    fault = rng.integers(0, FAULTS, n)
    life = rng.uniform(0, 1, n)
    t = np.linspace(0, 1, STEPS)[None, :, None]
    drift = (1 - life)[:, None, None] * t * 2.0
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    x = patterns[fault][:, None, :] * (0.5 + 0.3 * np.sin(12 * t + phase))
    x = x + drift * np.array([1, 0, -1, 0.5, 0, 0.5]) + 0.5 * rng.normal(size=(n, STEPS, SENSORS))
    return x.astype("float32"), fault.astype("int32"), (100 * life).astype("float32")


x_train, f_train, l_train = make_windows(1920)
x_test, f_test, l_test = make_windows(500)
l_mean, l_std = l_train.mean(), l_train.std()

inputs = layers.Input((STEPS, SENSORS))
h = layers.Conv1D(24, 5, activation="relu", padding="same")(inputs)
h = layers.MaxPooling1D(2)(h)
h = layers.Conv1D(32, 5, activation="relu", padding="same")(h)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="relu")(h)
fault_out = layers.Dense(FAULTS, name="fault")(h)
life_out = layers.Dense(1, name="life")(h)
model = keras.Model(inputs, [fault_out, life_out])
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)

life_weight = 0.0


@tf.function
def train_step(x, fault, life):
    with tf.GradientTape() as tape:
        fault_logits, life_pred = model(x, training=True)
        fault_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=fault, logits=fault_logits))
        life_loss = tf.reduce_mean(tf.square(life_pred[:, 0] - (life - l_mean) / l_std))
        loss = fault_loss + life_weight * life_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return fault_loss, life_loss


ds = tf.data.Dataset.from_tensor_slices((x_train, f_train, l_train)).shuffle(1920).batch(BATCH)
for epoch in range(EPOCHS):
    # let the fault head settle first, then bring the life head in
    life_weight = min(1.0, epoch / 4)
    logs = np.array([[float(v) for v in train_step(*batch)] for batch in ds])
    print("epoch", epoch, "fault loss %.4f life loss %.4f" % tuple(logs.mean(0)))

logits, life = model.predict(x_test, verbose=0)
print("fault accuracy", (logits.argmax(-1) == f_test).mean())
life = life[:, 0] * l_std + l_mean
r2 = 1 - ((life - l_test) ** 2).mean() / l_test.var()
print("SCORE life_r2", float(r2))
