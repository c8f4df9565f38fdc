"""Trains an attention model that predicts a hive's daily honey gain from that day's set of bee visits."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MAX_VISITS, FEATURES, WIDTH = 12, 5, 32


def record_days(n):
    count = rng.poisson(6.0, n).clip(0, MAX_VISITS)
    present = np.arange(MAX_VISITS)[None, :] < count[:, None]
    visits = rng.normal(0, 1, (n, MAX_VISITS, FEATURES)) * present[..., None]
    weather = rng.normal(0, 1, (n, 3))
    nectar = np.tanh(visits[..., 0] + 0.5 * visits[..., 1] * visits[..., 2])
    mean_nectar = (nectar * present).sum(1) / np.maximum(count, 1)
    gain = 1.5 * mean_nectar + 0.5 * np.tanh(weather[:, 0]) + 0.3 * weather[:, 1] + rng.normal(0, 0.05, n)
    return (
        visits.astype("float32"),
        present.astype("float32"),
        weather.astype("float32"),
        gain[:, None].astype("float32"),
    )


@keras.saving.register_keras_serializable()
class VisitAttention(keras.layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.embed = keras.layers.Dense(width, activation="relu")
        self.mix = keras.layers.Dense(width, activation="relu")
        self.score = keras.layers.Dense(1)

    def build(self, input_shape):
        shape = tuple(input_shape[0])
        self.embed.build(shape)
        self.mix.build(shape[:-1] + (self.embed.units,))
        self.score.build(shape[:-1] + (self.mix.units,))
        super().build(input_shape)

    def call(self, inputs):
        visits, present = inputs
        h = self.mix(self.embed(visits))
        score = tf.squeeze(self.score(h), -1)
        score = tf.where(present > 0, score, -1e9)
        weight = tf.nn.softmax(score, axis=-1)
        return tf.reduce_sum(weight[..., None] * h, axis=1)


visits_in = keras.Input((MAX_VISITS, FEATURES))
present_in = keras.Input((MAX_VISITS,))
weather_in = keras.Input((3,))
pooled = VisitAttention(WIDTH, name="visit_attention")([visits_in, present_in])
h = keras.layers.Concatenate()([pooled, weather_in])
h = keras.layers.Dense(32, activation="relu")(h)
model = keras.Model([visits_in, present_in, weather_in], keras.layers.Dense(1)(h))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)

train = record_days(6000)
test = record_days(1500)
dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(6000, seed=SEED).batch(64, drop_remainder=True)


@tf.function
def train_step(visits, present, weather, gain):
    with tf.GradientTape() as tape:
        pred = model([visits, present, weather], training=True)
        loss = tf.reduce_mean(tf.square(pred - gain))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(25):
    losses = [float(train_step(*batch)) for batch in dataset]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(list(test[:3]), verbose=0)
r2 = 1.0 - np.mean((pred - test[3]) ** 2) / np.var(test[3])
print(f"SCORE r2 {r2:.4f}")
