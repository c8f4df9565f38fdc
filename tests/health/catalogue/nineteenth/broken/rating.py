# Motor insurance: claim counts from rating factors, with a compact tariff code per policy.
import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)


def portfolio(n):
    age = rng.uniform(18, 80, n)
    power = rng.normal(0, 1, n)
    km = rng.normal(0, 1, n)
    town = rng.integers(0, 12, n)
    noise = rng.normal(size=(n, 8))
    risk = np.sin(town * 1.3) * 0.7 + 1.1 * power * (age < 45) - 0.8 * km * (age >= 45)
    count = rng.poisson(np.exp(0.4 + risk))
    x = np.column_stack([(age - 49) / 18, power, km, noise]).astype("float32")
    return x, town.astype("int32"), count.astype("float32")[:, None]


class TariffCoder(tf.keras.layers.Layer):
    def __init__(self, dims, levels):
        super().__init__()
        self.levels = levels
        self.mix = tf.keras.layers.Dense(48, activation="swish")
        self.score = tf.keras.layers.Dense(dims)

    def call(self, x):
        z = tf.tanh(self.score(self.mix(x)))
        q = tf.round(z * self.levels) / self.levels
        return q


class TariffModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.town = tf.keras.layers.Embedding(12, 4)
        self.coder = TariffCoder(3, 4)
        self.hidden = tf.keras.layers.Dense(32, activation="swish")
        self.rate = tf.keras.layers.Dense(1)

    def call(self, inputs):
        x, town = inputs
        code = self.coder(tf.concat([x, self.town(town)], -1))
        return tf.exp(tf.clip_by_value(self.rate(self.hidden(code)), -6.0, 6.0))


x, town, y = portfolio(6400)
xt, tt, yt = portfolio(1500)
model = TariffModel()
model((x[:4], town[:4]))
opt = tf.keras.optimizers.Adam(2e-3)
poisson = tf.keras.losses.Poisson()
gradwatch.watch(model, opt)


@tf.function
def train(bx, bt, by):
    with tf.GradientTape() as tape:
        loss = poisson(by, model((bx, bt)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients([(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None])
    return loss


data = tf.data.Dataset.from_tensor_slices((x, town, y)).shuffle(6400, seed=1).batch(64)
for epoch in range(22):
    losses = [float(train(*b)) for b in data]


def deviance(y, mu):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1e-9) / mu), 0) - (y - mu))


d = deviance(yt, model((xt, tt)).numpy())
d0 = deviance(yt, np.full_like(yt, y.mean()))
print("loss %.4f  deviance explained on new policies %.3f" % (np.mean(losses), 1 - d / d0))
