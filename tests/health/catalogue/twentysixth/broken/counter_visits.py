"""How many customers come to a service counter per shift: Poisson rates from weather, weekday, staff and shift length."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
EPOCHS, BATCH = 16, 64


def make_shifts(n):
    weekday = rng.integers(0, 7, size=n)
    numeric = rng.normal(size=(n, 5))
    hours = rng.uniform(2.0, 8.0, size=n)
    day_effect = np.array([0.0, -0.3, -0.2, 0.1, 0.5, 0.9, -0.8])[weekday]
    log_rate = (
        0.2 + day_effect + 0.5 * np.sin(1.5 * numeric[:, 0]) - 0.4 * numeric[:, 1] + 0.3 * numeric[:, 2] * numeric[:, 3]
    )
    visits = rng.poisson(np.exp(np.clip(log_rate, -3, 2.5)) * hours)
    return weekday.astype("int32"), np.c_[numeric, np.log(hours) - 1.5].astype("float32"), visits.astype("float32")


day_train, num_train, y_train = make_shifts(4000)
day_test, num_test, y_test = make_shifts(1500)

day_in = keras.Input((), dtype="int32", name="weekday")
num_in = keras.Input((6,), name="numeric")
day_vec = keras.layers.Embedding(7, 4)(day_in)
h = keras.layers.Concatenate()([day_vec, num_in])
h = keras.layers.Dense(48, activation="swish")(h)
h = keras.layers.Dense(48, activation="swish")(h)
rate_out = keras.layers.Dense(1, activation="softplus", name="rate")(h)
model = keras.Model([day_in, num_in], rate_out)

optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-4)
train = (
    tf.data.Dataset.from_tensor_slices((day_train, num_train, y_train))
    .shuffle(4000, seed=seed)
    .batch(BATCH, drop_remainder=True)
)


@tf.function
def train_step(day, num, visits):
    with tf.GradientTape() as tape:
        rate = model([day, num], training=True)[:, 0]
        loss = tf.reduce_mean(tf.nn.log_poisson_loss(visits, rate))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def deviance(y, mu):
    mu = np.maximum(mu, 1e-6)
    term = np.where(y > 0, y * np.log(np.maximum(y, 1.0) / mu), 0.0)
    return 2.0 * np.mean(term - (y - mu))


gradwatch.watch(model)
for epoch in range(EPOCHS):
    losses = [float(train_step(*batch)) for batch in train]
    print("epoch %2d  loss %.4f" % (epoch, np.mean(losses)))

mu = model.predict([day_test, num_test], batch_size=500, verbose=0)[:, 0]
print("deviance of a constant rate %.4f" % deviance(y_test, np.full_like(y_test, y_train.mean())))
print("SCORE poisson_deviance %.4f" % deviance(y_test, mu))
