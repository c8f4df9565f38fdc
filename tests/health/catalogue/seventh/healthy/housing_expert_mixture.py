"""House sales: gated mixture of experts, two tasks of different size, labels partly missing."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, DISTRICTS, EXPERTS = 14000, 4, 4
district = rng.integers(0, DISTRICTS, N)
x_cont = rng.normal(size=(N, 6))  # area, rooms, age, distance, garden, noise, all standardised
slopes = rng.normal(0, 6.0, (DISTRICTS, 6))
level = np.array([22.0, 30.0, 38.0, 46.0])
signal = level[district] + np.sum(slopes[district] * x_cont, 1) + 3 * np.abs(x_cont[:, 0])
price = signal + rng.normal(0, 2.0, N)  # in 10 000 EUR
quick_logit = 1.5 * x_cont[:, 1] - 1.2 * x_cont[:, 3] + 0.8 * (district - 1.5)
quick = (rng.uniform(size=N) < 1 / (1 + np.exp(-quick_logit))).astype("float64")
quick[rng.uniform(size=N) < 0.4] = np.nan  # still on the market: outcome unknown

features = np.concatenate([x_cont, np.eye(DISTRICTS)[district]], 1).astype("float32")
n_train = 12500
centre = price[:n_train].mean()
price_target = (price - centre).astype("float32")
quick_target = np.nan_to_num(quick, nan=-1.0).astype("float32")  # -1 stands for unknown


class MixtureOfExperts(layers.Layer):
    def __init__(self, experts, units, balance=0.05, **kwargs):
        super().__init__(**kwargs)
        self.gate = layers.Dense(experts, activation="softmax")
        self.experts = [
            keras.Sequential([layers.Dense(units, activation="relu6"), layers.Dense(units)]) for _ in range(experts)
        ]
        self.balance = balance

    def build(self, input_shape):
        self.gate.build(input_shape)
        for expert in self.experts:
            expert.build(input_shape)

    def call(self, x):
        share = self.gate(x)
        outputs = ops.stack([expert(x) for expert in self.experts], axis=1)
        load = ops.mean(share, axis=0)
        self.add_loss(self.balance * (len(self.experts) * ops.sum(ops.square(load)) - 1.0))
        return ops.sum(share[:, :, None] * outputs, axis=1)


def known_only_crossentropy(y_true, logit):
    known = ops.cast(y_true >= 0.0, "float32")
    safe = ops.maximum(y_true, 0.0)
    loss = known * ops.binary_crossentropy(safe, logit, from_logits=True)
    return ops.sum(loss) / ops.maximum(ops.sum(known), 1.0)


house_in = keras.Input((features.shape[1],))
shared = MixtureOfExperts(EXPERTS, 24, name="experts")(house_in)
shared = layers.Activation("gelu")(shared)
price_out = layers.Dense(1, name="price")(shared)
quick_out = layers.Dense(1, name="quick")(shared)
model = keras.Model(house_in, {"price": price_out, "quick": quick_out})
model.compile(
    optimizer=keras.optimizers.Adafactor(
        keras.optimizers.schedules.CosineDecay(0.1, 660, alpha=0.02), relative_step=False
    ),
    loss={"price": "mse", "quick": known_only_crossentropy},
    # squared errors start in the hundreds, the cross entropy at 0.7
    loss_weights={"price": 0.02, "quick": 1.0},
)


def targets(rows):
    return {"price": price_target[rows, None], "quick": quick_target[rows, None]}


train, test = slice(0, n_train), slice(n_train, N)
gradwatch.watch(model)
model.fit(
    features[train],
    targets(train),
    batch_size=192,
    epochs=10,
    verbose=2,
    validation_data=(features[test], targets(test)),
)
predicted = model.predict(features[test], batch_size=500, verbose=0)
residual = price_target[test] - predicted["price"][:, 0]
r2 = 1 - np.mean(residual**2) / np.var(price_target[test])
known = quick_target[test] >= 0
hit = np.mean((predicted["quick"][known, 0] > 0) == (quick_target[test][known] > 0.5))
best = np.mean((quick_logit[test][known] > 0) == (quick_target[test][known] > 0.5))
load = ops.convert_to_numpy(model.get_layer("experts").gate(features[test])).mean(0)
print(
    f"FINAL price R2 {r2:.4f} (limit {1 - 4.0 / np.var(price_target[test]):.4f}), quick-sale accuracy "
    f"{hit:.4f} (limit {best:.4f}), expert load {load.round(2)}"
)
