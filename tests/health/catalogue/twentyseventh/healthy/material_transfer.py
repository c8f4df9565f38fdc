"""Hardness of alloys from 60 measurements, on top of an encoder learnt without labels."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SPEC, FACTORS = 60, 5

grid = np.linspace(0, 1, SPEC)
centres = np.linspace(0.1, 0.9, FACTORS)
peaks = np.exp(-(((grid[None] - centres[:, None]) / 0.07) ** 2))


def alloys(n):
    c = rng.gamma(2.0, 0.5, (n, FACTORS))
    spectrum = np.log1p(c @ peaks) + rng.normal(0, 0.05, (n, SPEC))
    hardness = 2.0 * np.sqrt(c[:, 0]) + c[:, 1] * np.exp(-c[:, 2]) - 0.6 * c[:, 3] + 0.3 * c[:, 4] ** 1.5
    # the hardness tester slips now and then
    measured = hardness + rng.normal(0, 0.15, n) + (rng.random(n) < 0.04) * rng.normal(0, 12, n)
    return spectrum.astype("float32"), measured.astype("float32"), hardness.astype("float32")


unlabelled = alloys(6000)[0]
x_train, y_train, _ = alloys(1500)
x_test, _, y_test = alloys(800)

enc_in = layers.Input((SPEC,))
h = layers.Dense(96, activation="selu", kernel_initializer="lecun_normal")(enc_in)
code = layers.Dense(12, name="code")(h)
encoder = keras.Model(enc_in, code, name="encoder")
decoder = keras.Sequential([layers.Input((12,)), layers.Dense(96, activation="selu"), layers.Dense(SPEC)])
autoencoder = keras.Model(enc_in, decoder(encoder.output))
autoencoder.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
autoencoder.fit(unlabelled, unlabelled, batch_size=128, epochs=6, verbose=0)
print("encoder learnt, reconstruction mse %.4f" % autoencoder.evaluate(x_test, x_test, verbose=0))

encoder.trainable = False
head_in = layers.Input((SPEC,))
h = layers.Normalization(name="standardise")(encoder(head_in))
h = layers.Dense(64, activation="silu")(h)
h = layers.Dense(64, activation="silu")(h)
both = layers.Dense(2, name="mean_and_scale")(h)
model = keras.Model(head_in, both)
model.get_layer("standardise").adapt(encoder.predict(x_train, verbose=0))
gradwatch.watch(model)

y_mean, y_std = float(np.median(y_train)), 1.5
optimizer = keras.optimizers.RMSprop(2e-3, use_ema=True, ema_momentum=0.98)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        scale = tf.nn.softplus(out[:, 1]) + 0.02
        # Cauchy likelihood: a slipped measurement hardly pulls
        err = ((y - y_mean) / y_std - out[:, 0]) / scale
        loss = tf.reduce_mean(tf.math.log(scale) + tf.math.log1p(tf.square(err)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1500).batch(32, drop_remainder=True)
for epoch in range(20):
    mean_loss = np.mean([float(train_step(x, y)) for x, y in dataset])
    if epoch % 4 == 3:
        print("epoch %d loss %.4f" % (epoch + 1, mean_loss))
optimizer.finalize_variable_values(model.trainable_variables)

pred = model.predict(x_test, batch_size=400, verbose=0)[:, 0] * y_std + y_mean
print("SCORE r2 %.4f" % (1 - np.mean((pred - y_test) ** 2) / y_test.var()))
