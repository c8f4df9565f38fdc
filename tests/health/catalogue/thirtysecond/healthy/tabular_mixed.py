"""Detects rare loan defaults from a table with missing values and categories, trained with class weights in mixed precision under a cyclic learning rate."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
keras.mixed_precision.set_global_policy("mixed_float16")

N_REGION, N_JOB = 12, 8
effects = np.random.default_rng(5)
region_effect, job_effect = effects.normal(0, 0.6, N_REGION), effects.normal(0, 0.6, N_JOB)


def applicants(n):
    income = rng.lognormal(10.3, 0.5, n)
    debt = income * rng.beta(2, 4, n) * rng.lognormal(0, 0.3, n)
    age = rng.integers(19, 75, n).astype(float)
    late = rng.poisson(rng.gamma(0.7, 1.0, n)).astype(float)
    months = rng.exponential(40, n)
    region, job = rng.integers(0, N_REGION, n), rng.integers(0, N_JOB, n)
    ratio = debt / income
    risk = (
        -4.6
        + 6.0 * np.maximum(ratio - 0.35, 0)
        + 0.9 * np.minimum(late, 4)
        + 0.0025 * (age - 48) ** 2
        - 0.02 * np.minimum(months, 60)
        + 1.2 * region_effect[region]
        + 1.2 * job_effect[job]
    )
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-1.4 * risk))).astype("float32")
    num = np.column_stack([np.log(income), np.log(debt), age, np.log1p(late), np.log1p(months)])
    # Months at the employer are left blank more often by those who are late; debt is blank at random.
    num[rng.random(n) < np.where(late > 1, 0.4, 0.15), 4] = np.nan
    num[rng.random(n) < 0.1, 1] = np.nan
    return num, region.astype("int32"), job.astype("int32"), y


train, val, test = applicants(16000), applicants(3000), applicants(6000)
median = np.nanmedian(train[0], axis=0)
filled = np.where(np.isnan(train[0]), median, train[0])
mean, std = filled.mean(0), filled.std(0)


def inputs(split):
    """Blank values get the training median and a flag; all statistics come from the training part."""
    num, region, job, _ = split
    missing = np.isnan(num)
    scaled = (np.where(missing, median, num) - mean) / std
    flags = missing[:, [1, 4]]
    return {"num": np.concatenate([scaled, flags], 1).astype("float32"), "region": region, "job": job}


num_in = keras.Input((7,), name="num")
region_in = keras.Input((), dtype="int32", name="region")
job_in = keras.Input((), dtype="int32", name="job")
h = layers.Concatenate()([num_in, layers.Embedding(N_REGION, 4)(region_in), layers.Embedding(N_JOB, 4)(job_in)])
h = layers.Dense(96)(h)
h = layers.BatchNormalization()(h)
h = layers.Activation("relu")(h)
h = layers.Dropout(0.2)(h)
h = layers.Dense(48, activation="relu")(h)
logit = layers.Dense(1, dtype="float32")(h)  # the loss is taken in full precision
model = keras.Model([num_in, region_in, job_in], logit)
gradwatch.watch(model)


class TriangularCycle(keras.optimizers.schedules.LearningRateSchedule):
    """Rises and falls linearly between low and high, with halved height in every further cycle."""

    def __init__(self, low, high, half):
        self.low, self.high, self.half = low, high, float(half)

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        cycle = tf.floor(step / (2.0 * self.half))
        x = tf.abs(step / self.half - 2.0 * cycle - 1.0)
        return self.low + (self.high - self.low) * (1.0 - x) * 0.5**cycle

    def get_config(self):
        return {"low": self.low, "high": self.high, "half": self.half}


y = train[3]
share = float(y.mean())
print("share of defaults", round(share, 4))
weights = {0: 0.5 / (1.0 - share), 1: 0.5 / share}
schedule = TriangularCycle(2e-4, 4e-3, 125)
# float16 gradients are protected by dynamic loss scaling.
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(schedule))
model.compile(
    optimizer=optimizer,
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    weighted_metrics=[],
    metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr_auc")],
)
model.fit(
    inputs(train), y, validation_data=(inputs(val), val[3]), batch_size=128, epochs=8, class_weight=weights, verbose=2
)


def average_precision(score, truth):
    order = np.argsort(-score, kind="stable")
    hits = truth[order]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / hits.sum())


ytest = test[3]
print("BASELINE average_precision (chance)", round(float(ytest.mean()), 4))
print("BASELINE average_precision (late payments)", round(average_precision(test[0][:, 3], ytest), 4))
print("SCORE average_precision", round(average_precision(model.predict(inputs(test), verbose=0)[:, 0], ytest), 4))
