"""Relapse risk from clinical covariates with heavy censoring: a neural Cox model, large batches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

COVARIATES, BATCH, STEPS = 12, 256, 900


def make_patients(n):
    x = rng.normal(size=(n, COVARIATES))
    risk = 1.2 * np.tanh(x[:, 0]) + 0.9 * x[:, 1] * x[:, 2] - 0.8 * np.abs(x[:, 3]) + 0.7 * x[:, 4]
    relapse = rng.exponential(np.exp(-risk)) ** (1 / 1.5)
    lost = rng.exponential(0.45, n)
    time = np.minimum(relapse, lost)
    event = (relapse <= lost).astype("float32")
    return x.astype("float32"), time.astype("float32"), event


x_train, t_train, e_train = make_patients(6000)
x_test, t_test, e_test = make_patients(1000)
print(f"relapses seen: {e_train.mean():.2f}")

model = keras.Sequential(
    [
        keras.Input((COVARIATES,)),
        layers.GaussianNoise(0.1),
        layers.Dense(48, activation="swish"),
        layers.Dropout(0.2),
        layers.Dense(48, activation="swish"),
        layers.Dropout(0.2),
        layers.Dense(1, use_bias=False, kernel_initializer="zeros"),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.AdamW(
    keras.optimizers.schedules.CosineDecay(0.0, STEPS - 50, warmup_target=6e-3, warmup_steps=50),
    weight_decay=1e-2,
    global_clipnorm=1.0,
)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, time, event):
    order = tf.argsort(time, direction="DESCENDING")
    x, event = tf.gather(x, order), tf.gather(event, order)
    with tf.GradientTape() as tape:
        h = model(x, training=True)[:, 0]
        at_risk = tf.math.cumulative_logsumexp(h)
        loss = tf.reduce_sum(event * (at_risk - h)) / tf.maximum(tf.reduce_sum(event), 1.0)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def concordance(risk, time, event):
    before = (time[:, None] < time[None, :]) & (event[:, None] > 0)
    right = (risk[:, None] > risk[None, :]) & before
    return right.sum() / before.sum()


for step in range(STEPS):
    pick = rng.integers(0, len(x_train), BATCH)
    loss = train_step(*[tf.constant(a[pick]) for a in (x_train, t_train, e_train)])
    if step % 150 == 0 or step == STEPS - 1:
        risk = model(x_test, training=False).numpy()[:, 0]
        print(f"step {step:4d}  partial nll {float(loss):.3f}  c-index {concordance(risk, t_test, e_test):.3f}")

risk = model(x_test, training=False).numpy()[:, 0]
print("SCORE c_index", round(float(concordance(risk, t_test, e_test)), 4))
