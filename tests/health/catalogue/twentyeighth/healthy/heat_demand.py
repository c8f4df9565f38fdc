"""District-heating demand a day ahead, with its uncertainty: a GRU with mean and log-variance heads."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
HOURS, PAST, AHEAD = 4000, 24, 6

hour = np.arange(HOURS)
temp = 5 + 9 * np.sin(2 * np.pi * hour / 2000) + 3 * np.sin(2 * np.pi * hour / 24 - 2)
weather = np.zeros(HOURS)
for t in range(1, HOURS):
    weather[t] = 0.97 * weather[t - 1] + 0.5 * rng.standard_normal()
temp = temp + weather
noise = rng.standard_normal(HOURS) * (0.4 + 1.6 * ((hour % 24 > 6) & (hour % 24 < 10)))
demand = 30 - 1.2 * temp + 5 * np.sin(2 * np.pi * hour / 24) + 2.0 * noise
spikes = rng.random(HOURS) < 0.004
demand[spikes] += rng.exponential(25, spikes.sum())  # a valve gets stuck now and then

split = 3200
mu, sd = demand[:split].mean(), demand[:split].std()
t_mu, t_sd = temp[:split].mean(), temp[:split].std()
series = np.stack(
    [(demand - mu) / sd, (temp - t_mu) / t_sd, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)], 1
).astype("float32")
starts = np.arange(HOURS - PAST - AHEAD)
x = np.stack([series[s : s + PAST] for s in starts])
y = np.stack([series[s + PAST : s + PAST + AHEAD, 0] for s in starts])[..., None]
fit, test = starts < split - PAST - AHEAD, starts >= split

inputs = keras.Input((PAST, 4))
h = layers.GRU(32)(inputs)
h = layers.Concatenate()([h, layers.Flatten()(inputs[:, -3:])])
h = layers.Dense(48, activation="silu")(h)
mean = layers.Dense(AHEAD)(h)
log_var = layers.Dense(AHEAD, kernel_initializer="zeros")(h)
outputs = layers.Lambda(lambda p: ops.stack(p, axis=-1))([mean, log_var])
model = keras.Model(inputs, outputs)


def gaussian_nll(y_true, y_pred):
    mean, log_var = y_pred[..., 0], ops.clip(y_pred[..., 1], -6.0, 4.0)
    return ops.mean(0.5 * (log_var + ops.square(y_true[..., 0] - mean) * ops.exp(-log_var)), axis=-1)


steps = 8 * (fit.sum() // 48 + 1)
rate = keras.optimizers.schedules.CosineDecay(1e-5, int(0.9 * steps), warmup_target=4e-3, warmup_steps=int(0.1 * steps))
model.compile(keras.optimizers.Adam(rate, global_clipnorm=0.5), loss=gaussian_nll)
gradwatch.watch(model)
model.fit(x[fit], y[fit], batch_size=48, epochs=8, verbose=2)

pred = model.predict(x[test], verbose=0)
truth = y[test][..., 0]
std = np.exp(0.5 * np.clip(pred[..., 1], -6, 4))
print("90%% coverage %.3f" % np.mean(np.abs(truth - pred[..., 0]) < 1.645 * std))
r2 = 1 - np.sum((truth - pred[..., 0]) ** 2) / np.sum((truth - truth.mean()) ** 2)
print("SCORE r2 %.4f" % r2)
