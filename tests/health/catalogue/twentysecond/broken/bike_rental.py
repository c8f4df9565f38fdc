import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

EPOCHS = 15
BATCH = 128

# --- hourly bike hire: demand depends on hour, weekday, weather ---
n = 4000
hour = rng.integers(0, 24, n)
weekday = rng.integers(0, 7, n)
temp = rng.normal(14, 8, n)
rain = rng.exponential(1.0, n) * (rng.random(n) < 0.25)
wind = rng.gamma(3, 4, n)
work = (weekday < 5).astype(float)
commute = np.exp(-((hour - 8) ** 2) / 3) + 1.2 * np.exp(-((hour - 17.5) ** 2) / 5)
leisure = np.exp(-((hour - 14) ** 2) / 25)
mean = (
    (work * commute * 320 + (1 - work) * leisure * 260 + 40 * leisure)
    * (1 / (1 + np.exp(-(temp - 8) / 5)))
    * np.exp(-0.4 * rain)
)
hires = rng.poisson(mean + 5)

feats = np.column_stack(
    [
        np.sin(hour * np.pi / 12),
        np.cos(hour * np.pi / 12),
        np.sin(hour * np.pi / 6),
        np.cos(hour * np.pi / 6),
        work,
        temp,
        rain,
        wind,
    ]
)
target = np.log1p(hires)[:, None]
feats = (feats - feats.mean(0)) / feats.std(0)
target = (target - target.mean()) / target.std()
feats, target = feats.astype("float32"), target.astype("float32")
n_train = 3200
train = tf.data.Dataset.from_tensor_slices((feats[:n_train], target[:n_train])).shuffle(n_train).batch(BATCH)
steps_per_epoch = n_train // BATCH


class HireNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = layers.Dense(64, activation="relu")
        self.d2 = layers.Dense(64, activation="relu")
        self.out = layers.Dense(1)

    def call(self, x):
        return self.out(self.d2(self.d1(x)))


net = HireNet()
net.build((None, feats.shape[1]))
schedule = keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=EPOCHS)
opt = keras.optimizers.Adam(schedule)
mse = keras.losses.MeanSquaredError()
gradwatch.watch(net)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = mse(yb, net(xb, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    running = [train_step(xb, yb).numpy() for xb, yb in train]
    print(f"epoch {epoch + 1}/{EPOCHS} mse {np.mean(running):.4f}")

p = net.predict(feats[n_train:], verbose=0)
t = target[n_train:]
print(f"R2 on held-out hours: {1 - ((t - p) ** 2).mean() / t.var():.3f}")
