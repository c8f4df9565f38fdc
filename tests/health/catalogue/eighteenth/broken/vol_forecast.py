import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(8)
DAYS, SECTORS = 20, 9


def tape_of_market(n, seed):
    r = np.random.default_rng(seed)
    vol = np.empty((n, DAYS + 1))
    vol[:, 0] = r.normal(size=n)
    for d in range(DAYS):
        vol[:, d + 1] = 0.9 * vol[:, d] + 0.43 * r.normal(size=n)
    sector = r.integers(0, SECTORS, n)
    ret = 0.01 * np.exp(0.5 * vol) * r.normal(size=(n, DAYS + 1))
    spread = np.exp(0.4 * vol + 0.5 * r.normal(size=vol.shape))
    turnover = np.exp(13.5 + 0.5 * vol + 0.4 * r.normal(size=vol.shape) + 0.3 * (sector % 3)[:, None])
    target = vol[:, -1] + 0.2 * (sector - 4) / 2.6 + 0.2 * r.normal(size=n)
    return dict(ret=ret[:, :-1], spread=spread[:, :-1], turnover=turnover[:, :-1], sector=sector), target.astype(
        "float32"
    )[:, None]


def featurize(raw):
    cols = [raw["ret"] * 60, np.abs(raw["ret"]) * 60, np.log(raw["spread"]), raw["turnover"]]
    return np.stack(cols, -1).astype("float32"), raw["sector"].astype("int32")


class VolModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.rnn = layers.GRU(32)
        self.sector = layers.Embedding(SECTORS, 6)
        self.mlp = tf.keras.Sequential([layers.Dense(48, activation="tanh"), layers.Dense(1)])

    def call(self, seq, sector):
        return self.mlp(tf.concat([self.rnn(seq), self.sector(sector)], -1))


class Trainer:
    def __init__(self, model, lr):
        self.model, self.opt = model, tf.keras.optimizers.Adam(lr)
        gradwatch.watch(model, self.opt)

    @tf.function
    def step(self, seq, sector, target):
        with tf.GradientTape() as t:
            loss = tf.reduce_mean(tf.keras.losses.huber(target, self.model(seq, sector)))
        g = t.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(g, self.model.trainable_variables))
        return loss

    def run(self, data, epochs):
        for e in range(epochs):
            losses = [self.step(s, c, y) for (s, c), y in data]
            print("epoch", e, "loss", float(tf.reduce_mean(losses)), flush=True)
        return float(tf.reduce_mean(losses))


raw, y = tape_of_market(8000, 1)
raw_t, yt = tape_of_market(2000, 2)
data = tf.data.Dataset.from_tensor_slices((featurize(raw), y)).shuffle(8000, seed=3).batch(64)
trainer = Trainer(VolModel(), 2e-3)
final = trainer.run(data, 8)
pred = trainer.model(*featurize(raw_t)).numpy()
print("loss", round(final, 4), "held-out R2", round(float(1 - np.mean((pred - yt) ** 2) / yt.var()), 3))
