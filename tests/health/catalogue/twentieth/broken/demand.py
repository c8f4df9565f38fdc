import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)
STORES, SKUS, LAGS = 40, 120, 14
BATCH, EPOCHS = 128, 9


@keras.saving.register_keras_serializable()
class WarmLinear(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up followed by a linear ramp-down."""

    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        up = step / self.warm
        down = (self.total - step) / (self.total - self.warm)
        return self.peak * tf.minimum(up, down)

    def get_config(self):
        return dict(peak=self.peak, warm=self.warm, total=self.total)


def table(n):
    s, k = rng.integers(0, STORES, n), rng.integers(0, SKUS, n)
    promo = (rng.random(n) < 0.2).astype("float32")
    dow = rng.integers(0, 7, n)
    level = base[s] + pop[k] + promo * lift[k] + week[dow]
    lags = level[:, None] - (promo * lift[k])[:, None] + 0.5 * rng.normal(size=(n, LAGS))
    units = rng.poisson(np.exp(np.clip(level, -3, 4)))
    num = np.concatenate([lags, promo[:, None], np.eye(7)[dow]], 1)
    return {"store": s, "sku": k, "num": num.astype("float32")}, units.astype("float32")[:, None]


base, pop = 0.5 * rng.normal(size=STORES), 0.7 * rng.normal(size=SKUS)
lift, week = rng.uniform(0, 1.5, SKUS), 0.4 * np.sin(np.arange(7))
x, y = table(12800)
xv, yv = table(2000)

store, sku, num = (
    keras.Input((), dtype="int32", name="store"),
    keras.Input((), dtype="int32", name="sku"),
    keras.Input((LAGS + 8,), name="num"),
)
h = keras.layers.Concatenate()([keras.layers.Embedding(STORES, 6)(store), keras.layers.Embedding(SKUS, 10)(sku), num])
for width in (64, 32):
    h = keras.layers.Dense(width, activation="silu")(h)
rate = keras.layers.Dense(1, activation="softplus")(h)
model = keras.Model([store, sku, num], rate)

steps_per_epoch = len(y) // BATCH
lr = WarmLinear(peak=2e-3, warm=50, total=steps_per_epoch * 4)
model.compile(optimizer=keras.optimizers.Nadam(lr), loss=keras.losses.Poisson())
gradwatch.watch(model)
hist = model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)

forecast = model.predict(xv, verbose=0)
dev = np.mean(np.abs(forecast - yv)) / np.mean(np.abs(np.median(yv) - yv))
print(f"loss {hist.history['loss'][-1]:.4f}  held-out MAE relative to the median forecast {dev:.3f}")
