"""Freight quotes from lane, carrier and shipment data, with gradients accumulated over micro-batches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LANES, CARRIERS, NUMERIC = 40, 12, 6
lane_km = rng.uniform(0.2, 2.0, LANES)
carrier_rate = rng.uniform(0.7, 1.4, CARRIERS)
carrier_rush = rng.uniform(0.0, 0.8, CARRIERS)


def shipments(n):
    lane = rng.integers(0, LANES, n)
    carrier = rng.integers(0, CARRIERS, n)
    x = rng.normal(size=(n, NUMERIC))
    weight = np.exp(0.4 * x[:, 0])
    rush = x[:, 1] > 0.8
    price = lane_km[lane] * carrier_rate[carrier] * weight + carrier_rush[carrier] * rush
    price += 0.2 * np.maximum(x[:, 2], 0) * lane_km[lane] + 0.05 * rng.normal(size=n)
    inputs = {
        "lane": lane.astype("int32"),
        "carrier": carrier.astype("int32"),
        "numeric": x.astype("float32"),
    }
    return inputs, price.astype("float32")[:, None]


class AccumulatingModel(keras.Model):
    """Applies the mean gradient of `accum_steps` consecutive micro-batches."""

    def setup(self, accum_steps):
        self.accum_steps = accum_steps
        self.micro_step = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.accumulators = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        for acc, g in zip(self.accumulators, grads):
            acc.assign_add(tf.convert_to_tensor(g) / self.accum_steps)
        self.micro_step.assign_add(1)
        tf.cond(self.micro_step >= self.accum_steps, self.apply_accumulated, lambda: None)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def apply_accumulated(self):
        self.optimizer.apply_gradients(
            [(acc.read_value(), v) for acc, v in zip(self.accumulators, self.trainable_variables)]
        )
        self.micro_step.assign(0)


def build():
    lane = keras.Input((), dtype="int32", name="lane")
    carrier = keras.Input((), dtype="int32", name="carrier")
    numeric = keras.Input((NUMERIC,), name="numeric")
    h = layers.Concatenate()(
        [
            layers.Embedding(LANES, 8)(lane),
            layers.Embedding(CARRIERS, 6)(carrier),
            numeric,
        ]
    )
    for _ in range(2):
        h = layers.Dense(64, activation="relu")(h)
    out = layers.Dense(1)(h)
    return AccumulatingModel({"lane": lane, "carrier": carrier, "numeric": numeric}, out)


train_x, train_y = shipments(12000)
test_x, test_y = shipments(3000)

model = build()
model.setup(accum_steps=4)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=32, epochs=4, verbose=2)

pred = model.predict(test_x, batch_size=500, verbose=0)
r2 = 1 - np.mean((pred - test_y) ** 2) / np.var(test_y)
print("SCORE r2 %.4f" % r2)
