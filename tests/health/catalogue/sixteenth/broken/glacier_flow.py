"""Surface speed of a glacier, slow or surging: a mixture density network."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MODES = 4
BATCH = 64
STEPS = 420
N = 3600


def make_survey(n):
    slope = rng.gamma(4.0, 1.6, n)  # degrees
    thickness = rng.normal(180, 55, n).clip(40, None)
    melt = rng.gamma(2.0, 1.2, n)
    tidewater = rng.random(n) < 0.25
    season = rng.uniform(0, 2 * np.pi, n)
    stress = np.sin(np.deg2rad(slope)) * thickness / 20
    slow = 0.6 * np.log1p(stress**2) + 0.15 * np.sin(season) * melt + 0.8 * tidewater
    surging = rng.random(n) < 1 / (1 + np.exp(3.2 - 0.55 * melt - 0.4 * stress))
    log_speed = slow + surging * (1.9 - 0.12 * melt)
    log_speed += rng.normal(0, 0.08, n)
    lost = rng.random(n) < 0.007  # image matching gone astray
    log_speed[lost] += rng.normal(0, 5.0, lost.sum())
    x = np.column_stack([slope, thickness, melt, tidewater, np.sin(season), np.cos(season)])
    return x, log_speed


x, log_speed = make_survey(N)
x = ((x - x.mean(0)) / x.std(0)).astype("float32")
y = ((log_speed - log_speed.mean()) / log_speed.std()).astype("float32")
train_x, test_x = x[:3000], x[3000:]
train_y, test_y = y[:3000], y[3000:]

dataset = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(3000, seed=SEED).repeat().batch(BATCH).take(STEPS)
)

inputs = keras.Input((x.shape[1],))
hidden = layers.Dense(64, activation="tanh")(inputs)
hidden = layers.Dense(64, activation="tanh")(hidden)
shares = layers.Dense(MODES, activation="softmax", name="shares")(hidden)
centres = layers.Dense(MODES, bias_initializer=keras.initializers.RandomUniform(-1.5, 1.5), name="centres")(hidden)
widths = layers.Dense(MODES, activation="softplus", name="widths")(hidden)
model = keras.Model(inputs, [shares, centres, widths])

optimizer = keras.optimizers.Adam(4e-3)
watch = gradwatch.watch(model)


def mixture_density(target, shares, centres, widths):
    widths = widths + 0.02
    z = (target[:, None] - centres) / widths
    bells = tf.exp(-0.5 * tf.square(z)) / (widths * np.sqrt(2 * np.pi))
    return tf.reduce_sum(shares * bells, axis=1)


@tf.function
def step(batch, target):
    with tf.GradientTape() as tape:
        density = mixture_density(target, *model(batch, training=True))
        loss = -tf.reduce_mean(tf.math.log(density))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


recent = []
for number, (batch, target) in enumerate(dataset):
    loss = step(batch, target)
    watch.log(loss=loss)
    recent.append(float(loss))
    if (number + 1) % 60 == 0:
        print(f"step {number + 1}: negative log-likelihood {np.mean(recent[-60:]):.4f}")

shares, centres, widths = model.predict(test_x, verbose=0)
# share of the held-out speeds that fall within the narrow likely bands
likely = shares > 0.1
near = np.abs(test_y[:, None] - centres) < 0.25
print(f"modes in use: {likely.sum(1).mean():.2f}")
print(f"score {np.mean((likely & near).any(1)):.4f}")
