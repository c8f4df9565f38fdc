# Lorries per quarter of an hour at the gates of a toll road: counts with many zeros and a few very busy
# quarters, so a negative binomial with its own dispersion for every row.
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 21)
GATES, N = 30, 20000

gate_level = rng.normal(0.5, 1.0, GATES)
gate_phase = rng.uniform(-0.6, 0.6, GATES)


def quarters(n):
    gate = rng.integers(0, GATES, n)
    hour = rng.uniform(0, 24, n)
    weekend = (rng.random(n) < 2 / 7).astype(float)
    rain = rng.gamma(0.4, 3.0, n)
    angle = 2 * np.pi * hour / 24 + gate_phase[gate]
    log_rate = (
        gate_level[gate]
        + 1.1 * np.sin(angle - 1.8)
        + 0.5 * np.sin(2 * angle)
        - 1.0 * weekend
        - 0.06 * rain * (hour > 12)
    )
    rate = np.exp(np.clip(log_rate, -4, 4.5))
    count = rng.poisson(rate * rng.gamma(1.4, 1 / 1.4, n))
    facts = np.stack(
        [
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            np.sin(4 * np.pi * hour / 24),
            np.cos(4 * np.pi * hour / 24),
            weekend,
            np.log1p(rain),
            hour / 12 - 1,
        ],
        axis=1,
    )
    return gate.astype("int32"), facts.astype("float32"), count.astype("float32"), rate


def negative_binomial(count, params):
    """Negative log-likelihood without the constant of the counts; params = (log mean, log shape)."""
    log_mean, log_shape = params[:, 0], tf.clip_by_value(params[:, 1], -4.0, 6.0)
    k = count[:, 0]
    shape = tf.exp(log_shape)
    log_sum = log_mean + tf.nn.softplus(log_shape - log_mean)
    return -(
        tf.math.lgamma(k + shape) - tf.math.lgamma(shape) + shape * (log_shape - log_sum) + k * (log_mean - log_sum)
    )


gate, facts, count, _ = quarters(N)
gate_t, facts_t, count_t, rate_t = quarters(3000)
print("zeros", round(float(np.mean(count == 0)), 3), "largest", int(count.max()))

g = keras.Input((), dtype="int32", name="gate")
f = keras.Input((7,), name="facts")
place = keras.layers.Embedding(GATES, 6)(g)
h = keras.layers.Concatenate()([place, f])
h = keras.layers.Dense(64, activation="swish")(h)
h = keras.layers.Dense(64, activation="swish")(h)
model = keras.Model([g, f], keras.layers.Dense(2)(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=5.0), loss=negative_binomial)
gradwatch.watch(model)
model.fit([gate, facts], count[:, None], batch_size=32, epochs=5, verbose=2)

log_mean = model.predict([gate_t, facts_t], batch_size=500, verbose=0)[:, 0]
truth = np.log(rate_t)
r2 = 1 - np.mean((log_mean - truth) ** 2) / np.var(truth)
print("SCORE r2_of_log_rate", round(float(r2), 4))
