import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 33)

DISTRICTS = 12


class RentModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.district = keras.layers.Embedding(DISTRICTS, 4, name="district")
        self.flat = keras.layers.Flatten()
        self.join = keras.layers.Concatenate()
        self.dense1 = keras.layers.Dense(48, activation="relu", name="dense1")
        self.dense2 = keras.layers.Dense(24, activation="relu", name="dense2")
        self.rent = keras.layers.Dense(1, name="rent")
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs, training=False):
        numeric, district = inputs
        code = self.flat(self.district(district))
        x = self.join([numeric, code])
        return self.rent(self.dense2(self.dense1(x)))

    def train_step(self, data):
        inputs, rent = data
        with tf.GradientTape() as tape:
            predicted = self(inputs, training=True)
            loss = tf.reduce_mean(tf.square(rent - predicted))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


def make_flats(n):
    area = rng.uniform(20, 140, n)
    floor = rng.integers(0, 12, n)
    age = rng.uniform(0, 90, n)
    balcony = rng.integers(0, 2, n)
    district = rng.integers(0, DISTRICTS, n)
    per_meter = 0.012 + 0.012 * np.sin(district * 1.7) ** 2
    rent = area * per_meter + 0.02 * floor - 0.004 * age + 0.15 * balcony
    rent = rent + rng.normal(0, 0.06, n)
    numeric = np.stack([(area - 80) / 35, (floor - 5.5) / 3.5, (age - 45) / 26, balcony - 0.5], axis=1)
    return numeric.astype("float32"), district.astype("int32")[:, None], rent.astype("float32")


numeric, district, rent = make_flats(4000)
cut = 3200
train = tf.data.Dataset.from_tensor_slices(((numeric[:cut], district[:cut]), rent[:cut]))
train = train.shuffle(cut, seed=SEED).batch(64)

model = RentModel()
model((numeric[:2], district[:2]))
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
history = model.fit(train, epochs=20, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])

pred = model.predict((numeric[cut:], district[cut:]), verbose=0)[:, 0]
truth = rent[cut:]
print("SCORE", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))
