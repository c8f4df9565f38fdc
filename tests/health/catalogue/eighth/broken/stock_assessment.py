"""Surplus-production assessment of fish stocks with life-history priors from a small net."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STOCKS, YEARS = 60, 36


def simulate():
    traits = rng.normal(0, 1, (STOCKS, 5))
    r = np.exp(-1.1 + 0.35 * traits[:, 0] - 0.15 * traits[:, 1])
    k = np.exp(3.0 + 0.5 * traits[:, 2] + 0.2 * traits[:, 3])
    q = np.exp(-1.5 + 0.2 * traits[:, 4])
    b = k.copy()
    catches, index = np.zeros((YEARS, STOCKS)), np.zeros((YEARS, STOCKS))
    peak = rng.uniform(12, 26, STOCKS)
    for t in range(YEARS):
        effort = 0.32 * np.exp(-0.5 * ((t - peak) / 9.0) ** 2) * rng.uniform(0.9, 1.1, STOCKS)
        index[t] = q * b * np.exp(rng.normal(0, 0.06, STOCKS))
        catches[t] = np.minimum(effort, 0.6) * b
        b = b + r * b * (1 - b / k) - catches[t]
    return traits.astype("f4"), catches.astype("f4"), index.astype("f4")


class SurplusProduction(keras.Model):
    def __init__(self):
        super().__init__()
        self.traits_net = keras.Sequential(
            [
                keras.layers.Dense(48, activation="tanh"),
                keras.layers.Dense(
                    3,
                    kernel_initializer="zeros",
                    bias_initializer=lambda s, dtype: tf.constant([-1.6, 4.6, -3.0], dtype),
                ),
            ]
        )

    def call(self, inputs):
        traits, catches = inputs
        log_r, log_k, log_q = tf.unstack(self.traits_net(traits), axis=-1)
        growth, capacity = tf.exp(log_r), tf.exp(log_k)
        series = tf.TensorArray(tf.float32, size=YEARS)

        def year(t, biomass, series):
            series = series.write(t, biomass)
            surplus = growth * biomass * (1.0 - biomass / capacity)
            return t + 1, biomass + surplus - catches[t], series

        _, _, series = tf.while_loop(lambda t, *_: t < YEARS, year, (tf.constant(0), capacity, series))
        return log_q + tf.math.log(series.stack())


traits, catches, index = map(tf.constant, simulate())
observed = tf.math.log(index)
model = SurplusProduction()
model((traits, catches))
optimizer = keras.optimizers.Adam(6e-3, beta_2=0.99)


@tf.function
def assess():
    with tf.GradientTape() as tape:
        residual = model((traits, catches)) - observed
        loss = tf.reduce_mean(tf.square(residual))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


gradwatch.watch(model)
for it in range(400):
    loss = assess()
    if it % 40 == 0:
        print(f"iteration {it:3d}   mean squared log residual {float(loss):.4f}")
