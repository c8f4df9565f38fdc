import keras
import numpy as np

import gradwatch

keras.utils.set_random_seed(11)
keras.mixed_precision.set_global_policy("mixed_float16")

HIST, AHEAD, BATCH = 48, 96, 192
N_FEEDERS = 5200


def feeder_days(n, rng):
    t = np.arange(HIST + AHEAD) / 4.0
    peak = rng.uniform(6, 20, (n, 1))
    width = rng.uniform(2, 5, (n, 1))
    base = rng.uniform(0.2, 0.6, (n, 1))
    pv = rng.uniform(0, 0.6, (n, 1))
    d = (t[None] - peak) % 24.0
    d = np.minimum(d, 24 - d)
    load = base + np.exp(-0.5 * (d / width) ** 2) - pv * np.clip(np.sin((t - 6) / 12 * np.pi), 0, None)
    load = load + rng.normal(0, 0.03, load.shape)
    return load.astype("float32")


rng = np.random.default_rng(3)
kw = feeder_days(N_FEEDERS, rng) * 8.0
GRID_BASE_KVA = 2500.0
pu = kw / GRID_BASE_KVA
past, future = pu[:, :HIST], pu[:, HIST:]
mu, sd = past.mean(), past.std()
past = (past - mu) / sd
split = 4600
x_tr, y_tr, x_te, y_te = past[:split], future[:split], past[split:], future[split:]


class GatedBlock(keras.layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.norm = keras.layers.LayerNormalization()
        self.up = keras.layers.Dense(width, activation="gelu")
        self.gate = keras.layers.Dense(width, activation="sigmoid")
        self.down = keras.layers.Dense(width)

    def call(self, h):
        z = self.norm(h)
        return h + self.down(self.up(z) * self.gate(z))


inp = keras.Input((HIST,))
h = keras.layers.Dense(64)(inp)
for i in range(3):
    h = GatedBlock(64, name=f"mix{i}")(h)
h = keras.layers.Dense(8, activation="tanh", name="shape_code")(h)
out = keras.layers.Dense(
    AHEAD, dtype="float32", name="profile", kernel_initializer=keras.initializers.RandomNormal(stddev=0.005)
)(h)
model = keras.Model(inp, out)

schedule = keras.optimizers.schedules.CosineDecay(2e-3, 24 * 14)
model.compile(optimizer=keras.optimizers.Adam(schedule, epsilon=1e-9), loss="mse", auto_scale_loss=False)
gradwatch.watch(model)
hist = model.fit(x_tr, y_tr, batch_size=BATCH, epochs=14, verbose=2)

pred = model.predict(x_te, verbose=0)
rmse = float(np.sqrt(np.mean((pred - y_te) ** 2)))
r2 = 1 - np.sum((pred - y_te) ** 2) / np.sum((y_te - y_tr.mean(0)) ** 2)
print(f"loss {hist.history['loss'][-1]:.3e}  rmse {rmse * GRID_BASE_KVA:.3f} kVA  heldout R2 {r2:.3f}")
