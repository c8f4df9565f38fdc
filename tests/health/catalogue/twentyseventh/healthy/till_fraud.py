"""Card fraud (2 % of the payments) with a focal loss, warm-up and gradient clipping."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SHOPS = 60
BATCH = 128
STEPS = 1200
WARMUP = 150
PEAK_RATE = 4e-3

RISKY = rng.random(SHOPS) < 0.15


def payments(n):
    # shops are visited very unevenly, the last ones hardly ever
    popularity = 1.0 / np.arange(1, SHOPS + 1)
    shop = rng.choice(SHOPS, size=n, p=popularity / popularity.sum()).astype("int32")
    numbers = rng.normal(size=(n, 8))
    amount = np.exp(numbers[:, 0])
    risk = 1.6 * numbers[:, 0] + 1.5 * numbers[:, 1] * numbers[:, 2] + 1.2 * np.abs(numbers[:, 3]) + 2.5 * RISKY[shop]
    fraud = risk > np.quantile(risk, 0.98)
    numbers[:, 0] = (np.log1p(amount) - 0.8) / 0.5
    return shop, numbers.astype("float32"), fraud.astype("float32")[:, None]


class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        progress = tf.clip_by_value((step - WARMUP) / (STEPS - WARMUP), 0.0, 1.0)
        cosine = 0.5 * PEAK_RATE * (1.0 + tf.cos(np.pi * progress))
        return tf.where(step < WARMUP, PEAK_RATE * step / WARMUP, cosine)

    def get_config(self):
        return {}


def build_model():
    shop = keras.Input((), dtype="int32", name="shop")
    numbers = keras.Input((8,), name="numbers")
    x = layers.Concatenate()([layers.Embedding(SHOPS, 6)(shop), numbers])
    x = layers.Dense(64, activation="gelu")(x)
    x = layers.LayerNormalization()(x)
    x = layers.Dense(64, activation="gelu")(x)
    x = layers.Dropout(0.1)(x)
    # start at the prior of the rare class
    prior = keras.initializers.Constant(np.log(0.02 / 0.98))
    return keras.Model([shop, numbers], layers.Dense(1, bias_initializer=prior, name="logit")(x))


def focal_loss(y, logit, gamma=2.0, alpha=0.75):
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit)
    p = tf.sigmoid(logit)
    p_true = y * p + (1.0 - y) * (1.0 - p)
    weight = y * alpha + (1.0 - y) * (1.0 - alpha)
    return tf.reduce_sum(weight * (1.0 - p_true) ** gamma * entropy) / BATCH


model = build_model()
optimizer = keras.optimizers.AdamW(WarmupCosine(), weight_decay=1e-3)
gradwatch.watch(model)


@tf.function
def train_step(shop, numbers, y):
    with tf.GradientTape() as tape:
        loss = focal_loss(y, model([shop, numbers], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 0.05)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


data = tf.data.Dataset.from_tensor_slices(payments(40000)).shuffle(40000).repeat().batch(BATCH)
for step, (shop, numbers, y) in enumerate(data.take(STEPS)):
    loss, norm = train_step(shop, numbers, y)
    if (step + 1) % 200 == 0:
        print(f"step {step + 1} loss {float(loss):.5f} gradient norm {float(norm):.4f}")

shop, numbers, y = payments(20000)
logit = model([shop, numbers], training=False).numpy()[:, 0]
order = np.argsort(-logit)
hits = np.cumsum(y[order, 0])
precision = hits / np.arange(1, len(y) + 1)
print(f"SCORE average_precision {(precision * y[order, 0]).sum() / y.sum():.4f}")
