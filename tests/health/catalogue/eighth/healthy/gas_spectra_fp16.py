import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_dtype_policy("mixed_float16")
RNG = np.random.default_rng(SEED)

# Infrared absorption spectra -> concentrations of CO2, CH4, H2O, N2O.
CHANNELS = 96
GASES = ["CO2", "CH4", "H2O", "N2O"]
grid = np.linspace(0, 1, CHANNELS)
lines = [
    sum(
        s * np.exp(-0.5 * ((grid - c) / w) ** 2)
        for c, w, s in zip(RNG.uniform(0.05, 0.95, 7), RNG.uniform(0.008, 0.03, 7), RNG.uniform(0.3, 1.0, 7))
    )
    for _ in GASES
]
lines = np.stack(lines)


def measure(n):
    conc = RNG.gamma(2.0, 0.5, size=(n, len(GASES)))
    path = RNG.uniform(0.8, 1.2, size=(n, 1))
    trans = np.exp(-path * conc @ lines)
    tilt = 1 + RNG.normal(0, 0.03, (n, 1)) * (grid - 0.5)
    spec = trans * tilt + RNG.normal(0, 0.01, trans.shape)
    return spec.astype("float32"), conc.astype("float32")


X, C = measure(6000)
Xv, Cv = measure(1000)
xm, xs, cm, cs = X.mean(0), X.std(0), C.mean(0), C.std(0)
X, Xv = (X - xm) / xs, (Xv - xm) / xs
C, Cv = (C - cm) / cs, (Cv - cm) / cs

inputs = keras.Input((CHANNELS,))
h = keras.layers.Dense(96, kernel_initializer="he_normal")(inputs)
h = keras.layers.LayerNormalization()(h)
h = keras.layers.Activation("relu")(h)
for _ in range(2):
    r = keras.layers.Dense(96, activation="relu", kernel_initializer="he_normal")(h)
    r = keras.layers.Dense(96)(r)
    h = keras.layers.LayerNormalization()(h + r)
outputs = keras.layers.Dense(len(GASES), dtype="float32")(h)
model = keras.Model(inputs, outputs)

schedule = keras.optimizers.schedules.CosineDecay(2e-3, 420, alpha=0.02)
optimizer = keras.optimizers.LossScaleOptimizer(
    keras.optimizers.Adam(schedule), initial_scale=2.0**20, dynamic_growth_steps=60
)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((X, C))
    .shuffle(6000, seed=SEED)
    .batch(64, drop_remainder=True)
    .repeat()
    .prefetch(2)
)
gradwatch.watch(model)
for i, (x, y) in enumerate(data.take(450)):
    loss = step(x, y)
    if i % 30 == 0 or i == 449:
        scale = np.log2(float(optimizer.dynamic_scale))
        print(f"step {i:3d}  loss {float(loss):.4f}  log2(scale) {scale:.0f}")
pred = model.predict(Xv, verbose=0, batch_size=250)
r2 = 1 - ((pred - Cv) ** 2).mean(0) / Cv.var(0)
print(dict(zip(GASES, r2.round(3).tolist())))
