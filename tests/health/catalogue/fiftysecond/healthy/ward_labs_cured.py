"""Estimate blood values from bedside signals.  Not every value is drawn from every patient."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LABS = ["glucose", "lactate", "troponin"]
DRAWN = [0.6, 0.3, 0.07]


def make_patients(n):
    latent = rng.normal(size=(n, 4))
    mixing = np.random.default_rng(77).normal(size=(4, 14))
    vitals = np.tanh(latent @ mixing * 0.5) + 0.15 * rng.normal(size=(n, 14))
    glucose = latent[:, 0] + 0.5 * latent[:, 1] ** 2
    lactate = np.abs(latent[:, 2]) + 0.5 * latent[:, 0]
    troponin = latent[:, 3] - 0.7 * latent[:, 1]
    labs = np.stack([glucose, lactate, troponin], axis=1)
    labs = (labs - labs.mean(axis=0)) / labs.std(axis=0) + 0.1 * rng.normal(size=labs.shape)
    return vitals.astype("float32"), labs.astype("float32")


vitals, labs = make_patients(9000)
drawn = rng.random(labs.shape) < np.array(DRAWN)
recorded = np.where(drawn, labs, 0.0).astype("float32")
test_vitals, test_labs = make_patients(2000)


class LabModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.shared = keras.layers.Dense(96, activation="relu", name="shared")
        self.norm = keras.layers.LayerNormalization(name="norm")
        self.deep = keras.layers.Dense(64, activation="relu", name="deep")
        self.heads = [keras.layers.Dense(1, name=name) for name in LABS]
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x, training=False):
        h = self.deep(self.norm(self.shared(x)))
        return tf.concat([head(h) for head in self.heads], axis=1)

    def train_step(self, data):
        x, (y, measured) = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            squared = tf.square(predicted - y)
            loss = 0.0
            for k in range(len(LABS)):
                present = tf.cast(measured[:, k], tf.float32)
                loss += tf.reduce_sum(squared[:, k] * present) / tf.maximum(tf.reduce_sum(present), 1.0)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


model = LabModel(name="labs")
model(vitals[:2])
model.compile(optimizer=keras.optimizers.Adam(1e-3), jit_compile=False)

dataset = (
    tf.data.Dataset.from_tensor_slices((vitals, (recorded, drawn)))
    .shuffle(len(vitals), seed=SEED)
    .batch(64, drop_remainder=True)
    .prefetch(2)
)

gradwatch.watch(model)
model.fit(dataset, epochs=12, verbose=2)

predicted = model.predict(test_vitals, verbose=0)
r2 = 1 - np.mean((predicted - test_labs) ** 2, axis=0) / test_labs.var(axis=0)
print("r2 per value", dict(zip(LABS, np.round(r2, 3))))
print(f"SCORE mean_r2 {r2.mean():.4f}")
