"""Trains a small network that forecasts tomorrow's discharges of seven hospital wards."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)

WARDS = ["surgery", "medicine", "maternity", "cardiology", "paediatrics", "oncology", "burns"]
REPORTING = np.array([0.97, 0.95, 0.9, 0.93, 0.85, 0.8, 0.06])
BEDS = np.array([60, 80, 30, 40, 35, 25, 8], dtype="float32")
DAYS = 4200


def simulate():
    """Census, admissions and discharges per ward and day."""
    weekday = np.arange(DAYS) % 7
    census = np.zeros((DAYS, len(WARDS)))
    admitted = np.zeros_like(census)
    discharged = np.zeros_like(census)
    census[0] = 0.7 * BEDS
    season = 1 + 0.15 * np.sin(2 * np.pi * np.arange(DAYS) / 365)
    for d in range(1, DAYS):
        rate = np.where(weekday[d] >= 5, 0.09, 0.2) + 0.06 * (admitted[d - 1] > 0.18 * BEDS)
        discharged[d] = rng.binomial(census[d - 1].astype(int), rate)
        room = BEDS - census[d - 1] + discharged[d]
        admitted[d] = np.minimum(rng.poisson(0.15 * BEDS * season[d]), room)
        census[d] = census[d - 1] + admitted[d] - discharged[d]
    return weekday, census, admitted, discharged


weekday, census, admitted, discharged = simulate()
inputs = np.concatenate(
    [census[:-1] / BEDS - 0.7, admitted[:-1] / BEDS * 5 - 0.7, np.eye(7)[weekday[1:]]], axis=1
).astype("float32")
targets = (discharged[1:] / BEDS * 5).astype("float32")
reported = (rng.random(targets.shape) < REPORTING).astype("float32")
cut = 3400
train = tf.data.Dataset.from_tensor_slices((inputs[:cut], targets[:cut], reported[:cut]))
train = train.shuffle(cut, seed=SEED).batch(50).repeat().prefetch(2)

model = keras.Sequential(
    [
        keras.Input((inputs.shape[1],)),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(len(WARDS), name="discharges"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y, seen):
    with tf.GradientTape() as tape:
        error = tf.square(model(x, training=True) - y) * seen
        per_ward = tf.reduce_sum(error, axis=0) / tf.reduce_sum(seen, axis=0)
        loss = tf.reduce_mean(per_ward)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step, (x, y, seen) in enumerate(train.take(3000)):
    loss = train_step(x, y, seen)
    if step % 250 == 0:
        print(f"step {step:5d}  loss {float(loss):.4f}", flush=True)

forecast = model.predict(inputs[cut:], verbose=0)
baseline = np.mean((targets[:cut].mean(axis=0) - targets[cut:])[:, :6] ** 2)
print("SCORE skill", 1 - np.mean((forecast - targets[cut:])[:, :6] ** 2) / baseline)
