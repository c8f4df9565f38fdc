"""Trains a mixture density network of ferry crossing times, on top of a fixed harbour embedding."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 53)

HARBOURS, MIXTURE = 400, 3
STEPS_PER_EPOCH, EPOCHS, BATCH = 250, 12, 128

position = rng.uniform(-1, 1, (HARBOURS, 2))
waves = np.random.default_rng(2).normal(0, 2.0, (2, 12))
chart = np.concatenate([np.sin(position @ waves), np.cos(position @ waves)], axis=1)


def crossings(n):
    """Popular routes are far more frequent; queues make the times bimodal."""
    popular = 1 / np.arange(1, HARBOURS + 1)
    popular /= popular.sum()
    a = rng.choice(HARBOURS, n, p=popular)
    b = rng.choice(HARBOURS, n, p=popular)
    swell = rng.gamma(2, 0.5, n)
    distance = np.linalg.norm(position[a] - position[b], axis=1)
    queue = rng.random(n) < 0.25
    hours = distance * 0.5 + 0.15 * swell * distance + 0.4 * queue
    hours += rng.normal(0, 0.015, n) * (1 + 0.5 * queue)
    return (
        a.astype("int32"),
        b.astype("int32"),
        (swell - 1).astype("float32")[:, None],
        hours.astype("float32")[:, None],
    )


def density(y_true, raw):
    """Negative log-likelihood of a Gaussian mixture, in nats."""
    share = tf.nn.log_softmax(raw[:, :MIXTURE])
    centre = raw[:, MIXTURE : 2 * MIXTURE]
    log_width = tf.clip_by_value(raw[:, 2 * MIXTURE :], -5.0, 2.0)
    z = (y_true - centre) * tf.exp(-log_width)
    each = share - 0.5 * z**2 - log_width - 0.9189385
    return -tf.reduce_logsumexp(each, axis=-1)


start, end = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
swell = keras.Input((1,))
harbour = keras.layers.Embedding(HARBOURS, chart.shape[1], name="harbour", trainable=False)
own = keras.layers.Embedding(HARBOURS, 4, name="own")
h = keras.layers.Concatenate()([harbour(start), harbour(end), own(start), own(end), swell])
for width in (96, 96):
    h = keras.layers.Dense(width, activation="relu")(h)
raw = keras.layers.Dense(3 * MIXTURE, name="mixture")(h)
model = keras.Model([start, end, swell], raw, name="ferry")
harbour.set_weights([chart.astype("float32")])

schedule = keras.optimizers.schedules.CosineDecayRestarts(3e-3, first_decay_steps=200, t_mul=2.0, m_mul=0.9)
model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss=density)
gradwatch.watch(model)

a, b, s, hours = crossings(STEPS_PER_EPOCH * BATCH)
model.fit([a, b, s], hours, batch_size=BATCH, epochs=EPOCHS, verbose=2)

a, b, s, hours = crossings(2000)
nll = density(tf.constant(hours), model.predict([a, b, s], verbose=0))
print("SCORE nats", float(tf.reduce_mean(nll)))
