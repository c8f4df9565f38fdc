import os
from functools import wraps

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

LOOKBACK = 12


def logged(every):
    def outer(fn):
        count = [0]

        @wraps(fn)
        def inner(*args):
            out = fn(*args)
            if count[0] % every == 0:
                print(count[0], {k: round(float(v), 2) for k, v in out.items()})
            count[0] += 1
            return out

        return inner

    return outer


def make_river(n, seed):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.3, 2.0, n)
    rain[rng.random(n) < 0.01] += 25.0
    level, store = np.zeros(n), 0.0
    for t in range(n):
        store = 0.85 * store + rain[t]
        level[t] = 0.6 * store + 0.15 * (level[t - 1] if t else 0) + 0.1 * rng.normal()
    season = np.sin(np.arange(n) / 40)
    before = np.concatenate([[0.0], level[:-1]])
    series = np.stack([np.log1p(rain), before / 10.0, season], axis=1).astype("float32")
    x = np.stack([series[i : i + LOOKBACK] for i in range(n - LOOKBACK + 1)])
    return x, level[LOOKBACK - 1 :].astype("float32")


def build_forecaster():
    inp = keras.Input((LOOKBACK, 3))
    h = keras.layers.Conv1D(24, 3, activation="relu", name="conv")(inp)
    h = keras.layers.GRU(24, name="gru")(h)
    h = keras.layers.Concatenate()([h, keras.layers.Flatten()(inp)])
    h = keras.layers.Dense(32, activation="relu", name="dense")(h)
    out = keras.layers.Dense(1, name="level")(h)
    return keras.Model(inp, keras.layers.Flatten()(out), name="forecaster")


class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        up = self.peak * step / self.warmup
        frac = tf.clip_by_value((step - self.warmup) / (self.total - self.warmup), 0.0, 1.0)
        return tf.where(step < self.warmup, up, 0.5 * self.peak * (1 + tf.cos(np.pi * frac)))

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "total": self.total}


def main():
    (x, y), (xt, yt) = make_river(4000, 1), make_river(1200, 2)
    model = build_forecaster()
    total = 5 * (len(x) // 64)
    optimizer = keras.optimizers.Adam(WarmupCosine(4e-3, 40, total), global_clipnorm=500.0)
    watch = gradwatch.watch(model)

    @logged(every=60)
    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            pred = tf.squeeze(model(xb, training=True), axis=-1)
            sse = tf.reduce_sum(tf.square(yb - pred))
        v = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(sse, v), v))
        return {"sse": sse, "worst": tf.reduce_max(tf.abs(yb - pred))}

    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4000, seed=SEED).batch(64, drop_remainder=True)
    for _ in range(5):
        for xb, yb in ds:
            out = train_step(xb, yb)
            watch.log(loss=out["sse"])
    pred = model.predict(xt, verbose=0).ravel()
    persist = np.mean((xt[:, -1, 1] * 10 - yt) ** 2)
    print("SCORE", float(1 - np.mean((pred - yt) ** 2) / persist))


if __name__ == "__main__":
    main()
