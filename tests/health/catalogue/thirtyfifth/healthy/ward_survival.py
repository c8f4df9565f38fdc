"""Ranks patients by risk with a Cox partial likelihood on censored, noisy follow-up data."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_patients(n):
    x = rng.normal(size=(n, 12)).astype("float32")
    risk = 0.8 * x[:, 0] + 0.6 * x[:, 1] * x[:, 2] - 0.7 * np.abs(x[:, 3])
    time = rng.exponential(np.exp(-risk)) * 12
    censor = rng.exponential(10, n)
    return x, np.minimum(time, censor).astype("float32"), (time <= censor).astype("float32")


x_train, t_train, e_train = make_patients(4000)
x_test, t_test, e_test = make_patients(800)

model = keras.Sequential(
    [
        layers.Input((12,)),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.AlphaDropout(0.1),
        layers.Dense(24, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(1, use_bias=False),  # the partial likelihood does not see a constant
    ]
)
optimizer = keras.optimizers.Adam(1e-3, clipnorm=1.0)
gradwatch.watch(model)


@tf.function
def train_step(x, time, event):
    order = tf.argsort(time, direction="DESCENDING")
    x, event = tf.gather(x, order), tf.gather(event, order)
    with tf.GradientTape() as tape:
        risk = model(x, training=True)[:, 0]
        at_risk = tf.math.cumulative_logsumexp(risk)
        loss = -tf.reduce_sum((risk - at_risk) * event) / tf.maximum(tf.reduce_sum(event), 1.0)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_train, t_train, e_train))
ds = ds.shuffle(4000).batch(64, drop_remainder=True)
for epoch in range(16):
    losses = [float(train_step(*batch)) for batch in ds]
    print("epoch", epoch, "loss", np.mean(losses))

r = model.predict(x_test, verbose=0)[:, 0]
pairs = (t_test[:, None] < t_test[None, :]) & (e_test[:, None] == 1)
print("SCORE c_index", float((r[:, None] > r[None, :])[pairs].mean()))
