"""Estimates the sugar content of grapes from berry measurements, plot and variety."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH = 64
EPOCHS = 14
VARIETIES = 9
PLOTS = 30


def make_harvest(n):
    variety = rng.integers(0, VARIETIES, n)
    plot = rng.integers(0, PLOTS, n)
    table = np.random.default_rng(11)
    base = table.normal(18.0, 1.5, VARIETIES)
    slope = table.normal(0.0, 0.8, PLOTS)
    day = rng.uniform(0, 60, n)
    warmth = rng.gamma(6.0, 2.0, n)
    firmness = 12.0 - 0.1 * day + rng.normal(0, 1.0, n)
    hue = np.sin(day / 20.0) + 0.1 * warmth + rng.normal(0, 0.2, n)
    sugar = (
        base[variety]
        + slope[plot] * (warmth - 12.0) / 6.0
        + 0.12 * day * (1.0 - np.exp(-warmth / 8.0))
        - 0.25 * np.abs(firmness - 8.0)
        + rng.normal(0, 0.5, n)
    )
    numbers = np.stack([day, warmth, firmness, hue], axis=1).astype("float32")
    return numbers, variety, plot, sugar.astype("float32")


numbers, variety, plot, sugar = make_harvest(1900)
cut = 1500
middle, spread = numbers[:cut].mean(0), numbers[:cut].std(0)
numbers = (numbers - middle) / spread
sugar_mean, sugar_std = sugar[:cut].mean(), sugar[:cut].std()
sugar = (sugar - sugar_mean) / sugar_std


@keras.saving.register_keras_serializable()
class PolyDecay(keras.optimizers.schedules.LearningRateSchedule):
    """lr * (1 - step / total) ** power, as in the segmentation papers."""

    def __init__(self, initial, total_steps, power=0.9):
        self.initial = initial
        self.total_steps = total_steps
        self.power = power

    def __call__(self, step):
        done = keras.ops.cast(step, "float32") / float(self.total_steps)
        return self.initial * keras.ops.power(1.0 - done, self.power)

    def get_config(self):
        return {"initial": self.initial, "total_steps": self.total_steps, "power": self.power}


number_in = keras.Input((4,), name="numbers")
variety_in = keras.Input((), dtype="int32", name="variety")
plot_in = keras.Input((), dtype="int32", name="plot")
x = layers.Concatenate()(
    [
        number_in,
        layers.Embedding(VARIETIES, 4)(variety_in),
        layers.Embedding(PLOTS, 4)(plot_in),
    ]
)
x = layers.Dense(64, activation="swish")(x)
x = layers.Dense(32, activation="swish")(x)
model = keras.Model([number_in, variety_in, plot_in], layers.Dense(1)(x))
watch = gradwatch.watch(model)

steps_per_epoch = cut // BATCH
schedule = PolyDecay(0.03, steps_per_epoch * EPOCHS)
model.compile(optimizer=keras.optimizers.SGD(schedule, momentum=0.9), loss="mse")


def part(rows):
    return {"numbers": numbers[rows], "variety": variety[rows], "plot": plot[rows]}


model.fit(part(slice(0, cut)), sugar[:cut], batch_size=BATCH, epochs=EPOCHS, verbose=2)

predicted = model.predict(part(slice(cut, None)), verbose=0)[:, 0]
truth = sugar[cut:]
score = 1.0 - np.mean((predicted - truth) ** 2) / np.var(truth)
print("score", round(float(score), 4))
